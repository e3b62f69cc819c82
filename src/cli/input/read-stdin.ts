import { type Readable, addAbortSignal } from 'node:stream';
import { CommandError } from '../output/io.js';

/** Limits the input, which may be an endless stream. A string in Node.js has at most 512 Mi characters. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Throws `CommandError` above `mostBytes`. Also throws when `signal` is aborted: waiting for a terminal would keep the
 * process running.
 */
export async function readStdin(
  stream: Readable,
  signal: AbortSignal,
  mostBytes: number = MOST_BYTES,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > mostBytes)
        throw new CommandError(`standard input exceeds the limit of ${mostBytes} bytes`);
      text += decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    if (signal.aborted) throw new CommandError('reading standard input: interrupted');
    throw error;
  }
  return text + decoder.decode();
}
