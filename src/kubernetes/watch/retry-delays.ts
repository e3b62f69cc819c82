import type { Clock } from '../../units/clock.js';
import { createBackoff } from '../requests/backoff.js';
import { rateLimitMs } from '../requests/rate-limit.js';
import { createRefusals } from '../requests/refusals.js';
import type { KubernetesError } from '../api/types.js';
import { WatchEventError } from './watch-events.js';

export interface RetryDelays {
  readonly after: (failure: ListOrWatchFailure) => RetryDelay;
  readonly afterShortWatch: () => number;
  /** Records a success of one verb: an account may be allowed to list but not to watch. */
  readonly clear: (verb: Verb) => void;
}

export type Verb = 'list' | 'watch';

interface ListOrWatchFailure {
  readonly verb: Verb;
  readonly error: KubernetesError;
  /** Milliseconds since the last list; null: none yet. */
  readonly sinceListMs: number | null;
}

interface RetryDelay {
  readonly ms: number;
  /** False for a 403 that may come from a server that is starting. */
  readonly isLasting: boolean;
}

/** Including jitter, a server that is back is detected within twice this time. */
const OUTAGE_RETRY_MS = 5000;
const MIN_RELIST_INTERVAL_MS = 120_000;

/** Source: reliability.md, section 1 and K11. */
export function createRetryDelays(clock: Clock): RetryDelays {
  const backoff = createBackoff(clock);
  const slowBackoff = createBackoff(clock, 30_000, 300_000);
  const refusals = { list: createRefusals(clock), watch: createRefusals(clock) };
  let isLimited = false;

  /** A server that is starting may answer 403, or 404 for a resource that it serves. */
  const afterRefusal = ({ verb, error }: ListOrWatchFailure): RetryDelay => {
    if (refusals[verb].note()) return { ms: slowBackoff.next(), isLasting: true };
    return { ms: refusals[verb].retryMs(), isLasting: error.kind === 'not_found' };
  };

  const afterFailure = ({ error, sinceListMs }: ListOrWatchFailure): number => {
    const retryAfterMs = (error.retryAfterSeconds ?? 0) * 1000 * (1 + clock.random());
    switch (error.kind) {
      case 'gone':
        return (sinceListMs ?? 0) >= MIN_RELIST_INTERVAL_MS ? 0 : backoff.next();
      case 'unauthorized':
        return Math.max(OUTAGE_RETRY_MS, backoff.next(OUTAGE_RETRY_MS));
      case 'connection':
      case 'timeout':
      case 'server_error':
        // A server that sends an event is reachable.
        if (error instanceof WatchEventError) return backoff.next();
        return Math.max(retryAfterMs, backoff.next(OUTAGE_RETRY_MS));
      default:
        return Math.max(retryAfterMs, backoff.next());
    }
  };

  /**
   * Delay after a 429: for the first one of a watch, only its `Retry-After`; for further ones, at least a backoff. Each
   * 429 of a list also waits at least a backoff, because the transport has already sent the list three times.
   */
  const afterRateLimit = ({ verb, error }: ListOrWatchFailure): number | null => {
    const limitedMs = error instanceof WatchEventError ? null : rateLimitMs(error);
    const isFirst = !isLimited;
    isLimited = limitedMs !== null;
    if (limitedMs === null || (isFirst && verb === 'watch')) return limitedMs;
    return Math.max(limitedMs, backoff.next());
  };

  return {
    after: (failure) => {
      const { error } = failure;
      if (error.kind === 'forbidden' || error.kind === 'not_found') return afterRefusal(failure);
      refusals.list.clear();
      refusals.watch.clear();
      return { ms: afterRateLimit(failure) ?? afterFailure(failure), isLasting: true };
    },
    afterShortWatch: () => backoff.next(),
    clear: (verb) => {
      refusals[verb].clear();
      isLimited = false;
    },
  };
}
