import type { MetricSpec } from '../../scaler/spec.js';
import type { MetricResult } from '../result/decision.js';
import type { Sample, Snapshot } from '../snapshot/snapshot.js';
import type { Proposal, ProposalContext } from './context.js';
import { noProposal, proposalContext } from './context.js';
import { withFallback } from './fallback.js';
import { judgeSample } from '../samples/judge-sample.js';
import type { ValueSample } from '../samples/judge-sample.js';
import { proposeFromPods } from './pod-metrics.js';
import type { PodFacts } from './settled-pods.js';
import { proposeFromTotal } from './total-metrics.js';

export interface JudgedMetric {
  readonly spec: MetricSpec;
  readonly result: MetricResult;
  readonly sample: Sample;
}

/** Returns one proposal per metric, in the order of the document. An absent sample counts as failed. */
export function proposeAll(snapshot: Snapshot, podFacts?: PodFacts): readonly JudgedMetric[] {
  const context = proposalContext(snapshot, podFacts);
  return snapshot.scaler.spec.metrics.map((spec, index) => {
    const sample = judgeSample(spec, snapshot.samples[index] ?? NOT_ASKED);
    const result = resultOf(spec, sample, context);
    return { spec, result: withFallback(spec, result, snapshot), sample };
  });
}

const NOT_ASKED: Sample = { form: 'error', kind: 'failed', error: 'there is no sample for this metric' };

function resultOf(spec: MetricSpec, sample: Sample, context: ProposalContext): MetricResult {
  return sample.form === 'error'
    ? named(spec, null, noProposal(sample.error))
    : named(spec, sample.partial, propose(spec, sample, context));
}

/** Lists the fields, because a spread after other fields takes several times as long. */
function named({ name }: MetricSpec, partial: string | null, proposed: Proposal): MetricResult {
  const { proposal, current, ratio, error, pods, podReasons } = proposed;
  return { name, proposal, current, ratio, error, partial, pods, podReasons };
}

function propose(spec: MetricSpec, sample: ValueSample, context: ProposalContext): Proposal {
  if (spec.type === 'Object' || spec.type === 'External') {
    return sample.form === 'values' ? proposeFromTotal(spec, sample, context) : WRONG_FORM;
  }
  return sample.form === 'values' ? WRONG_FORM : proposeFromPods(spec, sample, context);
}

/** Unreachable: `judgeSample` returns an error for a sample in the wrong form, which the types cannot express. */
const WRONG_FORM: Proposal = noProposal('the sample has the wrong form');
