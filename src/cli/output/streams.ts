import type { Writable } from 'node:stream';
import { escapeText } from '../../units/clean-text.js';
import type { OutputStream } from './io.js';

/**
 * Matches the terminal sequences that commands write: colors (not `conceal`), the start of a progress line or a screen,
 * the end of a line on a screen, and the end of a screen.
 */
const OWN_SEQUENCE =
  // eslint-disable-next-line no-control-regex -- terminal sequences consist of control characters
  /(^\r\u001b\[K|^\u001b\[H|\u001b\[(?:[0-4]|2[2-4]|3\d|9[0-7])m|\u001b\[K(?=\n)|\u001b\[J$)/;

/**
 * Returns a stream that escapes control and invisible characters as `\uXXXX`, which does not change the meaning of
 * JSON. The characters come from documents, servers and manifests. Only this stream escapes them, because all output
 * passes through it.
 */
export function cleanStream(stream: OutputStream): OutputStream {
  return {
    ...stream,
    write: (text) =>
      stream.write(
        text
          .split(OWN_SEQUENCE)
          // At odd positions are the sequences of `OWN_SEQUENCE`, which are written unchanged.
          .map((part, index) => (index % 2 === 1 ? part : escapeText(part)))
          .join(''),
      ),
  };
}

/** Maximum number of bytes that the reader has not read yet. Further output is lost. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * Returns a function that writes to a stream and ignores failures. A write is lost if the reader has closed the stream,
 * if the disk is full, or if more than 1 MiB is unread; the next write is tried again. It is for the log of the
 * service, which must scale even if nothing can be logged (reliability.md, F52).
 */
export function lossyOutput(stream: Writable): (text: string) => void {
  // Without a listener, an `error` event would end the process.
  stream.on('error', () => undefined);
  return (text) => {
    if (stream.writableLength + Buffer.byteLength(text) <= MAX_WAITING_BYTES) stream.write(text);
  };
}
