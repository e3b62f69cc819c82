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

/** The recovery hold of a metric: no scale-down until the metric has returned values without a gap for some time. */
export interface MetricHold {
  /** The time of the first value after the last gap; null: there was no value since then. */
  readonly valuesSince: Instant | null;
  /** Until this time, the values may be too low. */
  readonly until: Instant;
  /** The time of the last answer that was not a failure; null: there was none yet. */
  readonly lastAnswerAt: Instant | null;
  readonly cause: string;
}

export interface HoldInput {
  readonly now: Instant;
  /** The result after `onMissing` and `onNaN` were applied. */
  readonly outcome: SampleOutcome;
  /** Start time of the server that answered; null: unknown. */
  readonly startTime: Instant | null;
  /** The name of the server that answered; unset: the data source has only one server. */
  readonly serverName?: string | undefined;
  /** What is known about data that the server has lost. Default: it has lost nothing. */
  readonly history?: HistoryState;
  /** H: the time in which the metric must return values without a gap. */
  readonly holdSeconds: number;
  /** Replaces H after a start of promscaler while no answer has shown a gap. Default: `holdSeconds`. */
  readonly startSeconds?: number;
  readonly periodSeconds: number;
  /** Scrape interval of the data source. Default: unknown. */
  readonly scrapeIntervalSeconds?: number | undefined;
}

/** `failed`: there was no answer. `broken`: the answer had no reliable value. */
type SampleOutcome =
  | { readonly kind: 'value' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'broken'; readonly why: string };

/** The cause of a hold that began with the start of promscaler, while no answer has shown a gap. */
const PROCESS_START = 'the earlier values of the metric are unknown';
const FAILED_AT_START = 'the earlier values of the metric are unknown, and the first query failed';

/**
 * Returns the hold of one metric after another round. A failed query changes nothing: whether data was lost is known
 * after the next answer, from the start time of the source and the duration of its silence. Source: algorithm.md,
 * section 4.
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
    // While the server is younger than H, each answer counts as a gap. Once it is older, the metric must return values
    // for another H.
    const until = latest(addSeconds(youth.began, 2 * holdSeconds), atLeastUntil);
    return { valuesSince: null, until, lastAnswerAt: now, cause: youth.cause };
  }
  const silence = before.lastAnswerAt === null ? 0 : secondsBetween(before.lastAnswerAt, now);
  if (silence > longestSilenceSeconds(periodSeconds, input.scrapeIntervalSeconds)) {
    const cause = `the data source did not answer for ${Math.round(silence)} s`;
    return { valuesSince: now, until: atLeastUntil, lastAnswerAt: now, cause };
  }
  // `valuesSince` is later than `now` if the clock was set back.
  const valuesSince = before.valuesSince === null || before.valuesSince > now ? now : before.valuesSince;
  const until = addSeconds(valuesSince, secondsToProve(input, before.cause));
  const { history = KEPT } = input;
  if (history.state !== 'unknown' || until > now)
    return { valuesSince, until, lastAnswerAt: now, cause: before.cause };
  // Prevents a scale-down in this round only. If an unknown history counted as a gap, a source that fails occasionally
  // would block scale-down forever.
  return { valuesSince, until: addSeconds(now, periodSeconds), lastAnswerAt: now, cause: history.why };
}

/**
 * Returns for how many seconds the metric must return values. The shorter time after a start of promscaler applies only
 * if the start time of the source is known: otherwise the source may have lost its data before that start.
 */
function secondsToProve(
  { startTime, holdSeconds, startSeconds = holdSeconds }: HoldInput,
  cause: string,
): number {
  return cause === PROCESS_START && startTime !== null ? startSeconds : holdSeconds;
}

/**
 * Returns the start or the last loss of data of a server, whichever is later. Null: both were more than H ago, or are
 * unknown.
 */
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
 * For this many scrape intervals, a gauge must return values after a start of promscaler. Even if all targets have just
 * become reachable, each is scraped within the first interval.
 */
const SCRAPES_AT_START = 2;

const VALUE: SampleOutcome = { kind: 'value' };

/** Returns how a sample affects the hold. It counts as a value only if the decision uses it without restriction. */
export function sampleOutcome(metric: MetricSpec, sample: Sample): SampleOutcome {
  const judged = judgeSample(metric, sample);
  if (judged.form === 'error') {
    const { failure } = judged;
    return errorKindOf(failure) === 'failed' ? { kind: 'failed' } : { kind: 'broken', why: failure.message };
  }
  return judged.partial === null ? VALUE : { kind: 'broken', why: judged.partial };
}

/** The hold of a metric, with the facts about its query, so that the query is built and parsed only once. */
export interface HeldMetric {
  readonly metric: MetricSpec;
  /** Contains the metric, its source and its query. If the key changes, a new hold starts. */
  readonly key: string;
  /** The largest range in the queries of the metric, in seconds. */
  readonly rangeSeconds: number;
  /**
   * The time in seconds in which every series gets a new sample. Values for this time suffice if only promscaler was
   * restarted.
   */
  readonly startRangeSeconds: number;
  /** The data source, with the window that the query contains. */
  readonly source: SourceConfig | undefined;
  readonly hold: MetricHold;
}

/** The holds of a scaler, in the order of its metrics. */
export type ScalerHolds = readonly HeldMetric[];

export const NO_HOLDS: ScalerHolds = [];

interface ScalerHoldInput {
  readonly scaler: Scaler;
  readonly samples: readonly Sample[];
  /** In the order of the metrics; unset: every data source has only one URL. */
  readonly answers?: readonly Answer[];
  /** Maps `ageKey` to the age of a server. A server that did not answer, or whose age is unknown, is absent. */
  readonly ages: ReadonlyMap<string, SourceAge>;
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly now: Instant;
  readonly maxSeconds: number;
}

/** The holds for the next round, and the fields `state.holdScaleDownUntil` and `holdReason` of the next snapshot. */
interface ScalerHoldResult {
  readonly holds: ScalerHolds;
  readonly holdScaleDownUntil: Instant | null;
  readonly holdReason: string | null;
}

/**
 * Returns the holds of a scaler. `holdScaleDownUntil` is the end of the longest hold; null: every metric has returned
 * values for long enough.
 */
export function advanceHolds(previous: ScalerHolds, input: ScalerHoldInput): ScalerHoldResult {
  const { scaler, now } = input;
  // `map` creates an array of the exact size, while `push` would reserve space for 17 elements for each of 10,000
  // scalers.
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

/**
 * Returns the facts about a metric whose query or window has changed. `hold` is null if the query has changed, because
 * a new hold starts then.
 */
function holdOfNew(
  metric: MetricSpec,
  previous: ScalerHolds,
  { scaler, sources, now }: ScalerHoldInput,
): Omit<HeldMetric, 'hold'> & { readonly hold: MetricHold | null } {
  const source = sources.get(metric.source);
  const query = source === undefined ? '' : (metricQueryText(metric, scaler, source) ?? '');
  const { backlog, capacity } = metricChecks(metric, scaler)?.queries ?? {};
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
 * Returns the hold of a metric whose window has grown. Values count only from the start of the old window: the longer
 * window also contains earlier times, whose lower load must not cause a scale-down.
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

/** Returns the window of a resource query, which the text of a recording rule does not show; otherwise 0. */
function windowOf(metric: MetricSpec, source: SourceConfig | undefined): number {
  return isOfResource(metric) && source !== undefined ? resourceWindowSeconds(source, metric.name) : 0;
}

/** Returns H: the largest range of a query, but at least two sync periods and at most `recoveryHoldMaxSeconds`. */
function boundHold(rangeSeconds: number, periodSeconds: number, maxSeconds: number): number {
  return Math.min(maxSeconds, Math.max(rangeSeconds, 2 * periodSeconds));
}
