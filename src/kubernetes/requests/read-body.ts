import type { IncomingMessage } from 'node:http';
import { joinPieces, readPieces } from '../../http/read-pieces.js';
import { TooLargeError, unpack } from './unpack.js';

/** Reads and decompresses a body. Rejects with `TooLargeError` if it has more than `mostBytes` before or after that. */
export async function readBody(response: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  await readPieces(response, (piece) => {
    pieces.push(piece);
    bytes += piece.length;
    return bytes > mostBytes ? new TooLargeError(mostBytes) : null;
  });
  return unpack(joinPieces(pieces), response.headers['content-encoding'], mostBytes);
}
