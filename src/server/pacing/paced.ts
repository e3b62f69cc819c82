import type { NextFunction, Response } from 'express';
import { sleep, type Clock } from '../../units/clock.js';

/**
 * Work beyond the budget is followed by a pause of this many times its duration, so that on average two thirds of the
 * time are left for decisions and probes.
 */
const RESTS_PER_WORK = 2;
/** The budget: after idle time, this much work needs no pause. The overview of 10,000 scalers takes 200 ms. */
const BURST_MS = 400;
const LONGEST_REST_MS = 1000;
/** Length of a slice of work. Rounds and probes can run between two slices. */
export const SLICE_MS = 5;

/** Runs one task at a time, in the order in which they were given. */
export interface Paced {
  /** Runs a task. Rejects with `Busy` if too many tasks are waiting. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
}

export class Busy extends Error {
  override name = 'Busy';
}

const MOST_WAITING = 64;

/**
 * Runs a task at once if the budget is not used up. Otherwise, first pauses for twice the time by which earlier tasks
 * have exceeded the budget, at most 1 s. Half of the time between tasks is added to the budget, up to `BURST_MS`.
 */
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

/** Answers 503 with a `Retry-After` of `retrySeconds`. */
export function refuse(response: Response, error: string, retrySeconds = 1): void {
  response.set('Retry-After', String(retrySeconds)).status(503).json({ error });
}

/** Returns an error handler: answers 503 if too many clients wait, and passes other errors to Express. */
export function refusing(response: Response, next: NextFunction): (error: unknown) => void {
  return (error) => {
    if (error instanceof Busy) refuse(response, error.message);
    else next(error);
  };
}
