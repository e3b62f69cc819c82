import type { ContainerResourceMetric, PodsMetric, ResourceMetric, ScalerSpec } from '../../scaler/spec.js';
import type { Instant } from '../../units/time.js';
import type { CurrentValue, MetricResult, PodGroups } from '../decision.js';
import type { Pod, ReplicaCounts, Snapshot } from '../snapshot.js';
import type { Tolerances } from './tolerance.js';
import { tolerancesOf } from './tolerance.js';

/** What every proposal of one decision starts from. */
export interface ProposalContext {
  readonly now: Instant;
  readonly target: ReplicaCounts;
  readonly pods: readonly Pod[];
  readonly spec: ScalerSpec;
  readonly tolerances: Tolerances;
}

/** A metric that is measured on the pods. */
export type PodMetric = ResourceMetric | ContainerResourceMetric | PodsMetric;

/** What a metric's arithmetic gives; `error` is set exactly when `proposal` is null. */
export type Proposal = Omit<MetricResult, 'name' | 'partial' | 'fallback'>;

export const NO_PODS: PodGroups = { ready: [], unready: [], missing: [], ignored: [] };

/** The context of a snapshot's proposals. */
export function proposalContext(snapshot: Snapshot): ProposalContext {
  const { spec } = snapshot.scaler;
  return {
    now: snapshot.now,
    target: snapshot.target,
    pods: snapshot.pods,
    spec,
    tolerances: tolerancesOf(spec),
  };
}

/** A metric without a proposal, and why. */
export function noProposal(error: string, seen: Partial<Proposal> = {}): Proposal {
  const nothing: CurrentValue = {};
  return { current: nothing, pods: NO_PODS, podReasons: {}, ratio: null, ...seen, proposal: null, error };
}
