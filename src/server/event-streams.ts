import type { RequestHandler, Response } from 'express';
import type { EventFeed, NumberedEvent } from '../telemetry/event-feed.js';
import type { Clock } from '../units/clock.js';
import { formatInstant } from '../units/time.js';
import { viewerOf } from './access/viewer.js';
import type { Viewer } from './access/viewer.js';

/** Server-sent events of `/api/v1/events`. */
export interface EventStreams {
  readonly handle: RequestHandler;
  readonly close: () => void;
  readonly size: () => number;
}

interface EventStreamOptions {
  readonly feed: EventFeed;
  readonly clock: Clock;
  /** Maximum of concurrent streams; default 200. */
  readonly most?: number;
  /**
   * After this time the client has to reconnect, so that its permissions are checked again; it continues after the
   * last event. Default: no limit.
   */
  readonly maxAgeMs?: number | undefined;
}

const HEARTBEAT_MS = 15_000;
/**
 * Maximum of unsent bytes per client, besides the socket buffers of both kernels. Above it, the client is disconnected.
 * Clients share the memory of an event. A round of 1,000 changes has 200 KB.
 */
const MAX_WAITING_BYTES = 512 * 1024;
/** A client that missed more gets a gap event. */
const MAX_MISSED_BYTES = 32 * 1024;
const RETRY_MS = 3000;

interface Stream {
  readonly viewer: Viewer;
  readonly openedMs: number;
}

/**
 * All streams share one timer, which runs only while a stream is open. Events are written once per turn of the event
 * loop, after the decisions that caused them, and encoded once for all streams.
 */
export function createEventStreams(options: EventStreamOptions): EventStreams {
  const { feed, clock, most = 200, maxAgeMs = Number.POSITIVE_INFINITY } = options;
  const open = new Map<Response, Stream>();
  let stopHeartbeat: (() => void) | null = null;
  let unsubscribe: (() => void) | null = null;
  let pending: NumberedEvent[] = [];
  let isClosed = false;

  const beat = (): void => {
    stopHeartbeat = null;
    const endMs = clock.monotonicMs() - maxAgeMs;
    for (const [response, { openedMs }] of [...open]) {
      if (openedMs <= endMs) end(response);
      else send(response, HEARTBEAT);
    }
    startHeartbeat();
  };
  const startHeartbeat = (): void => {
    if (open.size > 0 && stopHeartbeat === null) stopHeartbeat = clock.after(HEARTBEAT_MS, beat);
  };
  const drop = (response: Response): void => {
    open.delete(response);
    if (open.size > 0) return;
    stopHeartbeat?.();
    stopHeartbeat = null;
    unsubscribe?.();
    unsubscribe = null;
    pending = [];
  };
  const end = (response: Response): void => {
    drop(response);
    response.end();
  };
  const send = (response: Response, bytes: Buffer): void => {
    response.write(bytes);
    if (response.writableLength <= MAX_WAITING_BYTES) return;
    drop(response);
    response.destroy();
  };

  const flush = (): void => {
    const events = pending;
    pending = [];
    if (events.length === 0) return;
    const texts = new Map<string, Buffer>();
    for (const [response, { viewer }] of [...open]) {
      let bytes = texts.get(viewer.scope);
      if (bytes === undefined) texts.set(viewer.scope, (bytes = Buffer.from(textOf(events, viewer))));
      if (bytes.length > 0) send(response, bytes);
    }
  };
  const queue = (event: NumberedEvent): void => {
    if (pending.length === 0) clock.after(0, flush);
    pending.push(event);
  };

  return {
    handle: (request, response) => {
      if (isClosed || open.size >= most) {
        const error = isClosed
          ? 'the service is stopping'
          : `there are already ${most} event streams, the maximum`;
        response.set('Retry-After', '5').status(503).json({ error });
        return;
      }
      response.set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' }).status(200);
      if (request.method === 'HEAD') return void response.end();
      response.flushHeaders();
      response.on('close', () => drop(response));
      // The beginning of the new stream includes the events that are pending for the others.
      flush();
      const viewer = viewerOf(request);
      open.set(response, { viewer, openedMs: clock.monotonicMs() });
      unsubscribe ??= feed.subscribe(queue);
      startHeartbeat();
      const lastId = request.get('Last-Event-ID') ?? null;
      send(response, Buffer.from(beginning(feed, { lastId, viewer, clock })));
    },
    close: () => {
      isClosed = true;
      flush();
      for (const response of [...open.keys()]) end(response);
    },
    size: () => open.size,
  };
}

const HEARTBEAT = Buffer.from(': heartbeat\n\n');

/** Returns the retry delay and the events after `lastId`, or a gap event if there are too many. */
function beginning(
  feed: EventFeed,
  {
    lastId,
    viewer,
    clock,
  }: { readonly lastId: string | null; readonly viewer: Viewer; readonly clock: Clock },
): string {
  const retry = `retry: ${RETRY_MS}\n`;
  // The id lets a client that reconnects before the first event send a Last-Event-ID.
  const here = `${retry}id: ${feed.lastId()}\n: connected\n\n`;
  if (lastId === null) return here;
  const events = feed.since(lastId);
  const missed = events === null ? null : textOf(events, viewer);
  if (missed !== null && missed.length <= MAX_MISSED_BYTES) return `${retry}\n${missed}`;
  const gap = JSON.stringify({ at: formatInstant(clock.now()) });
  return `${retry}id: ${feed.lastId()}\nevent: gap\ndata: ${gap}\n\n`;
}

/** Events of other namespaces are left out; a reload has only numbers. */
function textOf(events: readonly NumberedEvent[], viewer: Viewer): string {
  return events
    .filter(({ event }) => event.type === 'reload' || viewer.sees(event.namespace))
    .map(eventText)
    .join('');
}

/** JSON has no line breaks, so one `data` line suffices. */
function eventText({ id, event }: NumberedEvent): string {
  const { type, ...facts } = event;
  const data = JSON.stringify({ ...facts, at: formatInstant(event.at) });
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
}
