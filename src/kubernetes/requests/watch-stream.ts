import type { IncomingMessage } from 'node:http';

import { onAbort } from '../../units/abort.js';

const MAX_REFUSAL_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 15_000;

export interface WatchStream {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly close: () => void;
}

/** Reads at most 64 KiB of a body, until `signal` is aborted. If reading fails, returns what was read. */
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
    // The status alone suffices for an error.
  } finally {
    forget();
    body.destroy();
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** `signal` and `close` destroy the connection. */
export function holdStream(body: IncomingMessage, signal: AbortSignal | undefined): WatchStream {
  body.socket.setKeepAlive(true, KEEP_ALIVE_MS);
  const stop = (): void => void body.destroy();
  if (signal?.aborted === true) stop();
  if (signal !== undefined) body.on('close', onAbort(signal, stop));
  // Without a listener, an error between two reads would end the process. The reader also gets the error.
  body.on('error', () => undefined);
  return { chunks: body as AsyncIterable<Buffer>, close: stop };
}
