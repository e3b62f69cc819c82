import { open } from 'node:fs/promises';
import { FileError, tooLong } from './read-bounded.js';

interface Line {
  /** Line number, starting at 1. */
  readonly number: number;
  readonly text: string;
}

const CHUNK_BYTES = 1024 * 1024;

/**
 * Yields the lines of a regular file and keeps only one in memory. The last line may have no line break. Throws
 * `FileError` for a line that is longer than `mostBytes`, or the system error.
 */
export async function* readLines(path: string, mostBytes: number): AsyncGenerator<Line> {
  const file = await open(path, 'r');
  try {
    if ((await file.stat()).isDirectory()) throw new FileError('this is a directory, a file was expected');
    let number = 0;
    let pieces: Uint8Array[] = [];
    let length = 0;
    const finish = (rest: Uint8Array): Line => {
      number += 1;
      const text = Buffer.concat([...pieces, rest]).toString();
      pieces = [];
      length = 0;
      return { number, text };
    };
    for (;;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(CHUNK_BYTES), 0, CHUNK_BYTES, null);
      if (bytesRead === 0) break;
      let from = 0;
      for (let end = buffer.indexOf(10); end >= 0 && end < bytesRead; end = buffer.indexOf(10, from)) {
        yield finish(buffer.subarray(from, end));
        from = end + 1;
      }
      pieces.push(buffer.subarray(from, bytesRead));
      length += bytesRead - from;
      if (length > mostBytes) throw tooLong(mostBytes);
    }
    if (length > 0) yield finish(new Uint8Array());
  } finally {
    await file.close();
  }
}
