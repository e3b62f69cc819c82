import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { readBody } from '../../../src/kubernetes/requests/read-body.js';

const TEXT = 'x'.repeat(1000);

let server: Server | null = null;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

describe('readBody', () => {
  it('returns 1,000 bytes if at most 1,000 are allowed, and refuses them if 999 are', async () => {
    const answer: RequestListener = (_, response) => response.end(TEXT);

    expect((await readBody(await responseOf(answer), 1000)).toString()).toBe(TEXT);
    await expect(readBody(await responseOf(answer), 999)).rejects.toThrow(
      'the response is larger than 999 bytes',
    );
  });

  it('decompresses gzip, and applies the limit to what it becomes', async () => {
    const answer: RequestListener = (_, response) =>
      response.setHeader('Content-Encoding', 'gzip').end(gzipSync(TEXT));

    expect((await readBody(await responseOf(answer), 1000)).toString()).toBe(TEXT);
    await expect(readBody(await responseOf(answer), 999)).rejects.toThrow(
      'the response is larger than 999 bytes',
    );
  });

  it('rejects a body that ends before its length', async () => {
    const response = await responseOf((_, { socket }) => {
      socket?.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345', () => socket.destroy());
    });

    await expect(readBody(response, 1000)).rejects.toThrow();
  });
});

async function responseOf(listener: RequestListener): Promise<IncomingMessage> {
  server?.close();
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => get({ host: '127.0.0.1', port }, resolve).on('error', reject));
}
