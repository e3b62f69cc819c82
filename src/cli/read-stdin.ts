import { type Readable, addAbortSignal } from 'node:stream';
import { CommandError } from './io.js';

/** A string cannot have more than 512 Mi characters, and what writes more than this to a command never ends. */
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Returns the whole of standard input as text. Throws `CommandError` past `mostBytes`, and once `signal` is aborted: a
 * terminal on which nobody types would otherwise keep the process.
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
        throw new CommandError(`standard input has more than ${mostBytes} bytes, the most that is read`);
      text += decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    if (signal.aborted) throw new CommandError('reading standard input: interrupted');
    throw error;
  }
  return text + decoder.decode();
}
