import type { NextFunction, Response } from 'express';
import { sleep, type Clock } from '../../units/clock.js';

/** Work takes at most a third of the time on average. Decisions and probes have the rest. */
const RESTS_PER_WORK = 2;
/** Duration of work that needs no rest after an idle time. The overview of 10,000 scalers takes 200 ms. */
const BURST_MS = 400;
const LONGEST_REST_MS = 1000;
/** Length of a slice of paced work. Rounds and probes run between slices. */
export const SLICE_MS = 5;

/** Runs one task at a time, in the order of the calls. */
export interface Paced {
  /** Rejects with `Busy` if too much work is waiting. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
}

export class Busy extends Error {
  override name = 'Busy';
}

const MOST_WAITING = 64;

/** Runs work immediately unless more than `BURST_MS` was used recently; then rests for twice its duration. */
export function createPaced(clock: Clock, mostWaiting = MOST_WAITING): Paced {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let budgetMs = BURST_MS;
  let endMs = clock.monotonicMs();

  const queued = async <T>(work: () => Promise<T>): Promise<T> => {
    budgetMs = Math.min(BURST_MS, budgetMs + (clock.monotonicMs() - endMs) / RESTS_PER_WORK);
    if (budgetMs < 0) {
      await sleep(clock, Math.min(LONGEST_REST_MS, -budgetMs * RESTS_PER_WORK));
      budgetMs = 0;
    }
    waiting -= 1;
    const startMs = clock.monotonicMs();
    try {
      return await work();
    } finally {
      endMs = clock.monotonicMs();
      budgetMs -= endMs - startMs;
    }
  };

  return {
    run: (work) => {
      if (waiting >= mostWaiting) return Promise.reject(new Busy(TOO_MANY));
      waiting += 1;
      const running = last.then(() => queued(work));
      last = running.catch(() => undefined);
      return running;
    },
  };
}

export const TOO_MANY = 'too many clients wait for this page: retry later';

/** Responds with 503: the client should retry after `retrySeconds`. */
export function refuse(response: Response, error: string, retrySeconds = 1): void {
  response.set('Retry-After', String(retrySeconds)).status(503).json({ error });
}

/** Returns an error handler of a page: 503 if too many clients wait, otherwise the error handler of Express. */
export function refusing(response: Response, next: NextFunction): (error: unknown) => void {
  return (error) => {
    if (error instanceof Busy) refuse(response, error.message);
    else next(error);
  };
}
