import type { Schedule } from '../schedules/schedule.js';
import type { Milli } from '../units/quantity.js';
import { valueAt } from './plain-json.js';

/** The defaults of the current HPA, of CHPA, or of the HPA before Kubernetes 1.12. */
export type Preset = 'hpa' | 'chpa' | 'hpa-1.11';

export interface TargetRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/**
 * Maps the kinds whose targets are watched to plurals: only watched targets have annotations, as for pauses. Targets of
 * other kinds are read by their `/scale`.
 */
export const WATCHED_KINDS: Readonly<Record<string, string>> = {
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
  ReplicaSet: 'replicasets',
};

/** The annotations of a target that pause its scaling; `reason` is only reported. Source: contract.md section 6. */
export const PAUSE_ANNOTATIONS = {
  paused: 'promscaler.dev/paused',
  until: 'promscaler.dev/paused-until',
  replicas: 'promscaler.dev/paused-replicas',
  reason: 'promscaler.dev/paused-reason',
} as const;

/** Annotation of a document in dry run: the autoscaler that it was made from, such as `HorizontalPodAutoscaler/web`. */
export const ADOPTED_FROM = 'promscaler.dev/adopted-from';

/** Annotation of a Scaler object: the manifest of that autoscaler as JSON, for the way back. */
export const ADOPTED_MANIFEST = 'promscaler.dev/adopted-manifest';

export interface Origin {
  readonly kind: string;
  readonly name: string;
}

/** Returns the autoscaler that a document was made from; null: none. */
export function adoptedFrom({ document }: { readonly document: unknown }): Origin | null {
  const origin = valueAt(document, ['metadata', 'annotations', ADOPTED_FROM]);
  const [kind = '', name = ''] = typeof origin === 'string' ? origin.split('/') : [];
  return kind === '' || name === '' ? null : { kind, name };
}

/**
 * `Utilization` is a whole percentage of the requests, at least 1. `AverageValue` (per pod) and `Value` are milli-units
 * above 0.
 */
export type MetricTarget =
  | { readonly type: 'Utilization'; readonly percent: number }
  | { readonly type: 'AverageValue'; readonly milli: Milli }
  | { readonly type: 'Value'; readonly milli: Milli };

/**
 * A metav1.LabelSelector with `matchLabels` expanded. All requirements must be met; an empty list matches everything.
 */
export type LabelSelector = readonly LabelRequirement[];

export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values: readonly string[];
}

/** Treatment of an empty result (`onMissing`) or of a result with only NaN (`onNaN`). */
type MissingPolicy = 'error' | 'zero';

interface MetricBase {
  /** Name of the resource, or `metric.name`, which defaults to a name in the query. */
  readonly name: string;
  /** Identifies the metric within its type: the name, or `CONTAINER/NAME` for ContainerResource. */
  readonly identity: string;
  readonly target: MetricTarget;
  readonly source: string;
}

export interface ResourceMetric extends MetricBase {
  readonly type: 'Resource';
  /** For cpu only. Unset: usage at the limit of the pods has no special effect. */
  readonly saturation?: SaturationStep;
}

/** Raises the count while usage cannot show the load, because all pods use as much cpu as their limits allow. */
export interface SaturationStep {
  /** PromQL with variables: what the workload serves per second. It must grow for a step. */
  readonly servedQuery: string;
  /** 1.1 to 10: the count after a step is this factor times the ready pods. */
  readonly factor: number;
}

export interface ContainerResourceMetric extends MetricBase {
  readonly type: 'ContainerResource';
  readonly container: string;
}

interface QueriedMetric extends MetricBase {
  /** The query as written, with variables. */
  readonly query: string;
  /** Series that do not match are dropped. */
  readonly selector: LabelSelector;
  /** Maximum age of the newest samples for a scale-down; 0: not checked. Unset: the default of the data source. */
  readonly maxSampleAgeSeconds?: number;
}

export interface PodsMetric extends QueriedMetric {
  readonly type: 'Pods';
}

interface TotalMetric extends QueriedMetric {
  /** Threshold for scaling between 0 and 1 replicas; null: the metric does not affect this. */
  readonly activation: { readonly above: Milli } | null;
  readonly onMissing: MissingPolicy;
  readonly onNaN: MissingPolicy;
  /** PromQL with variables. Unless it is true, the metric has no value. Null: no guard. */
  readonly guard: string | null;
  /** Null: only the data source limits the age of the data. */
  readonly freshness: Freshness | null;
  /** Unset: only the query determines the value. */
  readonly backlog?: Backlog;
  /** PromQL with variables: the load that one pod carries. Unset: the target. */
  readonly capacityQuery?: string;
  /** Unset: the load that one pod carries is not measured. */
  readonly autoCapacity?: AutoCapacity;
}

export interface AutoCapacity {
  /** `Observe` only reports the measured load; `Use` makes it the target. */
  readonly mode: 'Observe' | 'Use';
  /** PromQL with variables: what the workload serves, in the unit of the metric. */
  readonly servedQuery: string;
  /** PromQL with variables, in the unit of `servedQuery`. Unset: all served requests count. */
  readonly errorsQuery?: string;
}

/** Waiting work. `backlog / drainSeconds` is added to the value of the metric, which is a rate. */
export interface Backlog {
  /** PromQL with variables. */
  readonly query: string;
  /** 1 to 86,400. */
  readonly drainSeconds: number;
  /** Only set for a decision: new pods start to process the backlog after this time. */
  readonly podStartSeconds?: number;
}

export interface Freshness {
  /** PromQL with variables that returns the Unix time of the newest sample in seconds. */
  readonly query: string;
  /** 1 to 86,400. */
  readonly maxAgeSeconds: number;
}

export interface ObjectMetric extends TotalMetric {
  readonly type: 'Object';
  /** Null: `$object` is not available. */
  readonly describedObject: TargetRef | null;
}

export interface ExternalMetric extends TotalMetric {
  readonly type: 'External';
}

export type MetricSpec =
  ResourceMetric | ContainerResourceMetric | PodsMetric | ObjectMetric | ExternalMetric;

export type MetricType = MetricSpec['type'];

/** Limits the change to `value` pods or percent within `periodSeconds`. */
export interface ScalingPolicy {
  readonly type: 'Pods' | 'Percent';
  readonly value: number;
  readonly periodSeconds: number;
}

/** One direction of `behavior` with all defaults (algorithm.md, point 29). */
export interface ScalingRules {
  readonly stabilizationWindowSeconds: number;
  readonly selectPolicy: 'Max' | 'Min' | 'Disabled';
  readonly policies: readonly ScalingPolicy[];
  /** 0 to 1. Default: `tolerance` of the spec. */
  readonly tolerance: number;
}

export interface Behavior {
  readonly scaleUp: ScalingRules;
  readonly scaleDown: ScalingRules;
}

/**
 * `atLeast` only raises to the replicas, `exact` also lowers to them, `currentReplicasIfHigher` keeps a higher current
 * count.
 */
export type FallbackMode = 'atLeast' | 'exact' | 'currentReplicasIfHigher';

export interface Fallback {
  /** Time without a value before the fallback applies. */
  readonly afterSeconds: number;
  readonly replicas: number;
  readonly mode: FallbackMode;
}

/** The limit of CHPA on one scale-up: `max(minimum, trunc(factor x specReplicas))`. */
export interface ScaleUpLimit {
  readonly factor: number;
  readonly minimum: number;
  /**
   * Whether the document or the preset sets factor or minimum. With `behavior`, the limit applies only in this case.
   */
  readonly isExplicit: boolean;
}

export interface DownscaleConfirmation {
  /** 0 to 3,600: every decision in this period must have proposed fewer than the current replicas. */
  readonly seconds: number;
  /** 2 to 100: minimum number of such consecutive decisions. */
  readonly decisions: number;
}

/** `Observe` calculates and explains the forecast; `Raise` also lets it raise the count. */
export type ForecastMode = 'Observe' | 'Raise';

/** Raises the count before a load that has come at the same local time on earlier days. */
export interface Forecast {
  /** Position in `metrics`; -1: no metric has a total load. */
  readonly metric: number;
  readonly mode: ForecastMode;
  /** 3 to 35. */
  readonly lookbackDays: number;
  /** The quantile of the loads of earlier days to use, above 0, at most 1. */
  readonly quantile: number;
  /** 50 to 100: usage in percent of the requests that the ready pods may have when the load arrives. */
  readonly fillPercent: number;
  /** Time from a pod's start until its load shows; null: measured pod start plus the window of the query. */
  readonly leadSeconds: number | null;
  /** The time zone in which times of day are compared. */
  readonly timeZone: string;
  /** Replicas that the forecast may add, in percent of the replicas without it: mean of three days. */
  readonly budgetPercent: number;
}

/** A ceiling for scale-up below `maxReplicas`. */
export interface MaxReplicasFrom {
  /** PromQL with variables that returns a number of replicas. Several series are added up. */
  readonly query: string;
  readonly source: string;
}

/** Supported for Deployments and ReplicaSets. */
export interface PodDeletionCost {
  /** PromQL with variables that returns one series per pod. */
  readonly query: string;
  /** `ascending`: a scale-down removes the pods with the smallest values first. */
  readonly order: 'ascending' | 'descending';
  readonly source: string;
}

/** `spec` of a document with all defaults and with quantities in milli-units. Frozen. */
export interface ScalerSpec {
  readonly preset: Preset;
  readonly scaleTargetRef: TargetRef;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** Null: only `maxReplicas` limits the count. */
  readonly maxReplicasFrom: MaxReplicasFrom | null;
  readonly metrics: readonly MetricSpec[];
  /** Null: unset, which differs from `behavior: {}` (algorithm.md, points 27-29). */
  readonly behavior: Behavior | null;
  /** 0 to 1, for both directions. */
  readonly tolerance: number;
  readonly scaleUpLimit: ScaleUpLimit;
  readonly upscaleForbiddenWindowSeconds: number;
  readonly downscaleForbiddenWindowSeconds: number;
  readonly forbiddenWindowsSince: 'SameDirection' | 'AnyRescale';
  readonly cpuInitializationPeriodSeconds: number;
  readonly initialReadinessDelaySeconds: number;
  readonly downscaleStabilizationSeconds: number;
  readonly downscaleConfirmation: DownscaleConfirmation | null;
  /** 1 to 100; null: no limit. */
  readonly maxScaleDownPercentPerWindow: number | null;
  /** Null: no decision uses the pod start time. `seconds`: 1 to 3,600; null: measured. */
  readonly podStart: { readonly seconds: number | null } | null;
  /** Null: only measured values determine the count. */
  readonly forecast: Forecast | null;
  /** 0: only the rules of the HPA apply to young pods. */
  readonly podWarmupSeconds: number;
  readonly syncPeriodSeconds: number;
  /** How long every metric must have been at or below its activation threshold before scaling to 0. */
  readonly cooldownSeconds: number;
  readonly dryRun: boolean;
  /** `true`: both directions. */
  readonly paused: boolean | 'scale-up' | 'scale-down';
  /** Replicas to use while a metric has no value; null: the count is held. */
  readonly fallback: Fallback | null;
  readonly schedules: readonly Schedule[];
  /** Null: Kubernetes chooses the pods to remove. */
  readonly podDeletionCost: PodDeletionCost | null;
}

export interface Scaler {
  /** `NAMESPACE/NAME`. Stored, because a new string would have to be hashed for each lookup. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** The document as written, as plain JSON, with `defaults` of the service config merged in. */
  readonly document: ScalerDocument;
  readonly spec: ScalerSpec;
}

/** The schema defines `spec`. */
interface ScalerDocument {
  readonly apiVersion: 'promscaler.dev/v1';
  readonly kind: 'Scaler';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Returns `NAMESPACE/NAME`, the `key` of a scaler. */
export function scalerKey(scaler: { readonly namespace: string; readonly name: string }): string {
  return `${scaler.namespace}/${scaler.name}`;
}

/** Returns `capacity.auto` of a metric, or undefined. */
export function autoCapacityOf(metric: MetricSpec): AutoCapacity | undefined {
  return 'autoCapacity' in metric ? metric.autoCapacity : undefined;
}

/** Returns whether the query of a metric comes from the data source, not from the document. */
export function isOfResource(metric: MetricSpec): metric is ResourceMetric | ContainerResourceMetric {
  return metric.type === 'Resource' || metric.type === 'ContainerResource';
}

export type CpuMetric = (ResourceMetric | ContainerResourceMetric) & { readonly name: 'cpu' };

export function isCpu(metric: MetricSpec): metric is CpuMetric {
  return isOfResource(metric) && metric.name === 'cpu';
}

/** Returns whether the metric is memory, which does not depend on the number of pods. */
export function isMemory(metric: MetricSpec): boolean {
  return isOfResource(metric) && metric.name !== 'cpu';
}
