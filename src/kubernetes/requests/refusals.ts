import type { Clock } from '../../units/clock.js';

/** Tells a refusal that lasts from that of an API server which has just started and has not read its roles yet. */
export interface Refusals {
  /** Notes a 403. Returns whether to believe it: it is the fourth or later in a row, 15 s or more after the first. */
  readonly note: () => boolean;
  /** Ends the row: the request was allowed, or failed for another reason. */
  readonly clear: () => void;
  /** Milliseconds until a request is sent again whose refusal is not believed yet: 3 s to 6 s. */
  readonly retryMs: () => number;
}

/** A starting kube-apiserver answers 403 for about a second. Source: reliability.md, 1.3. */
const BELIEVED_MS = 15_000;
const BELIEVED_TRIES = 4;
/** Four tries fit into 18 s, and a server that allows the request is found within 6 s. */
const RETRY_MS = 3000;

/** The refusals of one kind of request, none at the start. */
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
