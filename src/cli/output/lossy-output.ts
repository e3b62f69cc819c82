import type { Writable } from 'node:stream';

/** Limit of the buffer for a reader that does not read. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * Returns a function that writes to a stream and ignores failures: text is lost if the reader has closed the stream or
 * the disk is full, and beyond 1 MiB if the reader does not read. Later writes are attempted again. For the log of the
 * service, which must keep scaling without it (reliability.md, F52).
 */
export function lossyOutput(stream: Writable): (text: string) => void {
  // Without a listener, this event would exit the process.
  stream.on('error', () => undefined);
  return (text) => {
    if (stream.writableLength + Buffer.byteLength(text) <= MAX_WAITING_BYTES) stream.write(text);
  };
}
