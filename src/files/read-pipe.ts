import { open, constants } from 'node:fs';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import { tooLong } from './file-error.js';

/**
 * Reads a pipe to its end, or until `signal` is aborted. Waits for a writer that has not opened the pipe yet. Uses a
 * socket, because a thread that waits for a file cannot be canceled and keeps the process from exiting.
 */
export async function readPipe(path: string, mostBytes: number, signal?: AbortSignal): Promise<Uint8Array> {
  const fd = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const socket = new Socket({
    fd,
    readable: true,
    writable: false,
    ...(signal === undefined ? {} : { signal }),
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of socket as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > mostBytes) throw tooLong(mostBytes);
    }
    return Buffer.concat(chunks, length);
  } finally {
    socket.destroy();
  }
}
