import { withFallback } from './fallback.js';
import { autoCapacityOf, type MetricSpec } from '../../scaler/spec.js';
import type { MetricResult } from '../result/decision.js';
import type { Sample, Saturation, Snapshot } from '../snapshot/snapshot.js';
import {
  type Arithmetic,
  noProposal,
  type Proposal,
  type ProposalContext,
  proposalContext,
} from './context.js';
import { errorSample, judgeSample, type ValueSample } from '../snapshot/judge-sample.js';
import { proposeFromPods } from './pod-metrics.js';
import type { PodFacts } from './settled-pods.js';
import { stepOnSaturation } from './saturation.js';
import { inEffect, proposeFromTotal } from './total-metrics.js';

export interface JudgedMetric {
  /** See `inEffect`. */
  readonly spec: MetricSpec;
  readonly answer: Sample;
  /** The answer as the decision uses it. */
  readonly sample: Sample;
  readonly result: MetricResult;
  /** Null if the value of the metric proposes no count. */
  readonly arithmetic: Arithmetic | null;
  /** For the next decision; unset: the metric has no `saturation`. */
  readonly saturation?: Saturation;
}

/** Returns one proposal per metric, in the order of the document. An absent sample counts as failed. */
export function proposeAll(snapshot: Snapshot, podFacts?: PodFacts): readonly JudgedMetric[] {
  const context = proposalContext(snapshot, podFacts);
  return snapshot.scaler.spec.metrics.map((spec, index) => {
    const answer = snapshot.samples[index] ?? NO_SAMPLE;
    const sample = judgeSample(spec, answer);
    const measured = inEffect(spec, sample, context.podStartSeconds);
    const { proposal, saturation } = proposeOn(measured, sample, context);
    const { arithmetic } = proposal;
    const result = withFallback(
      spec,
      withMeasured(spec, sample, named(spec, sample.form === 'error' ? null : sample.partial, proposal)),
      snapshot,
    );
    return saturation === undefined
      ? { spec: measured, answer, sample, result, arithmetic }
      : { spec: measured, answer, sample, result, arithmetic, saturation };
  });
}

export interface Pick {
  /** The largest proposal; null if no metric has one. */
  readonly replicas: number | null;
  readonly winner: JudgedMetric | null;
  readonly firstFailing: JudgedMetric | null;
  /** The first metric whose proposal comes from its fallback. */
  readonly firstReplaced: JudgedMetric | null;
  /**
   * Whether every proposal comes from a full value, or from a fallback that may lower the count. If false, the count
   * must not fall.
   */
  readonly isTrusted: boolean;
}

export function pickProposal(metrics: readonly JudgedMetric[]): Pick {
  let winner: JudgedMetric | null = null;
  for (const metric of metrics) {
    const { proposal } = metric.result;
    if (proposal !== null && proposal > (winner?.result.proposal ?? -1)) winner = metric;
  }
  return {
    replicas: winner?.result.proposal ?? null,
    winner,
    firstFailing: metrics.find(({ result }) => result.proposal === null) ?? null,
    firstReplaced: metrics.find(({ result }) => result.fallback !== undefined) ?? null,
    isTrusted: metrics.every(({ result }) => isTrusted(result)),
  };
}

function isTrusted({ proposal, partial, fallback }: MetricResult): boolean {
  return proposal !== null && partial === null && fallback?.mode !== 'atLeast';
}

const NO_SAMPLE: Sample = errorSample('unknown', 'there is no sample for this metric');

/** `saturation` is only set for metrics with a saturation step. */
interface Proposed {
  readonly proposal: Proposal;
  readonly saturation?: Saturation;
}

function proposeOn(spec: MetricSpec, sample: Sample, context: ProposalContext): Proposed {
  const isWatched = spec.type === 'Resource' && spec.saturation !== undefined;
  if (sample.form === 'error') {
    const proposal = noProposal(sample.failure);
    // Without a sample, usage is not known to be at the limits.
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

/** Lists the fields, because a spread after other fields takes several times as long. */
function named({ name }: MetricSpec, partial: string | null, proposed: Proposal): MetricResult {
  const { proposal, current, ratio, error, pods, podReasons, saturation, capacity } = proposed;
  const result = { name, proposal, current, ratio, error, partial, pods, podReasons };
  if (capacity !== undefined) return { ...result, capacity };
  return saturation === undefined ? result : { ...result, saturation };
}

/** Adds what `capacity.auto` has measured, which most metrics do not have. */
function withMeasured(spec: MetricSpec, sample: Sample, result: MetricResult): MetricResult {
  if (autoCapacityOf(spec) === undefined) return result;
  const measuredCapacity = sample.form === 'values' ? sample.measuredCapacity : undefined;
  return measuredCapacity === undefined ? result : { ...result, measuredCapacity };
}

function propose(spec: MetricSpec, sample: ValueSample, context: ProposalContext): Proposal {
  if (spec.type === 'Object' || spec.type === 'External') {
    return sample.form === 'values' ? proposeFromTotal(spec, sample, context) : WRONG_FORM;
  }
  return sample.form === 'values' ? WRONG_FORM : proposeFromPods(spec, sample, context);
}

/** Unreachable: `judgeSample` returns an error for a sample in the wrong form, which the types cannot express. */
const WRONG_FORM: Proposal = noProposal('the sample has the wrong form');
