import type { RequestHandler, Response } from 'express';
import type { EventFeed, NumberedEvent } from '../telemetry/event-feed.js';
import type { Clock } from '../units/clock.js';
import { formatInstant } from '../units/time.js';

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
}

const HEARTBEAT_MS = 15_000;
/**
 * Maximum of unsent bytes per client, besides the socket buffers of both kernels. Above it, the client is disconnected.
 */
const MAX_WAITING_BYTES = 64 * 1024;
const RETRY_MS = 3000;

/** All streams share one timer, which runs only while a stream is open. */
export function createEventStreams({ feed, clock, most = 200 }: EventStreamOptions): EventStreams {
  const open = new Map<Response, () => void>();
  let stopHeartbeat: (() => void) | null = null;
  let isClosed = false;

  const beat = (): void => {
    stopHeartbeat = null;
    for (const response of [...open.keys()]) send(response, ': heartbeat\n\n');
    startHeartbeat();
  };
  const startHeartbeat = (): void => {
    if (open.size > 0 && stopHeartbeat === null) stopHeartbeat = clock.after(HEARTBEAT_MS, beat);
  };
  const drop = (response: Response): void => {
    open.get(response)?.();
    open.delete(response);
    if (open.size > 0) return;
    stopHeartbeat?.();
    stopHeartbeat = null;
  };
  const send = (response: Response, text: string): void => {
    response.write(text);
    if (response.writableLength <= MAX_WAITING_BYTES) return;
    drop(response);
    response.destroy();
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
      open.set(
        response,
        feed.subscribe((event) => send(response, eventText(event))),
      );
      startHeartbeat();
      send(response, beginning(feed, request.get('Last-Event-ID') ?? null, clock));
    },
    close: () => {
      isClosed = true;
      for (const response of [...open.keys()]) {
        drop(response);
        response.end();
      }
    },
    size: () => open.size,
  };
}

/** Returns the retry delay and the events after `lastId`, or a gap event if there are too many. */
function beginning(feed: EventFeed, lastId: string | null, clock: Clock): string {
  const retry = `retry: ${RETRY_MS}\n`;
  // The id lets a client that reconnects before the first event send a Last-Event-ID.
  const here = `${retry}id: ${feed.lastId()}\n: connected\n\n`;
  if (lastId === null) return here;
  const missed = feed.since(lastId)?.map(eventText).join('') ?? null;
  if (missed !== null && missed.length <= MAX_WAITING_BYTES / 2) return `${retry}\n${missed}`;
  const gap = JSON.stringify({ at: formatInstant(clock.now()) });
  return `${retry}id: ${feed.lastId()}\nevent: gap\ndata: ${gap}\n\n`;
}

/** JSON has no line breaks, so one `data` line suffices. */
function eventText({ id, event }: NumberedEvent): string {
  const { type, ...facts } = event;
  const data = JSON.stringify({ ...facts, at: formatInstant(event.at) });
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
}
