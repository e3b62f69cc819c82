import type { LoadAhead } from '../../decision/forecast/propose-forecast.js';
import {
  FEWEST_SEASONS,
  type MinuteLoads,
  pointsAround,
  seasonOf,
  seasonSeconds,
  seasonTimes,
} from '../../decision/forecast/seasons.js';
import type { LoadHistory } from '../../decision/snapshot/snapshot.js';
import type { Forecast, Scaler } from '../../scaler/spec.js';
import type { Clock } from '../../units/clock.js';
import { RecentMap } from '../../units/recent-map.js';
import { addSeconds, type Instant, multipleBefore } from '../../units/time.js';
import { isServerFailure } from '../../units/failure.js';
import type { RangeAnswer, RangeSeries } from '../answers/classify.js';
import { type RangeClient, type RangeQuery, untilIdle } from '../client/range-client.js';
import { selectLoad, type TotalLoad } from './total-load.js';

/** Reads the loads of earlier days for the forecasts of a data source. */
export interface LoadHistories {
  /**
   * Returns the known history, which is at most a minute old. In the background, reads parts that are missing or an
   * hour old. Undefined: nothing was read yet.
   */
  readonly read: (asked: AskedHistory, signal: AbortSignal) => LoadHistory | undefined;
  /** Returns the load that the last answers predict for the next hour; null: nothing was read for this scaler. */
  readonly ahead: (scaler: Scaler) => LoadAhead | null;
}

export interface AskedHistory {
  readonly scaler: Scaler;
  readonly forecast: Forecast;
  /** Returns the query for the load; null: the data source has none for the metric. Called at most once a minute. */
  readonly load: () => TotalLoad | null;
  readonly leadSeconds: number;
  readonly now: Instant;
}

/** A history that scalers with the same query may share. */
interface SharedHistory extends Pick<AskedHistory, 'forecast' | 'leadSeconds' | 'now'> {
  readonly load: TotalLoad;
  /** The namespace to which the time of the queries is charged. */
  readonly namespace: string;
}

export interface LoadHistoryParts {
  readonly queryRange: RangeClient['queryRange'];
  /** Whether a query of a round is running or waiting. */
  readonly isBusy: () => boolean;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
  /** Called after each query. `reason`: why the query failed; null: it was answered. */
  readonly onQuery: (reason: string | null) => void;
}

const HOUR_MS = 3_600_000;
const STEP_SECONDS = 60;
const STEP_MS = STEP_SECONDS * 1000;
/** How long an answer is used. A new one is read every hour, so an outage of an hour has no effect. */
const SERVED_SECONDS = 7200;
/**
 * The lead time of an answer is rounded up to a multiple of this, so that the history is not read again whenever the
 * lead time grows a little.
 */
const LEAD_STEP_SECONDS = 900;
const MAX_GAP_SECONDS = 300;
const TIMEOUT_MS = 10_000;
const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 900_000;
/** How long the highest load is used: over a lookback of days, it hardly changes within this time. */
const HIGHEST_KEPT_MS = 6 * HOUR_MS;
const HIGHEST_STEP_SECONDS = 900;
/** A larger load counts as invalid, because multiples of it might not be finite. */
const LARGEST_LOAD = 1e15;
/** How long unused histories stay in memory: longer than the longest sync period. */
const KEPT_SECONDS = 7200;
/** A history is not read if no decision has used it for this time. */
const UNUSED_MS = 7_200_000;
/** The minutes that `ahead` covers. Answers are read hourly and cover two hours more than a decision needs. */
const MINUTES_AHEAD = 60;

interface Loads extends MinuteLoads {
  readonly highest: number;
  readonly readMs: number;
}

/** A part of a history that one query reads: the index of a season (0 is the latest), or the highest load. */
type Part = number | 'highest';

interface Entry {
  asked: SharedHistory;
  usedMs: number;
  readonly seasons: Map<number, Loads>;
  highest: { readonly load: number; readonly atMs: number } | null;
  /** The hour whose reading has started, and the parts that are still to be read in this hour. */
  hour: number | null;
  left: Part[];
  /** The lead time in seconds that the answers cover. */
  leadSeconds: number;
  /** Whether each part was read, or has failed, at least once. */
  isRead: boolean;
  failures: number;
  retryMs: number;
  /** Maps a season that could not be read to the reason. */
  readonly whys: Map<Part, string>;
}

/** The last result for a scaler, which is used again within the same minute. */
interface LastHistory {
  readonly minute: number;
  readonly leadSeconds: number;
  readonly history: LoadHistory | undefined;
  /** The history that the scaler uses; null: the data source has no query for the metric. */
  readonly shared: { readonly entry: Entry; readonly asked: SharedHistory } | null;
}

/**
 * Reads each history once an hour. The minute of the hour is derived from the query, so that the load of thousands of
 * queries is spread. Only one query is sent at a time, over a separate connection, and only while no query of a round
 * is running. The namespace whose queries have taken the fewest seconds comes first. Equal queries are sent once.
 */
export function createLoadHistories(parts: LoadHistoryParts): LoadHistories {
  const { queryRange, clock, onFault, onQuery } = parts;
  const entries = new RecentMap<string, Entry>(KEPT_SECONDS);
  const lastHistories = new RecentMap<Scaler, LastHistory>(KEPT_SECONDS);
  const waiting = new Set<Entry>();
  let usedSeconds = new Map<string, number>();
  let usedSinceMs = clock.monotonicMs();
  let isWorking = false;

  const next = (): Entry | null => {
    let first: Entry | null = null;
    let fewest = Infinity;
    for (const entry of waiting) {
      const seconds = usedSeconds.get(entry.asked.namespace) ?? 0;
      if (seconds < fewest) [first, fewest] = [entry, seconds];
    }
    return first;
  };

  const readNext = async (entry: Entry, signal: AbortSignal): Promise<void> => {
    const [part] = entry.left;
    const startMs = clock.monotonicMs();
    if (part === undefined || startMs - entry.usedMs > UNUSED_MS) {
      waiting.delete(entry);
      return;
    }
    const { asked } = entry;
    const { namespace } = asked;
    const range = rangeOf(entry, part, clock.now());
    const answer = await queryRange(range, { timeoutMs: TIMEOUT_MS, signal });
    const nowMs = clock.monotonicMs();
    usedSeconds.set(namespace, (usedSeconds.get(namespace) ?? 0) + (nowMs - startMs) / 1000);
    if (signal.aborted) return;
    onQuery(answer.class === 'failed' ? answer.reason : null);
    learn(entry, { part, range, answer, load: asked.load, nowMs });
    if (entry.left.length === 0 || nowMs < entry.retryMs) waiting.delete(entry);
  };

  const work = async (signal: AbortSignal): Promise<void> => {
    const nowMs = clock.monotonicMs();
    if (nowMs - usedSinceMs > HOUR_MS) {
      usedSeconds = new Map();
      usedSinceMs = nowMs;
    }
    for (let entry = next(); entry !== null && (await untilIdle(parts, signal)); entry = next())
      await readNext(entry, signal);
  };

  const begin = (signal: AbortSignal): void => {
    if (isWorking) return;
    isWorking = true;
    work(signal)
      .catch((error: unknown) => {
        waiting.clear();
        onFault(error);
      })
      .finally(() => {
        // Parts that are still to be read are requested again by the next decision.
        waiting.clear();
        isWorking = false;
      });
  };

  const readShared = (asked: SharedHistory, signal: AbortSignal): Entry => {
    const { load, forecast, now } = asked;
    const key = JSON.stringify([load, forecast.timeZone, forecast.lookbackDays]);
    let entry = entries.get(key, now);
    if (entry === undefined) {
      entry = newEntry(asked);
      entries.set(key, entry, now);
    }
    const nowMs = clock.monotonicMs();
    entry.usedMs = nowMs;
    startHour(entry, asked, { hour: Math.floor((now + offsetOf(key, HOUR_MS)) / HOUR_MS), nowMs });
    if (entry.left.length > 0 && nowMs >= entry.retryMs) {
      waiting.add(entry);
      begin(signal);
    }
    return entry;
  };

  return {
    read: (asked, signal) => {
      const { scaler, now, leadSeconds } = asked;
      const minute = Math.floor((now + offsetOf(scaler.key, STEP_MS)) / STEP_MS);
      const last = lastHistories.get(scaler, now);
      if (last?.minute === minute && last.leadSeconds === leadSeconds) return last.history;
      const load = asked.load();
      const given = load === null ? null : { ...asked, load, namespace: scaler.namespace };
      const shared = given === null ? null : { entry: readShared(given, signal), asked: given };
      const history = shared === null ? undefined : historyOf(shared, clock.monotonicMs());
      lastHistories.set(scaler, { minute, leadSeconds, history, shared }, now);
      return history;
    },
    ahead: (scaler) => {
      const { history, shared } = lastHistories.get(scaler, clock.now()) ?? {};
      if (history === undefined || shared == null) return null;
      return { history, later: laterSeasons(shared, clock.monotonicMs()) };
    },
  };
}

function newEntry(asked: SharedHistory): Entry {
  return {
    asked,
    usedMs: 0,
    seasons: new Map(),
    highest: null,
    hour: null,
    left: [],
    leadSeconds: 0,
    isRead: false,
    failures: 0,
    retryMs: -Infinity,
    whys: new Map(),
  };
}

/** Returns a number from 0 to below `ms` that depends only on the key. */
function offsetOf(key: string, ms: number): number {
  let hash = 0;
  for (let index = 0; index < key.length; index += 1) hash = Math.imul(hash, 31) + key.charCodeAt(index);
  return (hash >>> 0) % ms;
}

function startHour(
  entry: Entry,
  asked: SharedHistory,
  { hour, nowMs }: { readonly hour: number; readonly nowMs: number },
): void {
  entry.asked = asked;
  if (hour === entry.hour && asked.leadSeconds <= entry.leadSeconds) return;
  entry.hour = hour;
  entry.leadSeconds = Math.max(
    entry.leadSeconds,
    Math.ceil(asked.leadSeconds / LEAD_STEP_SECONDS) * LEAD_STEP_SECONDS,
  );
  entry.failures = 0;
  entry.retryMs = -Infinity;
  const isHighestKept = entry.highest !== null && nowMs - entry.highest.atMs < HIGHEST_KEPT_MS;
  const seasons = [...seasonTimes(asked.now, asked.forecast).keys()];
  entry.left = isHighestKept ? seasons : [...seasons, 'highest'];
}

function rangeOf({ asked: { load, forecast }, leadSeconds }: Entry, part: Part, now: Instant): RangeQuery {
  if (part === 'highest') {
    const over = `${forecast.lookbackDays}d:${HIGHEST_STEP_SECONDS}s`;
    const at = multipleBefore(now, STEP_SECONDS);
    return {
      query: `max_over_time((${load.query})[${over}])`,
      start: at,
      end: at,
      stepSeconds: STEP_SECONDS,
    };
  }
  const at = seasonTimes(now, forecast)[part] ?? now;
  const { from, to } = seasonSeconds(leadSeconds);
  const start = multipleBefore(addSeconds(at, from), STEP_SECONDS);
  const end = multipleBefore(addSeconds(at, to + SERVED_SECONDS + STEP_SECONDS), STEP_SECONDS);
  return { query: load.query, start, end, stepSeconds: STEP_SECONDS };
}

interface Learned {
  readonly part: Part;
  readonly range: RangeQuery;
  readonly answer: RangeAnswer;
  readonly load: TotalLoad;
  readonly nowMs: number;
}

/** Stores the load of an answer. If the answer cannot be used, keeps the load of the last usable answer. */
function learn(entry: Entry, { part, range, answer, load, nowMs }: Learned): void {
  entry.left = entry.left.filter((one) => one !== part);
  const isRefused = answer.class === 'failed' && isServerFailure(answer.reason);
  if (isRefused) {
    // The part is read again after all other parts, because the server may fail for this part only.
    entry.left.push(part);
    entry.failures += 1;
    entry.retryMs = nowMs + Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (entry.failures - 1));
  } else entry.failures = 0;
  entry.isRead ||= entry.left.length === 0 || entry.failures > entry.left.length;
  const loads =
    answer.class === 'failed' ? answer.message : readLoads(selectLoad(load, answer.series), { range, nowMs });
  if (part === 'highest') {
    // If the highest load is unknown, the highest load of the seasons is used instead.
    if (typeof loads !== 'string' && loads.highest > 0) entry.highest = { load: loads.highest, atMs: nowMs };
  } else if (typeof loads === 'string') entry.whys.set(part, loads);
  else {
    entry.whys.delete(part);
    entry.seasons.set(part, loads);
  }
}

/**
 * Returns the sum of the series for each minute, or the reason why the answer is invalid. If no series has a value for
 * a minute, the sum is NaN.
 */
function readLoads(
  series: readonly RangeSeries[],
  { range: { start, end }, nowMs }: Pick<Learned, 'range' | 'nowMs'>,
): Loads | string {
  const values = new Float64Array(Math.floor((end - start) / STEP_MS) + 1).fill(NaN);
  let highest = 0;
  if (new Set(series.map(({ labels }) => JSON.stringify(labels))).size < series.length)
    return 'the query for the load of earlier days returned two series with the same labels';
  for (const { points } of series)
    for (const [atMs, value] of points) {
      if (Number.isNaN(value)) continue;
      const index = (atMs - start) / STEP_MS;
      if (!Number.isInteger(index) || index < 0 || index >= values.length)
        return 'the server returned loads of earlier days for other times than requested';
      if (value < 0) return `a load of an earlier day is negative: ${value}`;
      const known = values[index] ?? NaN;
      const sum = Number.isNaN(known) ? value : known + value;
      if (sum > LARGEST_LOAD) return `a load of an earlier day is too large: ${sum}`;
      values[index] = sum;
      highest = Math.max(highest, sum);
    }
  return { start, values, highest, readMs: nowMs };
}

type Shared = NonNullable<LastHistory['shared']>;

function historyOf({ entry, asked }: Shared, nowMs: number): LoadHistory | undefined {
  const { forecast, leadSeconds, now } = asked;
  const [why] = entry.whys.values();
  if (!entry.isRead) return why === undefined ? undefined : silent(why, leadSeconds);
  const seasons = seasonsAt(entry, seasonTimes(now, forecast), { leadSeconds, nowMs });
  // Reports why queries failed, which explains more than the number of known days.
  if (seasons.length < FEWEST_SEASONS && why !== undefined) return silent(why, leadSeconds);
  const seen = Array.from(entry.seasons.values(), (loads) => loads.highest);
  return {
    leadSeconds,
    highest: Math.max(entry.highest?.load ?? 0, ...seen),
    seasons,
    unusable: null,
  };
}

function seasonsAt(
  entry: Entry,
  times: readonly Instant[],
  { leadSeconds, nowMs }: { readonly leadSeconds: number; readonly nowMs: number },
): LoadHistory['seasons'] {
  const given = { leadSeconds, maxGapSeconds: MAX_GAP_SECONDS };
  return times.flatMap((at, part) => {
    const loads = entry.seasons.get(part);
    const isOld = loads !== undefined && nowMs - loads.readMs > SERVED_SECONDS * 1000;
    return loads === undefined || isOld
      ? []
      : (seasonOf(at, pointsAround(loads, at, leadSeconds), given) ?? []);
  });
}

function laterSeasons({ entry, asked }: Shared, nowMs: number): LoadAhead['later'] {
  const { now, forecast, leadSeconds } = asked;
  const times = seasonTimes(now, forecast);
  return Array.from({ length: MINUTES_AHEAD }, (_, minute) => {
    const at = addSeconds(now, (minute + 1) * STEP_SECONDS);
    const seconds = (minute + 1) * STEP_SECONDS - leadSeconds;
    const later = times.map((time) => addSeconds(time, seconds));
    return { at, seconds, seasons: seasonsAt(entry, later, { leadSeconds, nowMs }) };
  });
}

function silent(why: string, leadSeconds: number): LoadHistory {
  const unusable = `the load of earlier days cannot be read: ${why}`;
  return { leadSeconds, highest: 0, seasons: [], unusable };
}
