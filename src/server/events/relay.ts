import { parseJson } from '../../units/json-bounds.js';
import type { IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import { eventSchemas } from '../../api/answer-schemas.js';
import type { NumberedEvent, ServiceEvent } from '../../telemetry/event-feed.js';
import { onAbort } from '../../units/abort.js';
import { type Clock, sleep } from '../../units/clock.js';
import { type Instant, parseInstant } from '../../units/time.js';
import type { Identity } from '../access/viewer.js';
import { PeerError, requestPeer } from '../fleet/ask-peer.js';
import type { Fleet, Peer } from '../fleet/peer-check.js';
import { isEventId } from './channel.js';

/** A connection to the events of another replica. */
export interface Relay {
  /** Returns the events after this ID; null: the ID is unknown. */
  readonly since: (id: string) => readonly NumberedEvent[] | null;
  /** Returns the ID of the newest event; null: there was no connection yet. */
  readonly lastId: () => string | null;
  readonly isOpen: () => boolean;
  /** Resolves when the first connection was made, or has failed. */
  readonly tried: Promise<void>;
  readonly close: () => void;
}

interface RelayOptions {
  readonly peer: Peer;
  /** The relay starts with the event after this ID; null: with the next new event. */
  readonly startId: string | null;
  readonly clock: Clock;
  readonly keys: Fleet['keys'];
  /** Returns the identity of a client for which the relay requests events. */
  readonly identity: () => Identity;
  readonly onEvent: (event: NumberedEvent) => void;
  /**
   * Called after the first connection. `isResumed`: the events after `startId` follow; otherwise events may be missing.
   */
  readonly onConnected: (isResumed: boolean) => void;
  readonly onGap: () => void;
  /** Called with an internal error, after which the relay connects again. */
  readonly onFault: (error: unknown) => void;
}

/** How many events are kept for clients that reconnect. */
const MOST_EVENTS = 200;
const FIRST_DELAY_MS = 1000;
/**
 * Events that are not passed on. Reloads are skipped because this replica reports its own reloads of the same
 * documents.
 */
const UNTAKEN: ReadonlySet<string> = new Set(['connected', 'gap', 'reload']);
const LONGEST_DELAY_MS = 15_000;

/**
 * Creates a relay, which stays connected until it is closed. After an interruption, it continues after the last event.
 */
export function createRelay(options: RelayOptions): Relay {
  const { peer, clock, onEvent, onConnected, onGap } = options;
  const ending = new AbortController();
  let lastId = options.startId;
  let firstId: string | null = null;
  let events: NumberedEvent[] = [];
  let isKnown = false;
  let isOpen = false;
  let failures = 0;
  let setTried = (): void => undefined;
  const tried = new Promise<void>((resolve) => (setTried = resolve));

  const restartAt = (id: string | null): void => {
    lastId = id;
    firstId = id;
    events = [];
  };
  const begin = (message: StreamMessage): void => {
    const isGap = message.type === 'gap';
    const isResumed = lastId !== null && !isGap;
    if (!isResumed && message.id === null)
      throw new PeerError('the first message of the event stream has no ID');
    if (!isResumed) restartAt(message.id);
    else if (!isKnown) firstId = lastId;
    isOpen = true;
    failures = 0;
    const isFirst = !isKnown;
    isKnown = true;
    if (isFirst) onConnected(isResumed);
    else if (!isResumed) onGap();
    setTried();
  };
  const take = (message: StreamMessage): void => {
    const { id, type } = message;
    if (!isOpen) begin(message);
    else if (type === 'gap') {
      restartAt(id);
      onGap();
    }
    if (id === null || type === null || UNTAKEN.has(type)) {
      if (id !== null) lastId = id;
      return;
    }
    const event = readPeerEvent(message);
    lastId = id;
    if (event === null) {
      restartAt(id);
      onGap();
      return;
    }
    events.push({ id, event });
    const dropped = events.length > MOST_EVENTS ? events.shift() : undefined;
    if (dropped !== undefined) firstId = dropped.id;
    onEvent({ id, event });
  };
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        await readPeerEvents(peer, {
          clock,
          lastId,
          identity: options.identity(),
          key: (await options.keys())[0] ?? null,
          signal: ending.signal,
          onMessage: take,
        });
      } catch (error) {
        // A `PeerError` is not logged: the overview shows which replica does not answer, and the reason may only be in
        // the log of that replica.
        if (!(error instanceof PeerError)) options.onFault(error);
      }
      isOpen = false;
      setTried();
      const delayMs = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** failures);
      failures = Math.min(failures + 1, 10);
      await sleep(clock, delayMs * (0.5 + clock.random() / 2), ending.signal);
    }
  };
  void run();

  return {
    since: (id) => {
      if (!isKnown) return null;
      if (id === lastId) return [];
      const index = events.findIndex((one) => one.id === id);
      if (index >= 0) return events.slice(index + 1);
      return id === firstId ? [...events] : null;
    },
    lastId: () => (isKnown ? lastId : null),
    isOpen: () => isOpen,
    tried,
    close: () => ending.abort(),
  };
}

interface PeerStreamOptions {
  readonly clock: Clock;
  /** The ID of the last event that was received; null: the replica sends only new events. */
  readonly lastId: string | null;
  readonly identity: Identity;
  /** The first shared key; null: there is no key. */
  readonly key: Buffer | null;
  readonly signal: AbortSignal;
  readonly onMessage: (message: StreamMessage) => void;
}

const ANSWER_MS = 5000;
/** A connection without data for this time counts as broken, because a replica sends a comment every 15 s. */
const SILENCE_MS = 40_000;
/**
 * Maximum rate at which bytes are read. Unread bytes wait in the other replica, which ends the stream if there are too
 * many.
 */
const MOST_BYTES_PER_SECOND = 256 * 1024;
/** Maximum size of the events that the other replica sends together. */
const MOST_FRAME_BYTES = 1024 * 1024;

/**
 * Reads the events of another replica until the stream ends. Rejects with a `PeerError` if the stream breaks, is
 * silent, or is not an event stream. Rejects with any error that `onMessage` throws.
 */
async function readPeerEvents(peer: Peer, options: PeerStreamOptions): Promise<void> {
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
          throw new PeerError(`the answer is not an event stream (status ${status})`);
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

/** A message of a `text/event-stream`. Null: the message has no such field. */
interface StreamMessage {
  readonly id: string | null;
  readonly type: string | null;
  readonly data: string;
}

/** Maximum number of characters of a message. An event is shorter than 4 KiB. */
const LONGEST = 32 * 1024;

/**
 * Returns a function that takes the text of a stream in chunks and calls `onMessage` for each message with data. It
 * throws a `PeerError` if a message is too long, and any error that `onMessage` throws.
 */
function createMessageReader(onMessage: (message: StreamMessage) => void): (text: string) => void {
  const throwTooLong = (): never => {
    throw new PeerError('a message of the event stream is too long');
  };
  const parser = createParser({
    maxBufferSize: LONGEST,
    onEvent: ({ id, event, data }) => {
      if (data.length > LONGEST) throwTooLong();
      onMessage({ id: id !== undefined && isEventId(id) ? id : null, type: event ?? null, data });
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throwTooLong();
    },
  });
  return (text) => parser.feed(text);
}

/**
 * Parses a decision, failure or recommendation of another replica; null: the message has another type, or is invalid.
 */
function readPeerEvent({ type, data }: StreamMessage): ServiceEvent | null {
  const value = parseJson(data);
  const { decision, failure, recommendation } = eventSchemas;
  if (type === 'decision') return withInstant(type, decision.safeParse(value).data);
  if (type === 'failure') return withInstant(type, failure.safeParse(value).data);
  return type === 'recommendation' ? withInstant(type, recommendation.safeParse(value).data) : null;
}

function withInstant<Type extends string, Facts extends { readonly at: string }>(
  type: Type,
  facts: Facts | undefined,
): (Omit<Facts, 'at'> & { readonly type: Type; readonly at: Instant }) | null {
  const at = parseInstant(facts?.at ?? '');
  return facts === undefined || at === null ? null : { ...facts, type, at };
}
