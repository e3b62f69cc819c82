import type { ContainerResourceMetric, PodsMetric, ResourceMetric, ScalerSpec } from '../../scaler/spec.js';
import { failed, type Failure } from '../../units/failure.js';
import type { Instant } from '../../units/time.js';
import type { CurrentValue, MetricResult, PodGroups } from '../result/decision.js';
import type { Pod, ReplicaCounts, Saturation, Snapshot } from '../snapshot/snapshot.js';
import { PodFacts } from './settled-pods.js';
import { type Tolerances, tolerancesOf } from './arithmetic.js';

export interface ProposalContext {
  readonly now: Instant;
  readonly target: ReplicaCounts;
  readonly pods: readonly Pod[];
  readonly podFacts: PodFacts;
  readonly spec: ScalerSpec;
  readonly tolerances: Tolerances;
  /** The time in which pods start, as in `podStartSeconds`; null: it is not known, or the document does not use it. */
  readonly podStartSeconds: number | null;
  readonly saturation: Saturation | undefined;
}

export type PodMetric = ResourceMetric | ContainerResourceMetric | PodsMetric;

/**
 * The numbers of a proposal, for its explanation. The proposal is `ceil(usage / target x pods)`, unless the current
 * count is kept. Usage and target are percent of the requests for a utilization, otherwise milli-units.
 */
export interface Arithmetic {
  /** The total of the metric, or the average usage of the pods that were included. */
  readonly usage: number;
  /** The average including the assumed usage of unready and missing pods; null: no usage was assumed. */
  readonly filledUsage: number | null;
  readonly target: number;
  readonly pods: number;
  /**
   * Why the current count is kept. `tolerance`: the ratio is within the tolerance. `direction`: with the assumed usage,
   * the count would fall instead of rise, or rise instead of fall.
   */
  readonly keptBy: 'tolerance' | 'direction' | null;
}

/**
 * The result of one metric. If `proposal` is null, `error` is set and `arithmetic` is null. Otherwise neither is true.
 */
export interface Proposal extends Omit<MetricResult, 'name' | 'partial' | 'fallback'> {
  readonly arithmetic: Arithmetic | null;
}

export const NO_PODS: PodGroups = { ready: [], unready: [], missing: [], ignored: [] };

export function proposalContext(snapshot: Snapshot, podFacts?: PodFacts): ProposalContext {
  const { pods } = snapshot;
  const { spec } = snapshot.scaler;
  return {
    now: snapshot.now,
    target: snapshot.target,
    pods,
    podFacts: podFacts?.pods === pods ? podFacts : new PodFacts(pods),
    spec,
    tolerances: tolerancesOf(spec),
    podStartSeconds: podStartSeconds(snapshot),
    saturation: snapshot.state.saturation,
  };
}

/**
 * Returns the time in which pods start: the value in the document, or the measured value. Null: it is not known, or the
 * document does not use it.
 */
export function podStartSeconds({ scaler, podStartSeconds: measured }: Snapshot): number | null {
  const { podStart } = scaler.spec;
  return podStart === null ? null : (podStart.seconds ?? measured ?? null);
}

/**
 * Returns a result without a proposal. `why` is the failure of the sample, or the reason why its value gives no count.
 */
export function noProposal(why: Failure | string, seen: Partial<Proposal> = {}): Proposal {
  const nothing: CurrentValue = {};
  const unseen = { current: nothing, pods: NO_PODS, podReasons: {}, ratio: null };
  const error = typeof why === 'string' ? failed('no_proposal', why) : why;
  return { ...unseen, ...seen, proposal: null, error, arithmetic: null };
}
