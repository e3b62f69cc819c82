import type { Server } from 'node:http';

/** Listens on the loopback address and returns the URL. `port` 0: any free port. */
export function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('listening: no port was given'));
      else resolve(`http://127.0.0.1:${address.port}`);
    });
  });
}

export function shut(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
