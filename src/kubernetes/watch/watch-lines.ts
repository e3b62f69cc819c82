import { errorFacts } from '../error-facts.js';
import { KubernetesError } from '../types.js';

/** The longest line of a watch stream, in bytes. An object in etcd has 1.5 MiB at most. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

const NEWLINE = 0x0a;

/** A line of a watch stream that is longer than `MAX_LINE_BYTES`. */
export class LineTooLongError extends Error {
  override name = 'LineTooLongError';

  constructor() {
    super(`a line of the stream is longer than ${MAX_LINE_BYTES} bytes`);
  }
}

/**
 * The lines of a stream of bytes, wherever it was cut into chunks; blank lines are left out and so is a last line
 * without its end. Lines are decoded whole, so a character that two chunks share stays one. (Not node:readline: an
 * abort after its loop raises an error event that nobody can catch.) Throws `LineTooLongError`.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      pieces.push(chunk.subarray(start, end));
      if (length + end - start > MAX_LINE_BYTES) throw new LineTooLongError();
      const line = Buffer.concat(pieces).toString('utf8').trim();
      pieces = [];
      length = 0;
      start = end + 1;
      if (line !== '') yield line;
    }
    pieces.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > MAX_LINE_BYTES) throw new LineTooLongError();
  }
}

/** Returns the error of a stream that failed while its lines were read. */
export function streamError(doing: string, cause: unknown): KubernetesError {
  const kind = cause instanceof LineTooLongError ? 'bad_answer' : 'connection';
  return new KubernetesError(kind, `${doing}: ${errorFacts(cause).message}`, { cause });
}
