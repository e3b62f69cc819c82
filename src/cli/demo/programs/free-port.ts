import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Returns a free port of 127.0.0.1: `preferred`, or another one if it is in use. Another program may take the port
 * first, so the caller must be able to retry.
 */
export async function freePort(preferred = 0): Promise<number> {
  const server = createServer();
  try {
    server.listen(preferred, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if (preferred !== 0) return freePort();
    throw error;
  }
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('the system returned no free port');
  return address.port;
}
