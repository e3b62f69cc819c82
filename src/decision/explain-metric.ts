import { fallbackStart, type JudgedMetric } from './proposals/propose.js';
import { describeZero } from './failing.js';
import { describeFailure, type Failure } from '../units/failure.js';
import { countOf, formatNumber } from '../units/format.js';
import { formatInstant, type Instant, secondsBetween } from '../units/time.js';
import { autoCapacityOf, type MetricSpec } from '../scaler/spec.js';
import type { MetricResult } from './result/decision.js';
import { explainArithmetic } from './explain-proposal.js';
import {
  type CapacityDrift,
  type ContainersSample,
  errorKindOf,
  type PodsSample,
  type Sample,
  type Snapshot,
  metricKey,
} from './snapshot/snapshot.js';

interface MetricExplanation {
  /** The answer of the data source. Its first word is the class: value, partial, missing, nan, invalid or failed. */
  readonly answer: string;
  /** The calculation of the proposal; null: the metric has no proposal. */
  readonly arithmetic: string | null;
}

/** Returns what the data source answered, and how the proposal follows from the answer. */
export function explainMetric(metric: JudgedMetric, snapshot: Snapshot): MetricExplanation {
  return { answer: answerText(metric, snapshot), arithmetic: explainArithmetic(metric, snapshot) };
}

function answerText({ spec, sample, result }: JudgedMetric, snapshot: Snapshot): string {
  const fallback = fallbackText(spec, result, snapshot);
  if (sample.form === 'error')
    return `${errorKindOf(sample.failure)}: ${describeFailure(sample.failure)}${sinceText(spec, sample.failure, snapshot)}${fallback}`;
  if (result.readAsZero !== undefined) return `${describeZero(result.readAsZero)}, as the document specifies`;
  const kind =
    sample.partial === null ? 'value' : `partial (${sample.partial}: the metric can scale up but not down)`;
  const facts = [kind, ageText(sample.at, snapshot.now), ...extentOf(sample), ...measuredText(spec, sample)];
  return result.error === null
    ? facts.join(', ')
    : `${facts.join(', ')}; the value is not usable: ${describeFailure(result.error)}${fallback}`;
}

/** Returns a clause about the capacity that `capacity.auto` has measured; empty: the metric has no `capacity.auto`. */
function measuredText(spec: MetricSpec, sample: Sample): readonly string[] {
  const auto = autoCapacityOf(spec);
  if (auto === undefined) return [];
  const isUsed = auto.mode === 'Use';
  const measured = sample.form === 'values' ? sample.measuredCapacity : undefined;
  if (measured === undefined) return ['the capacity of a pod is not known yet'];
  const { value, low, high, days, drift } = measured;
  const spread = days === 0 ? 'in the last hour' : `${spreadText(low, high)} on ${countOf(days, 'day')}`;
  const use = isUsed ? '' : ', observed only';
  const capacity = `a pod carries ${formatNumber(value)} (${spread}${use})`;
  return drift === undefined ? [capacity] : [`${capacity}, ${describeDrift(drift, value)}`];
}

function spreadText(low: number, high: number): string {
  return low === high ? formatNumber(low) : `${formatNumber(low)} to ${formatNumber(high)}`;
}

/**
 * Returns the change of a measured capacity: `75 % of 9.5, the capacity of pods started before 2026-01-01T10:00:00Z`.
 */
export function describeDrift({ before, oldestPod, since }: CapacityDrift, value: number): string {
  const which =
    oldestPod === null
      ? `before ${formatInstant(since)}`
      : `of pods started before ${formatInstant(oldestPod)}`;
  return `${Math.round((100 * value) / before)} % of ${formatNumber(before)}, the capacity ${which}`;
}

function ageText(at: Instant, now: Instant): string {
  return `${Math.max(0, Math.floor(secondsBetween(at, now)))} s old`;
}

function extentOf(sample: Exclude<Sample, { form: 'error' }>): readonly string[] {
  if (sample.form === 'values') return [`${sample.values.length} series`];
  const window = sample.windowSeconds === 0 ? [] : [`over ${sample.windowSeconds} s${windowOrigin(sample)}`];
  return [...window, `of ${countOf(sample.pods.length, 'pod')}`];
}

/** Returns why the window has this length; empty: the query or the service config sets the length. */
function windowOrigin(sample: ContainersSample | PodsSample): string {
  if (sample.form === 'pods' || sample.learnedIntervalSeconds === undefined) return '';
  const { learnedIntervalSeconds: interval } = sample;
  return interval === null
    ? ' (the scrape interval is not known yet)'
    : ` (4 scrape intervals of at most ${interval} s)`;
}

/** Returns a clause with the start of the fallback; empty: the fallback has already started, or never will. */
function fallbackText(spec: MetricSpec, result: MetricResult, snapshot: Snapshot): string {
  const { fallback } = snapshot.scaler.spec;
  const start = fallbackStart(spec, result, snapshot);
  if (fallback === null || start === null) return '';
  return `; from ${formatInstant(start)} on, the fallback (${fallback.mode}) proposes ${countOf(fallback.replicas, 'replica')}`;
}

/**
 * Returns a clause with the start of the failure. Empty during an outage of the data source: the text of the failure
 * already contains the start of the outage, which is about 100 ms after the round with the first missing value.
 */
function sinceText(spec: MetricSpec, failure: Failure, { state }: Snapshot): string {
  const since = state.failingSince.get(metricKey(spec));
  return since === undefined || failure.since !== undefined ? '' : ` (since ${formatInstant(since)})`;
}
