import { Readable, pipeline } from 'node:stream';
import type { NextFunction, RequestHandler, Response } from 'express';
import { sleep, type Clock } from '../../units/clock.js';
import { refuse, TOO_MANY } from './paced.js';
import { createBackgroundWork, type BackgroundWorkOptions } from './background-work.js';

export interface SharedPageOptions {
  readonly contentType: string;
  /** Returns the page in parts. Rejects if `signal` is aborted, because all clients have disconnected. */
  readonly render: (signal: AbortSignal) => Promise<readonly Buffer[]>;
  readonly clock: Clock;
  readonly queue: PageQueue['queue'];
  /** Maximum number of clients that wait for the same rendering; default 64. */
  readonly mostWaiting?: number;
}

const KEPT_MS = 1000;
const MOST_WAITING = 64;

/**
 * Renders a page once for all clients that wait for it, and keeps it for 1 s. If all of these clients disconnect, the
 * rendering is aborted. The next rendering starts at least 1 s later, so that clients that connect and disconnect
 * cannot keep the service busy.
 */
export function createSharedPage(options: SharedPageOptions): RequestHandler {
  const { contentType, render, clock, queue, mostWaiting = MOST_WAITING } = options;
  const waiting = new Map<Response, NextFunction>();
  let kept: { readonly parts: readonly Buffer[]; readonly untilMs: number } | null = null;
  let restUntilMs = -Infinity;
  let rendering: AbortController | null = null;

  const send = (response: Response, parts: readonly Buffer[]): void => {
    queue(response, () => {
      const bytes = parts.reduce((sum, { length }) => sum + length, 0);
      response.set({ 'Content-Type': contentType, 'Content-Length': String(bytes) });
      // The pipeline sends the next part when the client has read the previous one. If the client disconnects, nothing
      // has to be done.
      pipeline(Readable.from(parts), response, () => undefined);
    });
  };

  const renderOnce = async (signal: AbortSignal): Promise<void> => {
    const restMs = restUntilMs - clock.monotonicMs();
    if (restMs > 0) await sleep(clock, restMs, signal);
    if (signal.aborted) return;
    restUntilMs = clock.monotonicMs() + KEPT_MS;
    const parts = await render(signal);
    kept = { parts, untilMs: clock.monotonicMs() + KEPT_MS };
    for (const response of waiting.keys()) send(response, parts);
    waiting.clear();
  };

  const renderForAll = async (): Promise<void> => {
    while (waiting.size > 0) {
      rendering = new AbortController();
      const { signal } = rendering;
      try {
        await renderOnce(signal);
      } catch (error) {
        // All clients of this rendering have disconnected. Clients that came later wait for the next rendering.
        if (signal.aborted) continue;
        for (const next of waiting.values()) next(error);
        waiting.clear();
      }
    }
    rendering = null;
  };

  return (_request, response, next) => {
    if (kept !== null && clock.monotonicMs() < kept.untilMs) {
      send(response, kept.parts);
      return;
    }
    kept = null;
    if (waiting.size >= mostWaiting) {
      refuse(response, TOO_MANY);
      return;
    }
    waiting.set(response, next);
    response.on('close', () => {
      if (waiting.delete(response) && waiting.size === 0) rendering?.abort();
    });
    if (rendering === null) void renderForAll();
  };
}

interface PageQueue {
  /** Returns a page that is rendered as background work. `page` must respond synchronously. */
  readonly queued: (page: RequestHandler) => RequestHandler;
  /**
   * Calls `send` as background work, unless the client has disconnected. `send` sends a large page that is already
   * rendered.
   */
  readonly queue: (response: Response, send: () => void) => void;
}

/** Maximum number of bytes, of all responses together, that clients have not read yet. */
const MOST_UNSENT_BYTES = 32 * 1024 * 1024;

/**
 * Renders pages as background work, and only for clients that are still connected. Without this, 256 clients that each
 * request a large list would delay decisions and probes for seconds. While too many bytes are unsent, answers 503.
 */
export function createPageQueue(options: BackgroundWorkOptions): PageQueue {
  const backgroundWork = createBackgroundWork(options);
  let unsentBytes = 0;

  /** Counts the bytes of a response until all are sent or the connection is closed. */
  const account = (response: Response): void => {
    const bytes = response.writableLength;
    if (bytes === 0 || response.destroyed) return;
    unsentBytes += bytes;
    response.on('close', () => (unsentBytes -= bytes));
  };

  const queue: PageQueue['queue'] = (response, send) => {
    response.on('close', backgroundWork.queue(send));
  };

  return {
    queue,
    queued: (page) => (request, response, next) =>
      queue(response, () => {
        if (unsentBytes >= MOST_UNSENT_BYTES) {
          refuse(response, TOO_MUCH);
          return;
        }
        try {
          void page(request, response, next);
          account(response);
        } catch (error) {
          next(error);
        }
      }),
  };
}

const TOO_MUCH = 'too many response bytes wait for slow clients: retry later';
