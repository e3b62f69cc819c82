import { autoCapacityOf, isOfTotal, type MetricSpec } from '../../scaler/spec.js';
import { describeFailure, failed } from '../../units/failure.js';
import type { MetricResult, FallbackUse } from '../result/decision.js';
import { type Sample, type Saturation, type Snapshot, metricKey } from '../snapshot/snapshot.js';
import {
  type Arithmetic,
  noProposal,
  type Proposal,
  type ProposalContext,
  proposalContext,
} from './context.js';
import { errorSample, judgeSample, type ValueSample } from '../snapshot/judge-sample.js';
import { proposeFromPods, whyNoSeries } from './pod-metrics.js';
import type { PodFacts } from './settled-pods.js';
import { stepOnSaturation } from './saturation.js';
import { inEffect, proposeFromTotal } from './total-metrics.js';
import { countOf } from '../../units/format.js';
import { addSeconds, formatInstant, type Instant, secondsBetween } from '../../units/time.js';

export interface JudgedMetric {
  /** The metric as `inEffect` returns it: the target may be a measured capacity. */
  readonly spec: MetricSpec;
  /** The sample after `judgeSample`, which turns unusable numbers into an error. */
  readonly sample: Sample;
  readonly result: MetricResult;
  /** The numbers of the proposal; null: the value of the metric proposes no count. */
  readonly arithmetic: Arithmetic | null;
  /** The saturation for the next decision; unset: the metric has no `saturation`. */
  readonly saturation?: Saturation;
}

/** Returns one proposal per metric, in the order of the document. A metric without a sample has failed. */
export function proposeAll(snapshot: Snapshot, podFacts?: PodFacts): readonly JudgedMetric[] {
  const context = proposalContext(snapshot, podFacts);
  return snapshot.scaler.spec.metrics.map((spec, index) => {
    const given = snapshot.samples[index] ?? NO_SAMPLE;
    const sample = judgeSample(spec, given);
    const specInEffect = inEffect(spec, sample, context.podStartSeconds);
    const { proposal, saturation } = proposeOn(specInEffect, sample, context);
    const { arithmetic } = proposal;
    const proposed = named(spec, sample.form === 'error' ? null : sample.partial, proposal);
    const result = withFallback(
      spec,
      withMeasured(spec, sample, withZero(proposed, given, sample)),
      snapshot,
    );
    return saturation === undefined
      ? { spec: specInEffect, sample, result, arithmetic }
      : { spec: specInEffect, sample, result, arithmetic, saturation };
  });
}

export interface PickedProposal {
  /** The largest proposal; null: no metric has one. */
  readonly replicas: number | null;
  readonly winner: JudgedMetric | null;
  /** The first metric that proposes as much as the winner, but has no value and is read as 0. */
  readonly zero: JudgedMetric | null;
  readonly firstFailing: JudgedMetric | null;
  /** The first metric whose proposal comes from its fallback. */
  readonly firstReplaced: JudgedMetric | null;
  /**
   * Whether the count may fall: every metric has a full value, is read as 0, or has a fallback that may lower the
   * count.
   */
  readonly isTrusted: boolean;
}

export function pickProposal(metrics: readonly JudgedMetric[]): PickedProposal {
  let winner: JudgedMetric | null = null;
  for (const metric of metrics) {
    const { proposal } = metric.result;
    if (proposal !== null && proposal > (winner?.result.proposal ?? -1)) winner = metric;
  }
  const replicas = winner?.result.proposal ?? null;
  return {
    replicas,
    winner,
    zero:
      metrics.find(({ result }) => result.readAsZero !== undefined && result.proposal === replicas) ?? null,
    firstFailing: metrics.find(({ result }) => result.proposal === null) ?? null,
    firstReplaced: metrics.find(({ result }) => result.fallback !== undefined) ?? null,
    isTrusted: metrics.every(({ result }) => mayLower(result)),
  };
}

function mayLower({ proposal, partial, fallback }: MetricResult): boolean {
  return proposal !== null && partial === null && fallback?.mode !== 'atLeast';
}

const NO_SAMPLE: Sample = errorSample('unknown', 'there is no sample for this metric');

/** A proposal, with the saturation for the next decision if the metric has `saturation`. */
interface Proposed {
  readonly proposal: Proposal;
  readonly saturation?: Saturation;
}

function proposeOn(spec: MetricSpec, sample: Sample, context: ProposalContext): Proposed {
  const isWatched = spec.type === 'Resource' && spec.saturation !== undefined;
  if (sample.form === 'error') {
    const { failure } = sample;
    const isNoSeries = failure.reason === 'missing' && !isOfTotal(spec);
    const proposal = noProposal(isNoSeries ? whyNoSeries(spec, failure, context) : failure);
    // If there is no sample, `since` is unknown: usage may have fallen below the limits.
    const { saturation } = context;
    return isWatched && saturation !== undefined
      ? { proposal, saturation: { ...saturation, since: null } }
      : { proposal };
  }
  const proposal = propose(spec, sample, context);
  return isWatched && sample.form === 'containers'
    ? stepOnSaturation(spec, sample, proposal, context)
    : { proposal };
}

/** Lists the fields for speed: a spread with additional fields takes several times as long. */
function named({ identity: name }: MetricSpec, partial: string | null, proposed: Proposal): MetricResult {
  const { proposal, current, ratio, error, pods, podReasons, saturation, capacity } = proposed;
  const result = { name, proposal, current, ratio, error, partial, pods, podReasons };
  if (capacity !== undefined) return { ...result, capacity };
  return saturation === undefined ? result : { ...result, saturation };
}

/**
 * Adds `readAsZero` if the document reads the sample as 0. Only in that case does `judgeSample` return other values.
 */
function withZero(result: MetricResult, given: Sample, sample: Sample): MetricResult {
  if (sample === given || sample.form === 'error') return result;
  return { ...result, readAsZero: given.form === 'error' ? given.failure : NO_SERIES };
}

const NO_SERIES = failed('missing', 'no usable series');

/** Adds the capacity that `capacity.auto` has measured, if the metric has one. */
function withMeasured(spec: MetricSpec, sample: Sample, result: MetricResult): MetricResult {
  if (autoCapacityOf(spec) === undefined) return result;
  const measuredCapacity = sample.form === 'values' ? sample.measuredCapacity : undefined;
  return measuredCapacity === undefined ? result : { ...result, measuredCapacity };
}

function propose(spec: MetricSpec, sample: ValueSample, context: ProposalContext): Proposal {
  if (isOfTotal(spec) && sample.form === 'values') return proposeFromTotal(spec, sample, context);
  if (!isOfTotal(spec) && sample.form !== 'values') return proposeFromPods(spec, sample, context);
  // Never reached, because `judgeSample` has turned a sample in the wrong form into an error. The compiler cannot know
  // that.
  return noProposal('the sample has the wrong form');
}

/**
 * Applies the document's fallback to a metric that has had no proposal for `afterSeconds`. `atLeast` only raises the
 * count to the fallback, `exact` also lowers it, and `currentReplicasIfHigher` keeps a higher count. The time at 0
 * replicas does not count, so that no fallback scales up from 0 unless `afterSeconds` is 0. Source: algorithm.md, step
 * 3; the modes are the fallback behaviors of KEDA.
 */
export function withFallback(spec: MetricSpec, result: MetricResult, snapshot: Snapshot): MetricResult {
  const { fallback } = snapshot.scaler.spec;
  if (fallback === null || result.proposal !== null || result.error === null) return result;
  const since = failingSince(spec, snapshot);
  if (secondsBetween(since, snapshot.now) < fallback.afterSeconds) return result;
  const { mode, replicas } = fallback;
  const proposal =
    mode === 'currentReplicasIfHigher' ? Math.max(replicas, snapshot.target.specReplicas) : replicas;
  const use: FallbackUse = { mode, replicas, since, error: result.error };
  return { ...result, proposal, error: null, ratio: null, fallback: use };
}

/** Returns when the fallback will replace the missing proposal; null: it never will, or it already has. */
export function fallbackStart(spec: MetricSpec, result: MetricResult, snapshot: Snapshot): Instant | null {
  const { fallback } = snapshot.scaler.spec;
  if (fallback === null || result.proposal !== null || result.error === null) return null;
  if (snapshot.target.specReplicas === 0) return null;
  return addSeconds(failingSince(spec, snapshot), fallback.afterSeconds);
}

function failingSince(spec: MetricSpec, { state, target, now }: Snapshot): Instant {
  return (target.specReplicas === 0 ? undefined : state.failingSince.get(metricKey(spec))) ?? now;
}

export function describeFallback({ mode, replicas, since, error }: FallbackUse): string {
  // Omits `since` of the error: the message already contains the time of the first missing value, when the outage
  // began.
  const why = describeFailure({ ...error, since: undefined });
  return `no value since ${formatInstant(since)} (${why}): the fallback (${mode}) proposes ${countOf(replicas, 'replica')}`;
}
