import type { Clock } from '../../units/clock.js';

/** Distinguishes a lasting 403 from the 403 of an API server that is starting and has not loaded its RBAC rules. */
export interface Refusals {
  /** Records a 403. Returns whether it is lasting: at least the fourth in a row, and at least 15 s after the first. */
  readonly note: () => boolean;
  /** Call this if the request was allowed, or failed for another reason. */
  readonly clear: () => void;
  /** Returns the milliseconds until a retry after a 403 that may not last: 3 s to 6 s. */
  readonly retryMs: () => number;
}

/** A starting kube-apiserver answers 403 for about a second. Source: reliability.md, section 1. */
const BELIEVED_MS = 15_000;
const BELIEVED_TRIES = 4;
const RETRY_MS = 3000;

export function createRefusals(clock: Clock): Refusals {
  let tries = 0;
  let firstMs = 0;
  return {
    note: () => {
      const nowMs = clock.monotonicMs();
      if (tries === 0) firstMs = nowMs;
      tries += 1;
      return tries >= BELIEVED_TRIES && nowMs - firstMs >= BELIEVED_MS;
    },
    clear: () => {
      tries = 0;
    },
    retryMs: () => RETRY_MS * (1 + clock.random()),
  };
}
