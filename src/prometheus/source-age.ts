import { type Clock, sleep } from '../units/clock.js';
import type { Instant } from '../units/time.js';
import type { PrometheusServer } from './client/client.js';
import { createHistoryWatch, type HistoryState, KEPT } from './history-watch.js';

export interface SourceAge {
  readonly startTime: Instant | null;
  /** Used if the start time is unknown. */
  readonly history: HistoryState;
}

export const UNKNOWN_AGE: SourceAge = { startTime: null, history: KEPT };

/** After an internal error. */
const UNREAD_AGE: SourceAge = {
  startTime: null,
  history: { state: 'unknown', loss: null, why: 'it is unknown whether the source has lost data' },
};

export interface SourceAges {
  /**
   * Reads the age after this call, so that it applies to every answer received before the call: between an earlier read
   * and an answer, the server may have been killed, emptied and restarted. Never rejects.
   */
  readonly read: (signal: AbortSignal) => Promise<SourceAge>;
}

const TIMEOUT_MS = 2000;

/** Minimum interval between two reads. Callers in between share the next read. */
const APART_MS = 100;

/**
 * A longer silence of a source counts as a gap, in which it may have lost its history or scraped nothing. After a long
 * network partition without a restart, a rate is a quarter of its value at the second scrape, although the start time
 * is old.
 */
const LONGEST_SILENCE_SECONDS = 60;

/** A long sync period alone must not count as a gap. */
const LONGEST_SILENCE_PERIODS = 1.5;

/** Returns after how many seconds the silence of a source is a gap. */
export function longestSilenceSeconds(periodSeconds: number): number {
  return Math.max(LONGEST_SILENCE_SECONDS, LONGEST_SILENCE_PERIODS * periodSeconds);
}

/** The requests of one read skip the queue of the source: they are few, and a hold must not depend on its load. */
export function createSourceAges(parts: {
  readonly server: PrometheusServer;
  readonly scrapeIntervalSeconds: number;
  readonly clock: Clock;
  readonly onFault?: ((error: unknown) => void) | undefined;
}): SourceAges {
  const { server, scrapeIntervalSeconds, clock, onFault } = parts;
  const history = createHistoryWatch(clock, { name: 'the source', scrapeIntervalSeconds });
  let underWay: { isSent: boolean; readonly age: Promise<SourceAge> } | null = null;
  let next: Promise<SourceAge> | null = null;

  const readNow = async (signal: AbortSignal): Promise<SourceAge> => {
    const options = { timeoutMs: TIMEOUT_MS, signal };
    const startTime = await server.startTime(options);
    if (startTime !== null) {
      history.startKnown();
      return { startTime, history: KEPT };
    }
    const [answer, stores] = await Promise.all([
      server.query(history.query(), options),
      server.stores?.(options) ?? null,
    ]);
    return { startTime, history: history.learn(answer, stores) };
  };

  const begin = (signal: AbortSignal): Promise<SourceAge> => {
    // Callers in the same turn of the event loop share the read: it is sent after all of them have called.
    const reading = {
      isSent: false,
      age: Promise.resolve().then(async () => {
        reading.isSent = true;
        try {
          return await readNow(signal);
        } catch (error) {
          onFault?.(error);
          return UNREAD_AGE;
        } finally {
          underWay = null;
        }
      }),
    };
    underWay = reading;
    return reading.age;
  };

  return {
    read: (signal) => {
      if (underWay === null) return next ?? begin(signal);
      if (!underWay.isSent) return underWay.age;
      next ??= underWay.age
        .then(() => sleep(clock, APART_MS, signal))
        .then(() => {
          next = null;
          return begin(signal);
        });
      return next;
    },
  };
}
