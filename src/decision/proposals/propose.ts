import type { MetricSpec } from '../../scaler/spec.js';
import type { MetricResult } from '../result/decision.js';
import type { Sample, Saturation, Snapshot } from '../snapshot/snapshot.js';
import type { Proposal, ProposalContext } from './context.js';
import { noProposal, proposalContext } from './context.js';
import { withFallback } from './fallback.js';
import { judgeSample } from '../samples/judge-sample.js';
import type { ValueSample } from '../samples/judge-sample.js';
import { proposeFromPods } from './pod-metrics.js';
import type { PodFacts } from './settled-pods.js';
import { stepOnSaturation } from './saturation.js';
import { inEffect, proposeFromTotal } from './total-metrics.js';

export interface JudgedMetric {
  /** See `inEffect`. */
  readonly spec: MetricSpec;
  readonly result: MetricResult;
  readonly sample: Sample;
  /** For the next decision; unset: the metric has no `saturation`. */
  readonly saturation?: Saturation;
}

/** Returns one proposal per metric, in the order of the document. An absent sample counts as failed. */
export function proposeAll(snapshot: Snapshot, podFacts?: PodFacts): readonly JudgedMetric[] {
  const context = proposalContext(snapshot, podFacts);
  return snapshot.scaler.spec.metrics.map((spec, index) => {
    const sample = judgeSample(spec, snapshot.samples[index] ?? NOT_ASKED);
    const measured = inEffect(spec, sample, context.podStartSeconds);
    const { result, saturation } = resultOf(measured, sample, context);
    const judged = { spec: measured, result: withFallback(spec, result, snapshot), sample };
    return saturation === undefined ? judged : { ...judged, saturation };
  });
}

const NOT_ASKED: Sample = { form: 'error', kind: 'failed', error: 'there is no sample for this metric' };

interface Result {
  readonly result: MetricResult;
  readonly saturation?: Saturation;
}

function resultOf(spec: MetricSpec, sample: Sample, context: ProposalContext): Result {
  const isWatched = spec.type === 'Resource' && spec.saturation !== undefined;
  if (sample.form === 'error') {
    const result = named(spec, null, noProposal(sample.error));
    // Usage that was not seen is not known to have been at the limits.
    const { saturation } = context;
    return isWatched && saturation !== undefined
      ? { result, saturation: { ...saturation, since: null } }
      : { result };
  }
  const proposed = propose(spec, sample, context);
  if (!isWatched || sample.form !== 'containers') return { result: named(spec, sample.partial, proposed) };
  const { proposal, saturation } = stepOnSaturation(spec, sample, proposed, context);
  return { result: named(spec, sample.partial, proposal), saturation };
}

/** Lists the fields, because a spread after other fields takes several times as long. */
function named({ name }: MetricSpec, partial: string | null, proposed: Proposal): MetricResult {
  const { proposal, current, ratio, error, pods, podReasons, saturation, capacity } = proposed;
  const result = { name, proposal, current, ratio, error, partial, pods, podReasons };
  if (capacity !== undefined) return { ...result, capacity };
  return saturation === undefined ? result : { ...result, saturation };
}

function propose(spec: MetricSpec, sample: ValueSample, context: ProposalContext): Proposal {
  if (spec.type === 'Object' || spec.type === 'External') {
    return sample.form === 'values' ? proposeFromTotal(spec, sample, context) : WRONG_FORM;
  }
  return sample.form === 'values' ? WRONG_FORM : proposeFromPods(spec, sample, context);
}

/** Unreachable: `judgeSample` returns an error for a sample in the wrong form, which the types cannot express. */
const WRONG_FORM: Proposal = noProposal('the sample has the wrong form');
