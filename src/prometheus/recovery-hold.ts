import { judgeSample } from '../decision/snapshot/judge-sample.js';
import { errorKindOf, type Sample, metricKey } from '../decision/snapshot/snapshot.js';
import { largestKnownRangeSeconds, largestRangeSeconds } from '../promql/ranges.js';
import type { Answer } from './answers/answer.js';
import { isOfResource, type MetricSpec, type Scaler } from '../scaler/spec.js';
import { addSeconds, formatInstant, type Instant, latest, secondsBetween } from '../units/time.js';
import { resourceWindowSeconds } from './data-source/resource-queries.js';
import { metricChecks, metricQueryText } from './queries/compile-queries.js';
import { type HistoryState, KEPT } from './source/history-watch.js';
import { ageKey, longestSilenceSeconds, type SourceAge } from './source/age.js';
import type { SourceConfig } from './data-source/source-config.js';

/** Since when a metric has returned values without a gap. */
export interface MetricHold {
  /** The first value after the last gap; null: no value yet. */
  readonly valuesSince: Instant | null;
  /** The values may be too low until then. */
  readonly until: Instant;
  /** The last answer that was not a failure; null: none yet. */
  readonly lastAnswerAt: Instant | null;
  readonly cause: string;
}

export interface HoldInput {
  readonly now: Instant;
  /** The result after `onMissing` and `onNaN` were applied. */
  readonly outcome: SampleOutcome;
  /** Start time of the server that answered; null: unknown. */
  readonly startTime: Instant | null;
  /** Set if the source has several servers. */
  readonly serverName?: string | undefined;
  /** Default: no loss. */
  readonly history?: HistoryState;
  /** H: how long the metric must return values without a gap. */
  readonly holdSeconds: number;
  /** H after a start without any sign of a gap: see `startSeconds`. Default: `holdSeconds`. */
  readonly startSeconds?: number;
  readonly periodSeconds: number;
  /** Interval of the data source. Default: unknown. */
  readonly scrapeIntervalSeconds?: number | undefined;
}

/** `failed`: there was no answer. `broken`: the answer had no reliable value. */
type SampleOutcome =
  | { readonly kind: 'value' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'broken'; readonly why: string };

/** The cause as long as no answer was a gap. */
const PROCESS_START = 'no earlier values are known';
const FAILED_AT_START = 'no earlier values are known, and the first query failed';

/**
 * Returns the hold of one metric after another round. A failed query changes nothing: the next answer shows whether
 * data was lost, by the start time of the source and the duration of its silence. Source: algorithm.md, section 4.
 */
export function advanceHold(previous: MetricHold | null, input: HoldInput): MetricHold {
  const { now, outcome, holdSeconds, periodSeconds } = input;
  const atLeastUntil = addSeconds(now, holdSeconds);
  const before: MetricHold = previous ?? {
    valuesSince: null,
    until: atLeastUntil,
    lastAnswerAt: null,
    cause: PROCESS_START,
  };
  if (outcome.kind === 'failed') {
    if (before.valuesSince !== null) return before;
    const cause = before.cause === PROCESS_START ? FAILED_AT_START : before.cause;
    return { ...before, until: latest(before.until, atLeastUntil), cause };
  }
  if (outcome.kind === 'broken') {
    return { valuesSince: null, until: atLeastUntil, lastAnswerAt: now, cause: outcome.why };
  }
  const youth = youthOf(input);
  if (youth !== null) {
    // While the server is younger than H, each answer counts as a gap. After that the metric must return
    // values for another H.
    const until = latest(addSeconds(youth.began, 2 * holdSeconds), atLeastUntil);
    return { valuesSince: null, until, lastAnswerAt: now, cause: youth.cause };
  }
  const silence = before.lastAnswerAt === null ? 0 : secondsBetween(before.lastAnswerAt, now);
  if (silence > longestSilenceSeconds(periodSeconds, input.scrapeIntervalSeconds)) {
    const cause = `the source did not answer for ${Math.round(silence)} s`;
    return { valuesSince: now, until: atLeastUntil, lastAnswerAt: now, cause };
  }
  // If the clock was set back, `valuesSince` could be in the future.
  const valuesSince = before.valuesSince === null || before.valuesSince > now ? now : before.valuesSince;
  const until = addSeconds(valuesSince, secondsToProve(input, before.cause));
  const { history = KEPT } = input;
  if (history.state !== 'unknown' || until > now)
    return { valuesSince, until, lastAnswerAt: now, cause: before.cause };
  // Prevents scale-down in this round only. If it counted as a gap, a source that fails occasionally would
  // block scale-down forever.
  return { valuesSince, until: addSeconds(now, periodSeconds), lastAnswerAt: now, cause: history.why };
}

/** Without a known start time, a source may have lost its data before the process started. */
function secondsToProve(
  { startTime, holdSeconds, startSeconds = holdSeconds }: HoldInput,
  cause: string,
): number {
  return cause === PROCESS_START && startTime !== null ? startSeconds : holdSeconds;
}

/** Returns the start or the last loss of data of a server, whichever is later; null: older than H, or unknown. */
function youthOf({ now, startTime, serverName, history = KEPT, holdSeconds }: HoldInput): {
  readonly began: Instant;
  readonly cause: string;
} | null {
  const isYoung = (began: Instant): boolean => began > addSeconds(now, -holdSeconds);
  const { loss } = history;
  const isLost = loss !== null && (history.state === 'lost' || isYoung(loss.at));
  const isStarted = startTime !== null && isYoung(startTime);
  if (isStarted && !(isLost && loss.at > startTime)) {
    const server = serverName === undefined ? 'the server' : `the server ${serverName}`;
    return { began: startTime, cause: `${server} started at ${formatInstant(startTime)}` };
  }
  return isLost ? { began: loss.at, cause: loss.why } : null;
}

/**
 * After a start, a gauge must return values for two scrape intervals: targets that have just become reachable are all
 * scraped within the first one.
 */
const SCRAPES_AT_START = 2;

const VALUE: SampleOutcome = { kind: 'value' };

/** Returns how a sample affects the hold. Only a sample that the decision uses as a full value counts as a value. */
export function sampleOutcome(metric: MetricSpec, sample: Sample): SampleOutcome {
  const judged = judgeSample(metric, sample);
  if (judged.form === 'error') {
    const { failure } = judged;
    return errorKindOf(failure) === 'failed' ? { kind: 'failed' } : { kind: 'broken', why: failure.message };
  }
  return judged.partial === null ? VALUE : { kind: 'broken', why: judged.partial };
}

/** The hold of a metric, with its query, so that the query is built and parsed only once. */
export interface HeldMetric {
  readonly metric: MetricSpec;
  /** Metric, source and query. A change of the key starts a new hold. */
  readonly key: string;
  /** The largest range of its queries. */
  readonly rangeSeconds: number;
  /** After this time every series of the query has a new sample, if only the process was restarted. */
  readonly startRangeSeconds: number;
  /** The data source with the window for which the query was compiled. */
  readonly source: SourceConfig | undefined;
  readonly hold: MetricHold;
}

/** In the order of the metrics. */
export type ScalerHolds = readonly HeldMetric[];

export const NO_HOLDS: ScalerHolds = [];

interface ScalerHoldInput {
  readonly scaler: Scaler;
  readonly samples: readonly Sample[];
  /** In the order of the metrics; unset: the source of each has one url. */
  readonly answers?: readonly Answer[];
  /** Maps `ageKey` to the age of a server. Servers that did not answer, or whose age is unknown, are absent. */
  readonly ages: ReadonlyMap<string, SourceAge>;
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly now: Instant;
  readonly maxSeconds: number;
}

/** `state.holdScaleDownUntil` and `holdReason` of the next snapshot, and the holds for the next round. */
interface ScalerHoldResult {
  readonly holds: ScalerHolds;
  readonly holdScaleDownUntil: Instant | null;
  readonly holdReason: string | null;
}

/** Returns the holds of a scaler and the longest of them; null if every metric has returned values for long enough. */
export function advanceHolds(previous: ScalerHolds, input: ScalerHoldInput): ScalerHoldResult {
  const { scaler, now } = input;
  // `map` creates an array of the exact size; `push` would reserve space for 17 elements, for each of 10,000 scalers.
  const holds = scaler.spec.metrics.map((metric, index) => advanceHeld(metric, index, previous, input));
  let longest: HeldMetric | null = null;
  for (const held of holds) {
    if (held.hold.until > now && (longest === null || held.hold.until > longest.hold.until)) longest = held;
  }
  if (longest === null) return { holds, holdScaleDownUntil: null, holdReason: null };
  const { metric, hold } = longest;
  const isStart = hold.cause === PROCESS_START && hold.valuesSince !== null;
  const seconds = isStart ? secondsBetween(hold.valuesSince, hold.until) : boundedHold(longest, input);
  return {
    holds,
    holdScaleDownUntil: hold.until,
    holdReason: `metric "${metric.identity}" must return values for ${seconds} s without a gap: ${hold.cause}`,
  };
}

function advanceHeld(
  metric: MetricSpec,
  index: number,
  previous: ScalerHolds,
  input: ScalerHoldInput,
): HeldMetric {
  const { scaler, samples, answers, ages, now } = input;
  const sample = samples[index];
  if (sample === undefined)
    throw new Error(`no sample for metric ${index} of ${scaler.namespace}/${scaler.name}`);
  const known = previous.find((one) => one.metric === metric);
  const isSame = known !== undefined && known.source === input.sources.get(metric.source);
  const held = isSame ? known : holdOfNew(metric, previous, input);
  const age = ages.get(ageKey(metric.source, answers?.[index]));
  const hold = advanceHold(held.hold, {
    now,
    outcome: sampleOutcome(metric, sample),
    startTime: age?.startTime ?? null,
    serverName: age?.name,
    history: age?.history ?? KEPT,
    holdSeconds: boundedHold(held, input),
    startSeconds: boundHold(held.startRangeSeconds, scaler.spec.syncPeriodSeconds, input.maxSeconds),
    periodSeconds: scaler.spec.syncPeriodSeconds,
    scrapeIntervalSeconds: input.sources.get(metric.source)?.scrapeIntervalSeconds,
  });
  const { key, rangeSeconds, startRangeSeconds, source } = held;
  return { metric, key, rangeSeconds, startRangeSeconds, source, hold };
}

function boundedHold(
  { rangeSeconds }: Pick<HeldMetric, 'rangeSeconds'>,
  { scaler, maxSeconds }: ScalerHoldInput,
): number {
  return boundHold(rangeSeconds, scaler.spec.syncPeriodSeconds, maxSeconds);
}

/** Returns the hold of a metric whose query or window is new; `hold` is null if its query is new. */
function holdOfNew(
  metric: MetricSpec,
  previous: ScalerHolds,
  { scaler, sources, now }: ScalerHoldInput,
): Omit<HeldMetric, 'hold'> & { readonly hold: MetricHold | null } {
  const source = sources.get(metric.source);
  const query = source === undefined ? '' : (metricQueryText(metric, scaler, source) ?? '');
  const { backlog, capacity } = metricChecks(metric, scaler) ?? {};
  const queries = [query, backlog, capacity].filter((text) => text !== undefined);
  const key = `${metricKey(metric)}\n${metric.source}\n${queries.join('\n')}`;
  const window = windowOf(metric, source);
  const rangeSeconds = Math.max(...queries.map(largestRangeSeconds), window);
  const known = previous.find((one) => one.metric === metric) ?? previous.find((one) => one.key === key);
  return {
    metric,
    key,
    rangeSeconds,
    startRangeSeconds: Math.max(
      ...queries.map(largestKnownRangeSeconds),
      window,
      SCRAPES_AT_START * (source?.scrapeIntervalSeconds ?? 0),
    ),
    source,
    hold: known === undefined ? null : afterGrowth(known, rangeSeconds, now),
  };
}

/**
 * A longer window contains earlier times, which the last decisions did not count. The values count as proven for the
 * old window only, so that an earlier, lower load causes no scale-down.
 */
function afterGrowth(
  { hold, rangeSeconds: before }: HeldMetric,
  rangeSeconds: number,
  now: Instant,
): MetricHold {
  const { valuesSince } = hold;
  if (rangeSeconds <= before || valuesSince === null) return hold;
  const cause = `the window of its query has grown from ${before} s to ${rangeSeconds} s`;
  const since = addSeconds(now, -before);
  return since > valuesSince ? { ...hold, valuesSince: since, cause } : hold;
}

/** Includes the window of a recording rule, which the query text does not show. */
function windowOf(metric: MetricSpec, source: SourceConfig | undefined): number {
  return isOfResource(metric) && source !== undefined ? resourceWindowSeconds(source, metric.name) : 0;
}

/** H is the largest range of a query, at least two sync periods, at most `recoveryHoldMaxSeconds`. */
function boundHold(rangeSeconds: number, periodSeconds: number, maxSeconds: number): number {
  return Math.min(maxSeconds, Math.max(rangeSeconds, 2 * periodSeconds));
}
