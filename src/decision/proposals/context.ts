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
  /** Facts about `pods`. */
  readonly podFacts: PodFacts;
  readonly spec: ScalerSpec;
  readonly tolerances: Tolerances;
  /** Null: not known, or not used. */
  readonly podStartSeconds: number | null;
  readonly saturation: Saturation | undefined;
}

export type PodMetric = ResourceMetric | ContainerResourceMetric | PodsMetric;

/**
 * The numbers of a proposal, which is `ceil(usage / target x pods)` unless something keeps the count. Usage and target
 * are percent of the requests for a utilization, otherwise milli-units. The explanation prints them.
 */
export interface Arithmetic {
  /** The total, or the average of the pods that count. */
  readonly usage: number;
  /** The average with an assumed usage of the unready and missing pods; null: no pod has one. */
  readonly filledUsage: number | null;
  readonly target: number;
  readonly pods: number;
  /** The ratio is within the tolerance, or assumed usage must not reverse the direction. */
  readonly keptBy: 'tolerance' | 'direction' | null;
}

/** `error` is set, and `arithmetic` null, if and only if `proposal` is null. */
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

/** Returns the stated or measured time in which pods start; null: not known, or the document does not use it. */
export function podStartSeconds({ scaler, podStartSeconds: measured }: Snapshot): number | null {
  const { podStart } = scaler.spec;
  return podStart === null ? null : (podStart.seconds ?? measured ?? null);
}

/** `why`: the failure of the sample, or why its value proposes no count. */
export function noProposal(why: Failure | string, seen: Partial<Proposal> = {}): Proposal {
  const nothing: CurrentValue = {};
  const unseen = { current: nothing, pods: NO_PODS, podReasons: {}, ratio: null };
  const error = typeof why === 'string' ? failed('no_proposal', why) : why;
  return { ...unseen, ...seen, proposal: null, error, arithmetic: null };
}
