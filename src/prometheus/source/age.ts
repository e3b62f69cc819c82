import { type Clock, sleep } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';
import type { Answer } from '../answers/answer.js';
import type { PrometheusServer } from '../client/client.js';
import { createHistoryWatch, type HistoryState, KEPT } from './history-watch.js';
import { lateAfterSeconds } from './judge-ages.js';

export interface SourceAge {
  readonly startTime: Instant | null;
  readonly history: HistoryState;
  /** The name of the server; unset: the data source has only one server. */
  readonly name?: string | undefined;
}

export const UNKNOWN_AGE: SourceAge = { startTime: null, history: KEPT };

/** Returns a key for the server that sent an answer. It is unique among the servers of all data sources. */
export function ageKey(source: string, answer: Answer | undefined): string {
  const urlIndex = urlIndexOf(answer);
  return urlIndex === undefined ? source : `${urlIndex} ${source}`;
}

export function urlIndexOf(answer: Answer | undefined): number | undefined {
  return answer === undefined || answer.class === 'failed' ? undefined : answer.urlIndex;
}

export interface SourceAges {
  /**
   * Reads the age of a server with a request that is sent after the call, so that the age applies to every answer
   * received before the call. A server could have been emptied and restarted between an earlier request and the answer.
   * `urlIndex`: the server whose age is read; default: returns the worst age of all servers. Never rejects.
   */
  readonly read: (signal: AbortSignal, urlIndex?: number) => Promise<SourceAge>;
}

const TIMEOUT_MS = 2000;

/** Minimum interval between two reads. Callers in between share the next read. */
const APART_MS = 100;

/**
 * If the source does not answer for longer than this, a gap is always assumed: it may have lost data or missed scrapes,
 * even if its start time is old. For example, after a network partition, a rate has a quarter of its value at the
 * second scrape.
 */
const LONGEST_SILENCE_SECONDS = 60;

/** A silence of fewer sync periods is not a gap, so that a long sync period alone does not count as one. */
const LONGEST_SILENCE_PERIODS = 1.5;

/**
 * Returns the seconds without an answer after which a gap is assumed: two scrape intervals and a margin, but at most 60
 * s. The result is at least 1.5 sync periods.
 */
export function longestSilenceSeconds(periodSeconds: number, scrapeIntervalSeconds = Infinity): number {
  const silence = Math.min(LONGEST_SILENCE_SECONDS, lateAfterSeconds(scrapeIntervalSeconds));
  return Math.max(silence, LONGEST_SILENCE_PERIODS * periodSeconds);
}

interface AgeParts {
  readonly scrapeIntervalSeconds: number;
  readonly clock: Clock;
  readonly onFault?: ((error: unknown) => void) | undefined;
}

/**
 * Reads the age of each server separately, because servers start and lose data independently. The requests do not wait
 * in the queue of the source, because a hold must not depend on the load of the queue, and because they are few.
 */
export function createSourceAges({
  servers,
  ...parts
}: AgeParts & { readonly servers: readonly PrometheusServer[] }): SourceAges {
  const readers = servers.map((server) => createServerAge(server, parts));
  return {
    read: async (signal, urlIndex) => {
      const some = urlIndex === undefined ? readers : readers.slice(urlIndex, urlIndex + 1);
      const ages = await Promise.all(some.map((read) => read(signal)));
      return ages.reduce(worseOf, ages[0] ?? UNKNOWN_AGE);
    },
  };
}

function worseOf(one: SourceAge, other: SourceAge): SourceAge {
  if (one === other) return one;
  const [younger] = [one, other].toSorted((a, b) => (b.startTime ?? 0) - (a.startTime ?? 0));
  const [worse] = [one, other].toSorted((a, b) => rankOf(b.history) - rankOf(a.history));
  return { ...younger, startTime: younger?.startTime ?? null, history: worse?.history ?? KEPT };
}

/** Returns a rank for a history: the longer it blocks scale-down, the higher the rank. */
function rankOf({ state, loss }: HistoryState): number {
  if (state === 'lost') return Infinity;
  return loss?.at ?? (state === 'unknown' ? 1 : 0);
}

/** Returns a function that reads the age of a server when it is called. The function never rejects. */
function createServerAge(
  server: PrometheusServer,
  { scrapeIntervalSeconds, clock, onFault }: AgeParts,
): (signal: AbortSignal) => Promise<SourceAge> {
  const { name } = server;
  const history = createHistoryWatch(clock, { name, scrapeIntervalSeconds });
  let underWay: { isSent: boolean; readonly age: Promise<SourceAge> } | null = null;
  let next: Promise<SourceAge> | null = null;

  const readNow = async (signal: AbortSignal): Promise<SourceAge> => {
    const options = { timeoutMs: TIMEOUT_MS, signal };
    const startTime = await server.startTime(options);
    if (startTime !== null) {
      history.startKnown();
      return { startTime, history: KEPT, name };
    }
    const [answer, stores] = await Promise.all([
      server.query(history.query(), options),
      server.stores?.(options) ?? null,
    ]);
    return { startTime, history: history.learn(answer, stores), name };
  };

  const begin = (signal: AbortSignal): Promise<SourceAge> => {
    // The request is sent in a microtask, so that all callers in the same event-loop iteration share it.
    const reading = {
      isSent: false,
      age: Promise.resolve().then(async () => {
        reading.isSent = true;
        try {
          return await readNow(signal);
        } catch (error) {
          onFault?.(error);
          return { startTime: null, history: history.unread(), name };
        } finally {
          underWay = null;
        }
      }),
    };
    underWay = reading;
    return reading.age;
  };

  return (signal) => {
    if (underWay === null) return next ?? begin(signal);
    if (!underWay.isSent) return underWay.age;
    next ??= underWay.age
      .then(() => sleep(clock, APART_MS, signal))
      .then(() => {
        next = null;
        return begin(signal);
      });
    return next;
  };
}
