import type { RequestHandler, Response } from 'express';
import type { Clock } from '../units/clock.js';

/** Pages that take time to make, one after the other. */
export interface PageTurns {
  /** The same page, made when it is its turn: synchronously, by what answers at once. */
  readonly inTurn: (page: RequestHandler) => RequestHandler;
  /** Calls `send` when it is its turn, unless the client has left: for what is large but made already. */
  readonly queue: (response: Response, send: () => void) => void;
}

export interface PageTurnOptions {
  readonly clock: Clock;
  /** Connections accepted so far. */
  readonly connections?: () => number;
  /** Of answers that clients have not taken yet, all together; default 32 MiB. */
  readonly mostUnsentBytes?: number;
}

/** How long pages are made before everything else (decisions, probes) has its turn. */
const TURN_MS = 10;
/** The longest that pages wait for new connections. */
const LONGEST_REST_MS = 250;
const MOST_UNSENT_BYTES = 32 * 1024 * 1024;

/**
 * 256 clients that ask for a large list each would otherwise keep decisions and probes waiting for seconds: pages are
 * made for 10 ms, then everything else has its turn. Node accepts one connection a turn of the event loop: while
 * new ones come no page is made, else a probe behind 300 of them would wait for 300 turns of 10 ms. A page whose client
 * has left is not made. While too many bytes wait for clients the answer is 503.
 */
export function createPageTurns(options: PageTurnOptions): PageTurns {
  const { clock, connections = () => 0, mostUnsentBytes = MOST_UNSENT_BYTES } = options;
  const waiting = new Map<Response, () => void>();
  let isRunning = false;
  let unsentBytes = 0;
  let accepted = 0;
  let lastTurnMs = -Infinity;

  const run = (): void => {
    const startMs = clock.monotonicMs();
    const now = connections();
    if (now !== accepted && startMs - lastTurnMs < LONGEST_REST_MS) {
      accepted = now;
      clock.after(0, run);
      return;
    }
    lastTurnMs = startMs;
    for (const [response, make] of waiting) {
      waiting.delete(response);
      make();
      if (clock.monotonicMs() - startMs >= TURN_MS) break;
    }
    isRunning = waiting.size > 0;
    if (isRunning) clock.after(0, run);
  };

  /** What waits for the client until its connection has taken all of it, or is gone. */
  const account = (response: Response): void => {
    const bytes = response.writableLength;
    if (bytes === 0 || response.destroyed) return;
    unsentBytes += bytes;
    response.on('close', () => (unsentBytes -= bytes));
  };

  const queue: PageTurns['queue'] = (response, send) => {
    waiting.set(response, send);
    response.on('close', () => waiting.delete(response));
    if (isRunning) return;
    isRunning = true;
    lastTurnMs = clock.monotonicMs();
    clock.after(0, run);
  };

  return {
    queue,
    inTurn: (page) => (request, response, next) =>
      queue(response, () => {
        if (unsentBytes >= mostUnsentBytes) {
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

const TOO_MUCH = 'too many answers wait for clients that do not read them';

/** Too much at once; the client may come back. */
export function refuse(response: Response, error: string): void {
  response.set('Retry-After', '1').status(503).json({ error });
}
