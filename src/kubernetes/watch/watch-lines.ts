import { errorFacts } from '../api/error-facts.js';
import { KubernetesError } from '../api/types.js';

/** An object in etcd has at most 1.5 MiB. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

const NEWLINE = 0x0a;

export class LineTooLongError extends Error {
  override name = 'LineTooLongError';

  constructor() {
    super(`an event is longer than ${MAX_LINE_BYTES} bytes`);
  }
}

/**
 * Yields the lines of a byte stream, except blank lines and an incomplete last line. Decodes complete lines, because a
 * chunk may end within a character. Does not use node:readline: an abort after its loop emits an error event that
 * cannot be caught. Throws `LineTooLongError`.
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

export function streamError(doing: string, cause: unknown): KubernetesError {
  const kind = cause instanceof LineTooLongError ? 'bad_answer' : 'connection';
  return new KubernetesError(kind, `${doing}: ${errorFacts(cause).message}`, { cause });
}
