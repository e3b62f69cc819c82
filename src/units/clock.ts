import { onAbort } from './abort.js';
import type { Instant } from './time.js';

/**
 * Time, timers and randomness. Code that waits or needs the time receives a clock, so that the whole service can run in
 * simulated time. cli/system-clock.ts creates the clock of the system.
 */
export interface Clock {
  /** Returns the wall time, which may jump. */
  readonly now: () => Instant;
  /** Returns the milliseconds since an arbitrary start. They never decrease. */
  readonly monotonicMs: () => number;
  /** Returns a random number of at least 0 and below 1. */
  readonly random: () => number;
  /** Calls `callback` once after `ms`, which is at most 2^31-1. Returns a function that cancels the timer. */
  readonly after: (ms: number, callback: () => void) => () => void;
}

export class DeadlineError extends Error {
  override name = 'DeadlineError';
  readonly ms: number;

  constructor(ms: number) {
    super(`timeout after ${ms} ms`);
    this.ms = ms;
  }
}

/**
 * Resolves after `ms`, or immediately when `signal` is aborted. The caller must therefore check the signal. Never
 * rejects.
 */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    let forget = (): void => undefined;
    const done = (): void => {
      cancel();
      forget();
      resolve();
    };
    const cancel = clock.after(ms, done);
    if (signal !== undefined) forget = onAbort(signal, done);
  });
}

/** Waits until `work` has ended, but at most `ms`. `work` must not reject. No timer is left behind. */
export async function endedWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  await Promise.race([work, sleep(clock, ms, done.signal)]);
  done.abort();
}

/**
 * Runs `work` and returns its result. `work` must observe its signal. The signal is aborted after `ms` with a
 * `DeadlineError`, or when `parent` is aborted, with the same reason. No timer or listener is left behind.
 */
export async function withDeadline<T>(
  clock: Clock,
  options: { readonly ms: number; readonly parent?: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { ms, parent } = options;
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent?.reason);
  if (parent?.aborted === true) follow();
  const forget = parent === undefined ? null : onAbort(parent, follow);
  const cancel = clock.after(ms, () => controller.abort(new DeadlineError(ms)));
  try {
    return await work(controller.signal);
  } finally {
    cancel();
    forget?.();
  }
}

/** How long a task may run before it yields to other work. */
const YIELD_MS = 20;

/**
 * Returns a function that a long task awaits between its steps. Every `periodMs`, it yields to other work, such as
 * probes, rounds and the renewal of the Lease.
 */
export function periodicYield(clock: Clock, periodMs = YIELD_MS): () => Promise<void> {
  let sinceMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - sinceMs < periodMs) return;
    await sleep(clock, 0);
    sinceMs = clock.monotonicMs();
  };
}

export interface Alarm {
  /** Resolves after `ms`, when `ring` is called, or when `signal` is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly ring: () => void;
}

export function createAlarm(clock: Clock): Alarm {
  let ringing = new AbortController();
  return {
    sleep: (ms, signal) => {
      ringing = new AbortController();
      return sleep(clock, ms, AbortSignal.any([signal, ringing.signal]));
    },
    ring: () => ringing.abort(),
  };
}

export interface ReadyQueue {
  /** Calls `run` now or in a later event-loop iteration. `run` must not throw. */
  readonly add: (run: () => void) => void;
}

/** Limits the cycles that run in one event-loop iteration to about 5 ms of work. */
const AT_ONCE = 32;

/**
 * Calls the added functions in order, at most `atOnce` in each event-loop iteration. One response may complete the
 * answers of 1,500 scalers. Deciding all of them at once would delay probes and the renewal of the Lease by 0.3 s.
 */
export function createReadyQueue(clock: Clock, atOnce = AT_ONCE): ReadyQueue {
  let waiting: (() => void)[] = [];
  let next = 0;
  /** The number of functions that may still be called in this event-loop iteration. */
  let left = atOnce;
  let isTurnPlanned = false;

  const runSome = (): void => {
    if (next === waiting.length) return;
    if (!isTurnPlanned) clock.after(0, beginTurn);
    isTurnPlanned = true;
    for (let run = waiting[next]; left > 0 && run !== undefined; run = waiting[next]) {
      left -= 1;
      next += 1;
      run();
    }
    if (next === waiting.length) [waiting, next] = [[], 0];
  };
  const beginTurn = (): void => {
    isTurnPlanned = false;
    left = atOnce;
    runSome();
  };
  return {
    add: (run) => {
      waiting.push(run);
      runSome();
    },
  };
}
