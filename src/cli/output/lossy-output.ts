import type { Writable } from 'node:stream';

/** Maximum number of unread bytes. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * Returns a function that writes to a stream and ignores failures: a write is lost if the reader has closed the stream,
 * the disk is full, or more than 1 MiB is unread. Later writes are attempted again. It is used for the log of the
 * service, which must continue to scale without it (reliability.md, F52).
 */
export function lossyOutput(stream: Writable): (text: string) => void {
  // Without a listener, this event would end the process.
  stream.on('error', () => undefined);
  return (text) => {
    if (stream.writableLength + Buffer.byteLength(text) <= MAX_WAITING_BYTES) stream.write(text);
  };
}
