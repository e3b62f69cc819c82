import { type Clock, sleep } from '../units/clock.js';
import { addSeconds, type Instant } from '../units/time.js';
import type { Answer } from './answers/answer.js';
import type { AskOptions, QueryQueue } from './query-queue.js';

export interface SourceAge {
  readonly startTime: Instant | null;
  /** Used if the start time is unknown. */
  readonly history: HistoryState;
}

/** `lost`: earlier data has disappeared. `unknown`: the source no longer answers the query for earlier data. */
export type HistoryState =
  | { readonly state: 'kept'; readonly loss: Loss | null }
  | { readonly state: 'lost'; readonly loss: Loss }
  | { readonly state: 'unknown'; readonly loss: Loss | null; readonly why: string };

interface Loss {
  /** When the loss was detected. The server started before that time. */
  readonly at: Instant;
  /** A clause without a subject, for the reason of the recovery hold. */
  readonly why: string;
}

export const KEPT: HistoryState = { state: 'kept', loss: null };

export const UNKNOWN_AGE: SourceAge = { startTime: null, history: KEPT };

export interface SourceAges {
  /**
   * Reads the age after this call, so that it applies to every answer received before the call: between an earlier read
   * and an answer, the server may have been killed, emptied and restarted. `periodSeconds`: sync period of the due
   * scalers. Never rejects.
   */
  readonly read: (options: AgeOptions) => Promise<SourceAge>;
}

interface AgeOptions {
  readonly periodSeconds: number;
  readonly signal: AbortSignal;
  readonly round: number;
}

const TIMEOUT_SECONDS = 2;

/** Minimum interval between two reads. Callers in between share the next read. */
const APART_MS = 100;

/**
 * Nodes and pods disappear gradually. If less than this share of the targets is left after one period, data was lost.
 */
const LEAST_SHARE_LEFT = 0.5;

/** Data that has been missing for this long was removed on purpose. */
const LONGEST_LOSS_MS = 900_000;

/** A source that has not answered the query for this long never will. That alone must not block scale-down forever. */
const LONGEST_DOUBT_MS = 3_600_000;

/**
 * A longer silence of a source counts as a gap, in which it may have lost its history or scraped nothing. After a long
 * network partition without a restart, a rate is a quarter of its value at the second scrape, although the start time
 * is old.
 */
const LONGEST_SILENCE_SECONDS = 60;

/** A long sync period alone must not count as a gap. */
const LONGEST_SILENCE_PERIODS = 1.5;

/** After a server was emptied, a scraper sends it up to two earlier scrapes from its buffer, at an interval of 30 s. */
const UNSENT_SECONDS = 60;

/** Returns after how many seconds the silence of a source is a gap. */
export function longestSilenceSeconds(periodSeconds: number): number {
  return Math.max(LONGEST_SILENCE_SECONDS, LONGEST_SILENCE_PERIODS * periodSeconds);
}

export function createSourceAges(parts: { readonly queue: QueryQueue; readonly clock: Clock }): SourceAges {
  const { queue, clock } = parts;
  const history = createHistoryWatch(clock);
  let underWay: { isSent: boolean; readonly age: Promise<SourceAge> } | null = null;
  let next: Promise<SourceAge> | null = null;

  const readNow = async ({ signal, periodSeconds, round }: AgeOptions): Promise<SourceAge> => {
    const options: AskOptions = { seconds: TIMEOUT_SECONDS, signal };
    const startTime = await queue.startTime(options);
    if (startTime !== null) {
      history.startKnown();
      return { startTime, history: KEPT };
    }
    const offsetSeconds = history.offsetSeconds(periodSeconds);
    const answer = await queue.ask(`count(up offset ${offsetSeconds}s)`, { ...options, round });
    return { startTime, history: history.learn(answer, offsetSeconds) };
  };

  const begin = (options: AgeOptions): Promise<SourceAge> => {
    // Callers in the same turn of the event loop share the read: it is sent after all of them have called.
    const reading = {
      isSent: false,
      age: Promise.resolve().then(async () => {
        reading.isSent = true;
        try {
          return await readNow(options);
        } finally {
          underWay = null;
        }
      }),
    };
    underWay = reading;
    return reading.age;
  };

  return {
    read: (options) => {
      if (underWay === null) return next ?? begin(options);
      if (!underWay.isSent) return underWay.age;
      next ??= underWay.age
        .then(() => sleep(clock, APART_MS, options.signal))
        .then(() => {
          next = null;
          return begin(options);
        });
      return next;
    },
  };
}

interface HistoryWatch {
  /** How far back the next query must reach to detect a loss since the last answer. */
  readonly offsetSeconds: (periodSeconds: number) => number;
  /** Called when the source has reported its start time, which proves that it has its data. */
  readonly startKnown: () => void;
  readonly learn: (answer: Answer, offsetSeconds: number) => HistoryState;
}

/**
 * Compares the number of targets in the past that a source knows now with the number that it knew in the previous
 * round.
 */
function createHistoryWatch(clock: Clock): HistoryWatch {
  let known: { readonly count: number; readonly atMs: number } | null = null;
  /** Time of the last conclusive answer; null: none, or none is expected anymore. */
  let certainMs: number | null = null;
  /** Time of the last read before the data disappeared; null: it has not disappeared. */
  let goneSinceMs: number | null = null;
  let readMs: number | null = null;
  const losses = createLossMemory(clock);

  const isRecent = (ms: number | null): ms is number =>
    ms !== null && clock.monotonicMs() - ms <= LONGEST_DOUBT_MS;
  const kept = (): HistoryState => ({ state: 'kept', loss: losses.last() });

  const learnCount = (count: number | null, previousMs: number, askedMs: number): HistoryState => {
    const nowMs = clock.monotonicMs();
    const before = known !== null && isRecent(known.atMs) ? known.count : null;
    if (count === null || (count === 0 && before === null)) {
      if (!isRecent(certainMs)) return kept();
      const why = 'it is unknown whether the source has lost data';
      return { state: 'unknown', loss: losses.last(), why };
    }
    goneSinceMs = count > 0 ? null : (goneSinceMs ?? previousMs);
    if (goneSinceMs !== null && nowMs - goneSinceMs > LONGEST_LOSS_MS) {
      known = null;
      certainMs = null;
      return kept();
    }
    certainMs = nowMs;
    if (count > 0) known = { count, atMs: nowMs };
    if (before !== null && count < before * LEAST_SHARE_LEFT) {
      const why = `the source has lost earlier data (${count} of ${before} targets are left)`;
      return { state: 'lost', loss: losses.found(askedMs, why) };
    }
    losses.kept(askedMs);
    return kept();
  };

  return {
    offsetSeconds: (periodSeconds) => {
      const silentMs = isRecent(certainMs) ? clock.monotonicMs() - certainMs : 0;
      return Math.ceil(Math.max(longestSilenceSeconds(periodSeconds), silentMs / 1000) + UNSENT_SECONDS);
    },
    startKnown: () => {
      certainMs = readMs = clock.monotonicMs();
      goneSinceMs = null;
    },
    learn: (answer, offsetSeconds) => {
      const nowMs = clock.monotonicMs();
      const previousMs = readMs ?? nowMs;
      readMs = nowMs;
      return learnCount(countOf(answer), previousMs, nowMs - offsetSeconds * 1000);
    },
  };
}

/**
 * Remembers the last loss for scalers that query the source only after their data has returned. Its age is elapsed
 * time, so that setting the wall clock does not change it.
 */
function createLossMemory(clock: Clock): {
  readonly last: () => Loss | null;
  readonly kept: (askedMs: number) => void;
  readonly found: (askedMs: number, why: string) => Loss;
} {
  let loss: { readonly foundMs: number; readonly why: string } | null = null;
  /** The latest time since the loss for which the source has data; null: none. */
  let keptMs: number | null = null;

  const dated = ({ foundMs, why }: { readonly foundMs: number; readonly why: string }): Loss => ({
    at: addSeconds(clock.now(), (foundMs - clock.monotonicMs()) / 1000),
    why,
  });

  return {
    last: () => (loss === null ? null : dated(loss)),
    kept: (askedMs) => (keptMs = Math.max(keptMs ?? askedMs, askedMs)),
    found: (askedMs, why) => {
      // A time without data before a time with data is in the gap of the same loss.
      if (loss === null || (keptMs !== null && askedMs > keptMs)) {
        loss = { foundMs: clock.monotonicMs(), why };
        keptMs = null;
      }
      return dated(loss);
    },
  };
}

/** Returns 0 without series; null if the number is unknown. */
function countOf(answer: Answer): number | null {
  if (answer.class === 'missing') return 0;
  if (answer.class !== 'value') return null;
  const value = answer.series[0]?.value ?? 0;
  return Number.isFinite(value) ? value : null;
}
