import type { FallbackMode } from '../scaler/spec.js';
import type { Instant } from '../units/time.js';
import type { State } from './snapshot.js';

/** What `decide` gives back. Everything that is told later - log, metrics, conditions, API - reads it from here. */
export interface Decision {
  /** `target.specReplicas` of the snapshot. */
  readonly currentReplicas: number;
  /** What the target should be set to; equal to `currentReplicas` when nothing is to be done. */
  readonly desiredReplicas: number;
  readonly action: 'scale-up' | 'scale-down' | 'none';
  /** One sentence a person understands. */
  readonly reason: string;
  /** The result of picking, before any limit; null on a short cut and where no metric has a proposal. */
  readonly recommendedReplicas: number | null;
  /** The bounds in force. */
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** Empty on a short cut, else one for each metric of the document. */
  readonly metrics: readonly MetricResult[];
  /** The steps that changed the count, in the order applied. */
  readonly limits: readonly LimitStep[];
  readonly conditions: readonly Condition[];
  /** What the next decision starts from, if the change is made. */
  readonly state: State;
}

/** A decision without its state, as it is kept for the past. */
export type PastDecision = Omit<Decision, 'state'>;

/** What one metric says. */
export interface MetricResult {
  readonly name: string;
  /** The count this metric alone asks for; null when it has none, and then `error` says why. */
  readonly proposal: number | null;
  readonly current: CurrentValue;
  /** Usage by target, of the pass that decided; null when there is none or it is not finite. */
  readonly ratio: number | null;
  readonly error: string | null;
  /** Why the sample may raise but not lower the count; null for a plain value. */
  readonly partial: string | null;
  readonly pods: PodGroups;
  /** Why a pod is not among the ready. */
  readonly podReasons: Readonly<Record<string, string>>;
  /** Only where `proposal` is that of the document's fallback. */
  readonly fallback?: FallbackUse;
}

/** The count that stands in for a metric without a value. */
export interface FallbackUse {
  readonly mode: FallbackMode;
  readonly replicas: number;
  /** When the metric last had a value, or was first queried in vain. */
  readonly since: Instant;
  /** Why it has none now. */
  readonly error: string;
}

/** Those that apply: whole percents of the requests; numbers in base units. */
export interface CurrentValue {
  readonly averageUtilization?: number;
  readonly averageValue?: number;
  readonly value?: number;
}

/** Names of pods by how a metric counts them. */
export interface PodGroups {
  readonly ready: readonly string[];
  readonly unready: readonly string[];
  readonly missing: readonly string[];
  readonly ignored: readonly string[];
}

/** The steps of algorithm.md, step 6, in their order, and what ends a decision at step 4. */
export type LimitName =
  | 'untrusted_metric'
  | 'stabilization'
  | 'recovery_hold'
  | 'downscale_confirmation'
  | 'policy'
  | 'scale_up_limit'
  | 'step_limit'
  | 'min_replicas'
  | 'max_replicas'
  | 'forbidden_window';

/** One step that changed the count. */
export interface LimitStep {
  readonly limit: LimitName;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  /** When the limit ends; null where that depends on more than time. */
  readonly until: Instant | null;
}

export type ConditionType =
  'AbleToScale' | 'ScalingActive' | 'ScalingLimited' | 'Held' | 'TargetReached' | 'MetricsUnique';

/** A condition of the HorizontalPodAutoscaler, with its reasons. */
export interface Condition {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}
