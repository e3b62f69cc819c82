import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../units/clock.js';
import { onAbort } from '../../units/abort.js';
import type { Identity } from '../access/viewer.js';
import { PeerError, requestPeer } from '../fleet/ask-peer.js';
import type { Peer } from '../fleet/fleet.js';
import { createMessageReader } from './read-messages.js';
import type { StreamMessage } from './read-messages.js';

export interface PeerStreamOptions {
  readonly clock: Clock;
  /** Null: only new events. */
  readonly lastId: string | null;
  readonly identity: Identity;
  /** The first of the shared keys; null: there is none. */
  readonly key: Buffer | null;
  readonly signal: AbortSignal;
  readonly onMessage: (message: StreamMessage) => void;
}

const ANSWER_MS = 5000;
/** A replica sends a comment every 15 s. */
const SILENCE_MS = 40_000;
/** A replica that sends faster has to wait. It ends a stream that is not read. */
const MOST_BYTES_PER_SECOND = 256 * 1024;
/** Maximum size of events that are sent together. */
const MOST_FRAME_BYTES = 1024 * 1024;

/**
 * Reads the events of another replica until its stream ends. Rejects with a `PeerError` if the stream breaks, is silent
 * or is not an event stream, and with any error of `onMessage`.
 */
export async function readPeerEvents(peer: Peer, options: PeerStreamOptions): Promise<void> {
  const { clock, signal } = options;
  const read = createMessageReader(options.onMessage);
  const decoder = new TextDecoder();
  const ending = new AbortController();
  const forget = onAbort(signal, () => ending.abort());
  let cancelTimer = clock.after(ANSWER_MS, () => ending.abort());
  const isAlive = (): void => {
    cancelTimer();
    cancelTimer = clock.after(SILENCE_MS, () => ending.abort());
  };
  let flow: Pick<IncomingMessage, 'pause' | 'resume'> | null = null;
  let [secondMs, bytes] = [clock.monotonicMs(), 0];
  const slowDown = (length: number): void => {
    const nowMs = clock.monotonicMs();
    if (nowMs - secondMs >= 1000) [secondMs, bytes] = [nowMs, 0];
    bytes += length;
    if (bytes <= MOST_BYTES_PER_SECOND) return;
    flow?.pause();
    clock.after(1000 - (nowMs - secondMs), () => flow?.resume());
  };
  try {
    await requestPeer(peer, {
      ...options,
      path: '/api/v1/events',
      signal: ending.signal,
      mostFrameBytes: MOST_FRAME_BYTES,
      onResponse: (response) => (flow = response),
      onBytes: (piece, { status, type }) => {
        if (status !== 200 || !type.startsWith('text/event-stream'))
          throw new PeerError(`the answer is no event stream: status ${status}`);
        isAlive();
        slowDown(piece.length);
        read(decoder.decode(piece, { stream: true }));
      },
    });
  } finally {
    cancelTimer();
    forget();
  }
}
