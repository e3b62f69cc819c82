import type { Readable } from 'node:stream';

/**
 * Calls `add` with each piece of a body, and resolves at its end. Rejects with the error that `add` returns, which also
 * closes the connection, and if the body ends early.
 */
export function readPieces(stream: Readable, add: (piece: Buffer) => Error | null): Promise<void> {
  return new Promise((resolve, reject) => {
    let isSettled = false;
    stream.on('data', (piece: Buffer) => {
      const error = add(piece);
      if (error !== null) stream.destroy(error);
    });
    stream.on('end', () => {
      isSettled = true;
      resolve();
    });
    stream.on('error', (error) => {
      isSettled = true;
      reject(error);
    });
    stream.on('close', () => {
      // An error takes longer to create than the rest of this function.
      if (!isSettled) reject(new Error('the stream ended early'));
    });
  });
}

export function joinPieces(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
}
