import { CommandError } from './io.js';

/** A string cannot have more than 512 Mi characters, and what writes more than this to a command never ends. */
const MOST_BYTES = 256 * 1024 * 1024;

/** The whole of standard input as text. Throws `CommandError` past `mostBytes`. */
export async function readStdin(
  stream: AsyncIterable<Uint8Array>,
  mostBytes: number = MOST_BYTES,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > mostBytes)
      throw new CommandError(`standard input has more than ${mostBytes} bytes, the most that is read`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
