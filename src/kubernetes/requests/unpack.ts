import { promisify } from 'node:util';
import { unzip } from 'node:zlib';

import { errorFacts } from '../api/error-facts.js';

const unzipped = promisify(unzip);

export class TooLargeError extends Error {
  constructor(mostBytes: number) {
    super(`the response is larger than ${mostBytes} bytes`);
  }
}

const PACKED: readonly unknown[] = ['gzip', 'x-gzip', 'deflate'];
/** A page of 500 pods has 2 MiB. */
const STEP_BYTES = 512 * 1024;

/**
 * Decompresses a body in a thread of Node.js; other bodies are returned as they are. Throws for a broken body, and
 * `TooLargeError` for one of more than `mostBytes`.
 */
export async function unpack(body: Buffer, encoding: unknown, mostBytes: number): Promise<Buffer> {
  if (!PACKED.includes(encoding)) return body;
  try {
    return await unzipped(body, { maxOutputLength: mostBytes, chunkSize: STEP_BYTES });
  } catch (cause) {
    if (errorFacts(cause).code === 'ERR_BUFFER_TOO_LARGE') throw new TooLargeError(mostBytes);
    throw cause;
  }
}
