import type { Writable } from 'node:stream';
import { escapeText } from '../../units/clean-text.js';
import type { OutputStream } from './io.js';

/**
 * Terminal sequences that commands write: colors (not `conceal`), the start of a progress line or of a screen, and the
 * ends of screen lines and of the screen.
 */
const OWN_SEQUENCE =
  // eslint-disable-next-line no-control-regex -- terminal sequences consist of control characters
  /(^\r\u001b\[K|^\u001b\[H|\u001b\[(?:[0-4]|2[2-4]|3\d|9[0-7])m|\u001b\[K(?=\n)|\u001b\[J$)/;

/**
 * Returns a stream that writes control and invisible characters of documents, servers and manifests as `\uXXXX`, which
 * keeps the meaning of JSON. Commands write these characters unchanged, because only this stream sees all output.
 */
export function cleanStream(stream: OutputStream): OutputStream {
  return {
    ...stream,
    write: (text) =>
      stream.write(
        text
          .split(OWN_SEQUENCE)
          // The parts at odd positions are the sequences.
          .map((part, index) => (index % 2 === 1 ? part : escapeText(part)))
          .join(''),
      ),
  };
}

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
