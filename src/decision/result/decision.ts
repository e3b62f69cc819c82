import type { FallbackMode } from '../../scaler/spec.js';
import type { Failure } from '../../units/failure.js';
import type { Instant } from '../../units/time.js';
import type { MeasuredCapacity, State } from '../snapshot/snapshot.js';
import type { Condition } from './condition.js';
import type { LimitName } from './limit-names.js';

/** The result of `decide`. Log, metrics, conditions and API read it and compute nothing again, so that they agree. */
export interface Decision {
  readonly currentReplicas: number;
  /** Equal to `currentReplicas` if nothing changes. */
  readonly desiredReplicas: number;
  readonly action: 'scale-up' | 'scale-down' | 'none';
  readonly reason: string;
  /** The largest proposal before any limit; null: no metric was used, or none has a proposal. */
  readonly recommendedReplicas: number | null;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** One result for each metric of the document; empty: no metric was used. */
  readonly metrics: readonly MetricResult[];
  readonly limits: readonly LimitStep[];
  readonly conditions: readonly Condition[];
  /** Set only while `cooldownSeconds` keeps the last replica; `until` is its end. */
  readonly cooldown?: { readonly cause: string; readonly until: Instant } | undefined;
  /** Set only for a document with a forecast whose metrics were used. */
  readonly forecast?: ForecastResult;
  /** The state for the next decision, provided that this one is applied. */
  readonly state: State;
}

export type PastDecision = Omit<Decision, 'state'>;

export interface MetricResult {
  /** The name of the metric in all outputs. A ContainerResource metric has the name `CONTAINER/NAME`. */
  readonly name: string;
  /** The replicas that this metric alone proposes; null: it proposes none, and `error` says why. */
  readonly proposal: number | null;
  readonly current: CurrentValue;
  /**
   * Usage divided by the target, including the assumed usage if that determined the proposal; null: there is no ratio,
   * or it is not finite.
   */
  readonly ratio: number | null;
  readonly error: Failure | null;
  /** Why the sample is partial and may raise but not lower the count; null: the sample is complete. */
  readonly partial: string | null;
  /** Why the metric has no value and is read as 0; unset: it has a value, or is not read as 0. */
  readonly readAsZero?: Failure;
  readonly pods: PodGroups;
  /** The reason why a pod is unready, missing or ignored, by pod name. */
  readonly podReasons: Readonly<Record<string, string>>;
  /** The measured capacity of a pod, if it was used as the target; unset: the document's target was used. */
  readonly capacity?: number;
  /**
   * The capacity that `capacity.auto` has measured. Unset: the metric has no `capacity.auto`, or nothing was measured
   * yet.
   */
  readonly measuredCapacity?: MeasuredCapacity;
  /** Set only for a metric with `saturation` and a sample. */
  readonly saturation?: SaturationResult;
  /** Set only if `proposal` comes from the document's fallback. */
  readonly fallback?: FallbackUse;
}

export interface SaturationResult {
  /** Why pods are added while usage is at the limits of the pods, or why not; part of a sentence. */
  readonly why: string;
  /** The proposal with the added pods; null: none were added, and the proposal follows from the usage. */
  readonly replicas: number | null;
}

export interface ForecastResult {
  /** Replicas for the expected load, at most `maxReplicas`; null: there is no forecast, and `why` says why. */
  readonly replicas: number | null;
  /** The calculation, or why there is no forecast; part of a sentence. */
  readonly why: string;
  /** Whether the recommendation includes `replicas`; always false with `mode: Observe`. */
  readonly isUsed: boolean;
  /** The count that the scaler would have without a forecast. */
  readonly reactive: number;
  /**
   * Replicas that the forecast added in the last 3 days (with `Observe`: would have added), in percent of the replicas
   * without a forecast.
   */
  readonly spentPercent: number;
}

/** The fallback that replaces the missing proposal of a metric. */
export interface FallbackUse {
  readonly mode: FallbackMode;
  readonly replicas: number;
  /** The time of the first decision in which the metric had no value. At 0 replicas, the time of this decision. */
  readonly since: Instant;
  readonly error: Failure;
}

/**
 * The current value of a metric; only the fields that apply are set. Utilization is an integer percentage of the
 * requests, other values are in base units.
 */
export interface CurrentValue {
  readonly averageUtilization?: number;
  readonly averageValue?: number;
  readonly value?: number;
}

export interface PodGroups {
  readonly ready: readonly string[];
  readonly unready: readonly string[];
  readonly missing: readonly string[];
  readonly ignored: readonly string[];
}

export interface LimitStep {
  readonly limit: LimitName;
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  /** When the limit ends; null: the end depends on more than time. */
  readonly until: Instant | null;
}
