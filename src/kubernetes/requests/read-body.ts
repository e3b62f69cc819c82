import type { IncomingMessage } from 'node:http';
import { TooLargeError, unpack } from './unpack.js';

/** Reads and decompresses a body. Rejects with `TooLargeError` if it has more than `mostBytes` before or after that. */
export async function readBody(response: IncomingMessage, mostBytes: number): Promise<Buffer> {
  return unpack(await readPacked(response, mostBytes), response.headers['content-encoding'], mostBytes);
}

function readPacked(response: IncomingMessage, mostBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    response.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > mostBytes) response.destroy(new TooLargeError(mostBytes));
    });
    response.on('end', () => resolve(Buffer.concat(pieces)));
    response.on('error', reject);
    response.on('close', () => {
      // An error takes longer to create than the rest of this function.
      if (!response.complete) reject(new Error('the response ended early'));
    });
  });
}
