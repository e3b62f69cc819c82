import { onAbort } from './abort.js';
import type { Instant } from './time.js';

/**
 * Time, timers and randomness. Code that waits or needs the time receives a clock, so that the whole service can run in
 * simulated time. cli/system-clock.ts creates the system clock.
 */
export interface Clock {
  /** Wall time. May jump. */
  readonly now: () => Instant;
  /** Milliseconds since an arbitrary start. Never jumps back. */
  readonly monotonicMs: () => number;
  /** At least 0, below 1. */
  readonly random: () => number;
  /** Calls `callback` once after `ms` (up to 2^31-1). Returns a function that cancels the timer. */
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

/** Resolves after `ms`, or immediately when `signal` is aborted: the caller must check the signal. Never rejects. */
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

/** Waits for `work`, which must not reject, at most `ms`. Leaves no timer behind. */
export async function endedWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  await Promise.race([work, sleep(clock, ms, done.signal)]);
  done.abort();
}

/**
 * Runs `work` with a signal that is aborted with a `DeadlineError` after `ms`, or with the reason of `parent` when
 * `parent` is aborted. Returns the result of `work`, which must observe its signal. Leaves no timer or listener.
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

/** Time after which a long task yields to other work. */
const TURN_MS = 20;

/**
 * Returns a function for a long task to await between steps. Every `turnMs` it yields to other work (probes, rounds, the
 * renewal of the Lease).
 */
export function takeTurns(clock: Clock, turnMs = TURN_MS): () => Promise<void> {
  let sinceMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - sinceMs < turnMs) return;
    await sleep(clock, 0);
    sinceMs = clock.monotonicMs();
  };
}

export interface Alarm {
  /** Resolves after `ms`, when the alarm rings, or when `signal` is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly ring: () => void;
}

export function createAlarm(clock: Clock): Alarm {
  let ring = (): void => undefined;
  return {
    sleep: (ms, signal) => {
      if (signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          cancel();
          forget();
          ring = () => undefined;
          resolve();
        };
        const cancel = clock.after(ms, done);
        const forget = onAbort(signal, done);
        ring = done;
      });
    },
    ring: () => ring(),
  };
}
