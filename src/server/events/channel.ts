import type { Response } from 'express';
import type { Clock } from '../../units/clock.js';
import { formatInstant, type Instant } from '../../units/time.js';
import type { Viewer } from '../access/viewer.js';
import { cleanText } from '../../units/clean-text.js';
import type { ServiceEvent } from '../../telemetry/event-feed.js';

/** The streams of clients that have the same permissions and therefore get the same bytes. */
export interface Channel {
  /** Sends the start of a stream, and from then on all events. */
  readonly begin: (response: Response, lastId: string | null) => void;
  readonly drop: (response: Response) => void;
  readonly flush: () => void;
}

interface ChannelOptions {
  readonly source: EventSource;
  readonly viewer: Viewer;
  readonly clock: Clock;
  readonly send: (response: Response, bytes: Buffer) => void;
}

/** A client that has missed more bytes of events gets a gap event instead of the events. */
const MAX_MISSED_BYTES = 32 * 1024;
const RETRY_MS = 3000;
/** Has a `data` line, because browsers take an ID only from an event with data. */
const CONNECTED = 'event: connected\ndata: {}\n\n';
/** Events within this time are sent together: writing to each of 100 streams takes more than a millisecond. */
const GATHER_MS = 100;
const MOST_GATHERED = 8;
/** Gathered events are sent at once when their messages together have this many characters. */
const LONGEST_GATHERED = 16 * 1024;

/**
 * Creates a channel. Events are encoded once for all streams, and in a later task, so that they do not delay the
 * decisions that cause them.
 */
export function createChannel({ source, viewer, clock, send }: ChannelOptions): Channel {
  const streams = new Set<Response>();
  let pending: StreamedEvent[] = [];
  let gathered = 0;
  let lastFlushMs = -Infinity;
  let timer: { readonly cancel: () => void; readonly isNow: boolean } | null = null;
  let unsubscribe: (() => void) | null = null;

  const flush = (): void => {
    timer?.cancel();
    timer = null;
    const events = pending;
    pending = [];
    gathered = 0;
    if (events.length === 0) return;
    lastFlushMs = clock.monotonicMs();
    const bytes = Buffer.from(textOf(events, viewer));
    if (bytes.length > 0) for (const response of [...streams]) send(response, bytes);
  };
  const flushIn = (ms: number): void => {
    if (timer !== null && (timer.isNow || ms > 0)) return;
    timer?.cancel();
    timer = { cancel: clock.after(ms, flush), isNow: ms === 0 };
  };
  const queue = (event: StreamedEvent): void => {
    pending.push(event);
    const restMs = lastFlushMs + GATHER_MS - clock.monotonicMs();
    gathered += 'message' in event.event ? event.event.message.length : 0;
    const isFull = pending.length >= MOST_GATHERED || gathered >= LONGEST_GATHERED;
    flushIn(isFull ? 0 : Math.max(0, restMs));
  };

  return {
    begin: (response, lastId) => {
      // Sends pending events first. The start of the new stream includes them, and it must not get them twice.
      flush();
      streams.add(response);
      unsubscribe ??= source.subscribe(queue);
      send(response, Buffer.from(beginning({ source, viewer, clock }, lastId)));
    },
    drop: (response) => {
      streams.delete(response);
      if (streams.size > 0) return;
      unsubscribe?.();
      unsubscribe = null;
      pending = [];
      timer?.cancel();
      timer = null;
    },
    flush,
  };
}

/**
 * Returns the start of a stream: the retry delay, `connected`, and the events after `lastId`. A gap event replaces the
 * events if they are unknown or too large.
 */
function beginning({ source, viewer, clock }: Omit<ChannelOptions, 'send'>, lastId: string | null): string {
  const retry = `retry: ${RETRY_MS}\n`;
  // A client that reconnects before it has received an event sends this ID as Last-Event-ID.
  if (lastId === null) return `${retry}id: ${source.lastId()}\n${CONNECTED}`;
  const events = source.since(lastId);
  const missed = events === null ? null : textOf(events, viewer);
  if (missed !== null && missed.length <= MAX_MISSED_BYTES) return `${retry}${CONNECTED}${missed}`;
  const gap = JSON.stringify({ at: formatInstant(clock.now()) });
  return `${retry}id: ${source.lastId()}\nevent: gap\ndata: ${gap}\n\n`;
}

/** An event with its ID. A `gap` says that events before it are lost. */
export interface StreamedEvent {
  readonly id: string;
  readonly event: ServiceEvent | { readonly type: 'gap'; readonly at: Instant };
}

/** Where the events of streams come from: this replica, or all replicas. */
export interface EventSource {
  /** Adds a listener. Returns a function that removes it. */
  readonly subscribe: (listener: (event: StreamedEvent) => void) => () => void;
  /** Returns the events after this ID; null: the ID is unknown, for example because it is too old. */
  readonly since: (id: string) => readonly StreamedEvent[] | null;
  /** Returns the ID of the newest event; if there are no events, an ID that precedes the first one. */
  readonly lastId: () => string;
}

/** Returns events as text. Events of namespaces that the client may not see are omitted. */
export function textOf(events: readonly StreamedEvent[], viewer: Viewer): string {
  return events
    .filter(({ event }) => !('namespace' in event) || viewer.sees(event.namespace))
    .map((event) => eventText(event, viewer))
    .join('');
}

/** Returns an event as text. It needs only one `data` line, because JSON contains no line breaks. */
function eventText({ id, event }: StreamedEvent, { seesAll }: Viewer): string {
  const { type, ...facts } = event;
  const counts = type === 'reload' && !seesAll ? { scalers: null, errors: null } : {};
  const data = cleanText(JSON.stringify({ ...facts, ...counts, at: formatInstant(event.at) }));
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
}

/** Maps a `replicaHash` to the ID of the last event that was received from the replica. */
type Positions = ReadonlyMap<string, string>;

const MOST_REPLICAS = 64;
const ID = /^[\w-]{1,64}$/;
const ENTRY = /^([\w-]{1,16})\.([\w-]{1,64})$/;

export function isEventId(text: string): boolean {
  return ID.test(text);
}

/** Returns an ID that contains a position in the events of each replica, such as `aB3-x0.mq1-17~Zz9_k2.mq4-3`. */
export function writePositions(positions: Positions): string {
  return [...positions].map(([hash, id]) => `${hash}.${id}`).join('~');
}

/** Parses an ID that `writePositions` has written; null: the text is not such an ID. */
export function readPositions(text: string): Positions | null {
  const parts = text.split('~');
  if (parts.length > MOST_REPLICAS) return null;
  const positions = new Map<string, string>();
  for (const part of parts) {
    const [, hash, id] = ENTRY.exec(part) ?? [];
    if (hash === undefined || id === undefined || positions.has(hash)) return null;
    positions.set(hash, id);
  }
  return positions;
}
