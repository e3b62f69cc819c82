import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A port of 127.0.0.1 that was free a moment ago: `preferred`, or any other where that is taken. Another program may
 * take it first: be ready to ask again.
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
  if (typeof address !== 'object' || address === null) throw new Error('the system gave no free port');
  return address.port;
}
