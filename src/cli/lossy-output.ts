import type { Writable } from 'node:stream';

/** More than this is not kept for a reader that does not read. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * Writes to a stream that may fail or hang without harm: a reader that has gone away or a full disk costs the text, one
 * that has stopped reading costs what is beyond 1 MiB. Later texts are tried anew: a disk has room again some day. For
 * the log of a service, which must go on scaling without it (reliability.md, F52).
 */
export function lossyOutput(stream: Writable): (text: string) => void {
  // Unheard, this event would end the process.
  stream.on('error', () => undefined);
  return (text) => {
    if (stream.writableLength + Buffer.byteLength(text) <= MAX_WAITING_BYTES) stream.write(text);
  };
}
