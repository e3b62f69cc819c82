import type { IncomingMessage } from 'node:http';

import { onAbort } from '../../units/abort.js';

const MAX_REFUSAL_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 15_000;

/** The open body of a watch. */
export interface WatchStream {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Destroys the connection. */
  readonly close: () => void;
}

/** At most 64 KiB of a body, up to the deadline; what cannot be read is nothing. */
export async function readText(body: IncomingMessage, signal: AbortSignal): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  const stop = (): void => void body.destroy();
  const forget = onAbort(signal, stop);
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      pieces.push(piece);
      length += piece.length;
      if (length >= MAX_REFUSAL_BYTES) break;
    }
  } catch {
    // The status says what happened; its words are only a help.
  } finally {
    forget();
    body.destroy();
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** The body of a watch as a stream that `signal` and `close` end together with its connection. */
export function holdStream(body: IncomingMessage, signal: AbortSignal | undefined): WatchStream {
  // axios sets 60 s on every socket; a peer that is gone should be noticed sooner.
  body.socket.setKeepAlive(true, KEEP_ALIVE_MS);
  const stop = (): void => void body.destroy();
  if (signal?.aborted === true) stop();
  if (signal !== undefined) body.on('close', onAbort(signal, stop));
  // Who reads the stream sees the error; without a listener one that comes in between would end the process.
  body.on('error', () => undefined);
  return { chunks: body as AsyncIterable<Buffer>, close: stop };
}
