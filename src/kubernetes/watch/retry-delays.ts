import type { Clock } from '../../units/clock.js';
import { createBackoff } from '../requests/backoff.js';
import { rateLimitMs } from '../requests/rate-limit.js';
import { createRefusals } from '../requests/refusals.js';
import type { KubernetesError } from '../types.js';
import { WatchEventError } from './watch-events.js';

/** How long a reflector waits after each failure. */
export interface RetryDelays {
  readonly after: (failure: ListOrWatchFailure) => RetryDelay;
  /** Milliseconds to wait after a watch that ended at once and without news. */
  readonly afterShortWatch: () => number;
  /** To be called after a success: an account may be allowed to list and not to watch. */
  readonly clear: (verb: Verb) => void;
}

export type Verb = 'list' | 'watch';

export interface ListOrWatchFailure {
  readonly verb: Verb;
  readonly error: KubernetesError;
  /** Milliseconds since the last list; null: there was none. */
  readonly sinceListMs: number | null;
}

export interface RetryDelay {
  readonly ms: number;
  /** False for a 403 that may be of a server that has just started. */
  readonly isBelieved: boolean;
}

/** A server that was away is found again within twice that. */
const LONGEST_OUTAGE_MS = 5000;
/** How often in a row a 429 is answered with its `Retry-After` alone. */
const PROMPT_RETRIES = 10;
const RELIST_REST_MS = 120_000;

/** The pauses of one list and watch. Source: reliability.md, 1.3 and K11. */
export function createRetryDelays(clock: Clock): RetryDelays {
  const backoff = createBackoff(clock);
  const slowBackoff = createBackoff(clock, 30_000, 300_000);
  const refusals = { list: createRefusals(clock), watch: createRefusals(clock) };
  let rateLimits = 0;

  /** A server that has just started may say of what it serves that it is forbidden, or that it is not there. */
  const afterRefusal = ({ verb, error }: ListOrWatchFailure): RetryDelay => {
    if (refusals[verb].note()) return { ms: slowBackoff.next(), isBelieved: true };
    return { ms: refusals[verb].retryMs(), isBelieved: error.kind === 'not_found' };
  };

  const afterFailure = ({ error, sinceListMs }: ListOrWatchFailure): number => {
    const retryAfterMs = (error.retryAfterSeconds ?? 0) * 1000 * (1 + clock.random());
    switch (error.kind) {
      case 'gone':
        return (sinceListMs ?? 0) >= RELIST_REST_MS ? 0 : backoff.next();
      case 'unauthorized':
        return Math.max(LONGEST_OUTAGE_MS, backoff.next(LONGEST_OUTAGE_MS));
      case 'connection':
      case 'timeout':
      case 'server_error':
        // One that sends an event is there.
        if (error instanceof WatchEventError) return backoff.next();
        return Math.max(retryAfterMs, backoff.next(LONGEST_OUTAGE_MS));
      default:
        return Math.max(retryAfterMs, backoff.next());
    }
  };

  return {
    after: (failure) => {
      const { error } = failure;
      if (error.kind === 'forbidden' || error.kind === 'not_found') return afterRefusal(failure);
      refusals.list.clear();
      refusals.watch.clear();
      const limitedMs = error instanceof WatchEventError ? null : rateLimitMs(error);
      rateLimits = limitedMs === null ? 0 : rateLimits + 1;
      if (limitedMs !== null && rateLimits <= PROMPT_RETRIES) return { ms: limitedMs, isBelieved: true };
      return { ms: afterFailure(failure), isBelieved: true };
    },
    afterShortWatch: () => backoff.next(),
    clear: (verb) => {
      refusals[verb].clear();
      rateLimits = 0;
    },
  };
}
