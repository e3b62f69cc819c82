import type { Clock } from '../../units/clock.js';
import { createBackoff, createRefusals, rateLimitMs } from '../requests/retry.js';
import type { KubernetesError } from '../api/types.js';
import { WatchEventError } from './watch-events.js';

export interface RetryDelays {
  readonly after: (failure: ListOrWatchFailure) => RetryDelay;
  readonly afterList: (tookMs: number) => void;
  readonly afterShortWatch: () => number;
  /** Records a success of one verb. The other verb may still fail: a Role may allow listing but not watching. */
  readonly clear: (verb: Verb) => void;
}

export type Verb = 'list' | 'watch';

interface ListOrWatchFailure {
  readonly verb: Verb;
  readonly error: KubernetesError;
  /** When the last list ended, on the monotonic clock; null: there was none. */
  readonly listedMs: number | null;
}

interface RetryDelay {
  readonly ms: number;
  /** Whether the failure is lasting, unlike a 403 of a server that may have just started. */
  readonly isLasting: boolean;
  /** Whether the next step must be a list, because watching is forbidden. */
  readonly needsList: boolean;
  /** Whether to log the failure: neither verb has failed with this kind of error since its last success. */
  readonly isNew: boolean;
}

/**
 * Longest delay of the backoff during an outage. With jitter, a server that has recovered is detected within twice this
 * time.
 */
const OUTAGE_RETRY_MS = 5000;
const MIN_RELIST_INTERVAL_MS = 120_000;
/**
 * Minimum delay between two lists if there is no watch. If a list takes long, the delay is a multiple of its duration,
 * which limits the load.
 */
const LIST_ONLY_MS = 30_000;
const LIST_ONLY_DURATIONS = 20;

/**
 * Creates the delays of one reflector. `listsWithoutWatch`: see `ReflectorOptions`. Source: reliability.md, section 1
 * and K11.
 */
export function createRetryDelays(clock: Clock, listsWithoutWatch = false): RetryDelays {
  const backoff = createBackoff(clock);
  const slowBackoff = createBackoff(clock, 30_000, 300_000);
  const refusals = { list: createRefusals(clock), watch: createRefusals(clock) };
  const failed = new Map<Verb, KubernetesError['kind']>();
  let listTookMs = 0;
  let isLimited = false;

  /**
   * Returns the delay after a 403 or 404. A server that has just started may answer 403, or 404 for a resource that it
   * serves.
   */
  const afterRefusal = ({ verb, error }: ListOrWatchFailure): Omit<RetryDelay, 'isNew'> => {
    if (!refusals[verb].note())
      return { ms: refusals[verb].retryMs(), isLasting: error.kind === 'not_found', needsList: false };
    if (!listsWithoutWatch || error.kind !== 'forbidden')
      return { ms: slowBackoff.next(), isLasting: true, needsList: false };
    const ms = Math.max(LIST_ONLY_MS, LIST_ONLY_DURATIONS * listTookMs) * (1 + clock.random());
    return { ms, isLasting: true, needsList: verb === 'watch' };
  };

  const afterFailure = ({ error, listedMs }: ListOrWatchFailure): number => {
    const retryAfterMs = (error.retryAfterSeconds ?? 0) * 1000 * (1 + clock.random());
    switch (error.kind) {
      case 'gone':
        return listedMs !== null && clock.monotonicMs() - listedMs >= MIN_RELIST_INTERVAL_MS
          ? 0
          : backoff.next();
      case 'unauthorized':
        return Math.max(OUTAGE_RETRY_MS, backoff.next(OUTAGE_RETRY_MS));
      case 'connection':
      case 'timeout':
      case 'server_error':
        // The server is reachable, because it has sent an event.
        if (error instanceof WatchEventError) return backoff.next();
        return Math.max(retryAfterMs, backoff.next(OUTAGE_RETRY_MS));
      default:
        return Math.max(retryAfterMs, backoff.next());
    }
  };

  /**
   * Returns the delay after a 429; null: the error is not a 429. After the first 429 of a watch, the delay is
   * `Retry-After`. After a repeated 429, and after any 429 of a list, it is at least the delay of the backoff: the
   * transport has already sent the list three times.
   */
  const afterRateLimit = ({ verb, error }: ListOrWatchFailure): number | null => {
    const limitedMs = error instanceof WatchEventError ? null : rateLimitMs(error);
    const isFirst = !isLimited;
    isLimited = limitedMs !== null;
    if (limitedMs === null || (isFirst && verb === 'watch')) return limitedMs;
    return Math.max(limitedMs, backoff.next());
  };

  const after = (failure: ListOrWatchFailure): Omit<RetryDelay, 'isNew'> => {
    const { error } = failure;
    if (error.kind === 'forbidden' || error.kind === 'not_found') return afterRefusal(failure);
    refusals.list.clear();
    refusals.watch.clear();
    return { ms: afterRateLimit(failure) ?? afterFailure(failure), isLasting: true, needsList: false };
  };

  return {
    after: (failure) => {
      const delay = after(failure);
      const isNew = ![...failed.values()].includes(failure.error.kind);
      if (delay.isLasting) failed.set(failure.verb, failure.error.kind);
      return { ...delay, isNew };
    },
    afterList: (tookMs) => (listTookMs = tookMs),
    afterShortWatch: () => backoff.next(),
    clear: (verb) => {
      failed.delete(verb);
      refusals[verb].clear();
      isLimited = false;
    },
  };
}
