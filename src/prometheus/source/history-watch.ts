import type { Clock } from '../../units/clock.js';
import { addSeconds, type Instant } from '../../units/time.js';
import type { Answer } from '../answers/answer.js';
import { isServerFailure } from '../../units/failure.js';
import { labelOf } from '../answers/columns.js';
import type { Store } from '../client/engine.js';

/** `lost`: data that the server had is missing. `unknown`: the server no longer answers the query for earlier data. */
export type HistoryState =
  | { readonly state: 'kept'; readonly loss: Loss | null }
  | { readonly state: 'lost'; readonly loss: Loss }
  | { readonly state: 'unknown'; readonly loss: Loss | null; readonly why: string };

interface Loss {
  /** The time at which the loss was detected. */
  readonly at: Instant;
  /** A clause with subject and verb that explains the loss, for the reason of the recovery hold. */
  readonly why: string;
}

export const KEPT: HistoryState = { state: 'kept', loss: null };

/** Detects whether a server has lost all or a part of its data. */
export interface HistoryWatch {
  /** Called if the server has reported its start time, which alone shows whether it has lost data. */
  readonly startKnown: () => void;
  /** Returns the query whose answer is passed to the next call of `learn`. */
  readonly query: () => string;
  /** `stores`: null if the server does not list them. */
  readonly learn: (answer: Answer, stores: readonly Store[] | null) => HistoryState;
  /** Returns the state if an internal error prevented the comparison. */
  readonly unread: () => HistoryState;
}

/** The server has lost data if at least one in this many targets is missing. */
const TENTH = 10;

/** Smaller losses within this time are added up. Data that is missing for longer counts as removed on purpose. */
const LONGEST_LOSS_MS = 900_000;

/**
 * If the server has not answered the query for this long, its history no longer counts as unknown. Otherwise a server
 * that never answers would block scale-down forever.
 */
const LONGEST_DOUBT_MS = 3_600_000;

/**
 * A server that was emptied may still receive samples up to this old: its scraper sends up to two scrapes from its
 * buffer, at an interval of 30 s.
 */
const UNSENT_SECONDS = 60;

/**
 * Prometheus writes the staleness marker of a target 1.1 scrape intervals after the time of the marker. The number of
 * targets at a more recent time would change with each scale-in. Source: prometheus scrape/scrape.go,
 * endOfRunStaleness.
 */
const LATE_MARKER_SCRAPES = 1.5;
const LEAST_LATENESS_SECONDS = 60;

/** Label that marks the count for the earlier time in an answer. */
const AT = 'at';

/** The number of targets at a past time, as the server last reported it. */
interface Reference {
  readonly secondsSinceEpoch: number;
  readonly count: number;
  readonly readMs: number;
}

/**
 * Detects a loss by comparing two answers of the same server: the number of targets at a past time, as reported in the
 * last round and now. A scale-in or a removed job does not change the number for a past time, but a store that was
 * emptied or is no longer queried does. `name`: the name of the server; undefined: the data source has only one server.
 */
export function createHistoryWatch(
  clock: Clock,
  given: { readonly name: string | undefined; readonly scrapeIntervalSeconds: number },
): HistoryWatch {
  const { name = 'the data source', scrapeIntervalSeconds } = given;
  const lateSeconds = Math.max(LEAST_LATENESS_SECONDS, LATE_MARKER_SCRAPES * scrapeIntervalSeconds);
  const offsetSeconds = Math.ceil(UNSENT_SECONDS + lateSeconds);
  let reference: Reference | null = null;
  /**
   * Whether the server supports the `@` modifier. Otherwise the query uses an offset, whose time is off by the
   * difference between the latencies of two requests.
   */
  let knowsAt = true;
  /**
   * Time of the last answer that showed whether data was lost; null: there was none, or no further answer is expected.
   */
  let certainMs: number | null = null;
  /** How many targets there were before a loss, and since when some have been missing; null: none are missing. */
  let missing: { readonly before: number; readonly sinceMs: number } | null = null;
  /** The changes of the last 15 minutes. `share`: the number of targets after a change divided by the number before. */
  let changes: readonly { readonly atMs: number; readonly share: number }[] = [];
  let readMs: number | null = null;
  let firstReadMs: number | null = null;
  let lastLoss: { readonly foundMs: number; readonly why: string } | null = null;

  const addLoss = (why: string): void => {
    lastLoss = { foundMs: clock.monotonicMs(), why };
  };
  /** Derives the time of the loss from the elapsed monotonic time, so that setting the wall clock has no effect. */
  const loss = (): Loss | null =>
    lastLoss && {
      at: addSeconds(clock.now(), (lastLoss.foundMs - clock.monotonicMs()) / 1000),
      why: lastLoss.why,
    };
  const lost = createStoreWatch(clock, (store) => addLoss(`the store ${store} of ${name} is gone`));

  const isRecent = (ms: number | null): ms is number =>
    ms !== null && clock.monotonicMs() - ms <= LONGEST_DOUBT_MS;

  /**
   * Adds a change and returns the share of the targets that is left after all recent changes. A gain only compensates
   * an earlier loss, so the share is at most 1.
   */
  const shareLeft = (share: number): number => {
    const nowMs = clock.monotonicMs();
    changes = [...changes.filter(({ atMs }) => nowMs - atMs <= LONGEST_LOSS_MS), { atMs: nowMs, share }];
    return changes.reduce((left, change) => Math.min(1, left * change.share), 1);
  };

  const compare = (before: number, again: number, previousMs: number): void => {
    if (again === before || before === 0) return;
    const left = shareLeft(again / before);
    if (again > before || !isTenthGone(left)) return;
    const all = left === 0 ? before : Math.round(again / left);
    addLoss(`${name} has lost earlier data (${again} of ${all} targets are left)`);
    changes = [];
    missing ??= { before: all, sinceMs: previousMs };
  };

  const learnCounts = ({ earlier, recent, at }: Counts, previousMs: number): void => {
    const nowMs = clock.monotonicMs();
    if (reference !== null) compare(reference.count, earlier, previousMs);
    if (recent > 0 && at !== null)
      reference = { secondsSinceEpoch: at / 1000 - offsetSeconds, count: recent, readMs: nowMs };
    else if (reference !== null) reference = { ...reference, count: earlier };
    if (missing === null) return;
    if (!isTenthGone(recent / missing.before)) missing = null;
    else if (!areMissing()) {
      missing = null;
      if (recent > 0) return;
      reference = null;
      certainMs = null;
    }
  };

  const areMissing = (): boolean =>
    missing !== null && clock.monotonicMs() - missing.sinceMs <= LONGEST_LOSS_MS;

  const stateOf = (isCertain: boolean): HistoryState => {
    const last = loss();
    if (last !== null && (areMissing() || lost.areMissing())) return { state: 'lost', loss: last };
    return isCertain || !isRecent(certainMs) ? { state: 'kept', loss: last } : unread();
  };

  const unread = (): HistoryState => {
    return { state: 'unknown', loss: loss(), why: `it is unknown whether ${name} has lost data` };
  };

  return {
    startKnown: () => {
      certainMs = readMs = clock.monotonicMs();
      missing = null;
    },
    unread,
    query: () => {
      if (!isRecent(reference?.readMs ?? null)) reference = null;
      const recent = `count(up offset ${offsetSeconds}s)`;
      if (reference === null) return recent;
      const { secondsSinceEpoch, readMs: askedMs } = reference;
      const ageSeconds = Math.round((clock.monotonicMs() - askedMs) / 1000 + offsetSeconds);
      const time = knowsAt ? `@ ${secondsSinceEpoch.toFixed(3)}` : `offset ${ageSeconds}s`;
      return `label_replace(count(up ${time}), "${AT}", "before", "", "") or ${recent}`;
    },
    learn: (answer, stores) => {
      const nowMs = clock.monotonicMs();
      const previousMs = readMs ?? nowMs;
      readMs = nowMs;
      firstReadMs ??= nowMs;
      if (stores !== null) lost.learn(stores);
      if (answer.class === 'failed' && answer.reason === 'bad_query') knowsAt = false;
      const counts = countsOf(answer);
      // A failure right after the first answer may mean that the server is restarting while another server answers the
      // queries.
      const isDown = answer.class === 'failed' && isServerFailure(answer.reason);
      if (given.name !== undefined && isDown && isRecent(firstReadMs) && certainMs === null) return unread();
      if (counts === null || (counts.recent === 0 && reference === null)) return stateOf(false);
      certainMs = nowMs;
      learnCounts(counts, previousMs);
      return stateOf(true);
    },
  };
}

function isTenthGone(shareLeft: number): boolean {
  // 1e-9 allows for rounding errors, so that a loss of exactly 1 in 10 targets counts.
  return shareLeft * TENTH <= TENTH - 1 + 1e-9;
}

interface Counts {
  readonly earlier: number;
  readonly recent: number;
  /** When the server evaluated the query; null: unknown. */
  readonly at: Instant | null;
}

/** Returns the counts in an answer. A count without series is 0. Null: the counts are unknown. */
function countsOf(answer: Answer): Counts | null {
  if (answer.class === 'missing') return { earlier: 0, recent: 0, at: null };
  if (answer.class !== 'value') return null;
  const counts = { earlier: 0, recent: 0, at: answer.evaluatedAt };
  for (const one of answer.series) {
    if (!(one.value >= 0 && Number.isFinite(one.value))) return null;
    counts[labelOf(one, AT) === undefined ? 'recent' : 'earlier'] = one.value;
  }
  return counts;
}

/**
 * Detects that a store is no longer queried. Stores are compared by their labels, because a pod that replaces another
 * has a different address. A store that has been missing for 15 minutes counts as removed on purpose.
 */
function createStoreWatch(
  clock: Clock,
  onGone: (store: string) => void,
): { readonly learn: (stores: readonly Store[]) => void; readonly areMissing: () => boolean } {
  const known = new Map<string, { store: string; goneMs: number | null }>();
  const isMissing = ({ goneMs }: { readonly goneMs: number | null }): boolean =>
    goneMs !== null && clock.monotonicMs() - goneMs <= LONGEST_LOSS_MS;

  return {
    learn: (stores) => {
      const queried = new Set<string>();
      const listed = new Set<string>();
      for (const { name, keys, isQueried } of stores) {
        for (const key of keys) {
          listed.add(key);
          if (isQueried) queried.add(key);
          if (isQueried || !known.has(key)) known.set(key, { store: name, goneMs: null });
        }
      }
      for (const [key, entry] of known) {
        if (queried.has(key)) continue;
        if (entry.goneMs === null) {
          entry.goneMs = clock.monotonicMs();
          onGone(entry.store);
        } else if (!isMissing(entry) && !listed.has(key)) known.delete(key);
      }
    },
    areMissing: () => [...known.values()].some(isMissing),
  };
}
