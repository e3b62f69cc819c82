import type { Schedule } from '../schedules/schedule.js';
import type { Milli } from '../units/quantity.js';

/** Which defaults hold where the document says nothing: the HPA of today, CHPA's, or the HPA's before 1.12. */
export type Preset = 'hpa' | 'chpa' | 'hpa-1.11';

/** The workload that is scaled; anything with a `/scale` subresource. */
export interface TargetRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/**
 * A metric's target. `Utilization` is whole percents of the requests, at least 1; `AverageValue` (for each pod) and
 * `Value` are milli-units above 0.
 */
export type MetricTarget =
  | { readonly type: 'Utilization'; readonly percent: number }
  | { readonly type: 'AverageValue'; readonly milli: Milli }
  | { readonly type: 'Value'; readonly milli: Milli };

/** A metav1.LabelSelector with its short form written out. All requirements must hold; none at all matches everything. */
export type LabelSelector = readonly LabelRequirement[];

export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values: readonly string[];
}

/** What no series (`onMissing`) or only NaN (`onNaN`) means. */
export type MissingPolicy = 'error' | 'zero';

interface MetricBase {
  /** The metric's name: the resource's, or `metric.name` (default: taken from the query). */
  readonly name: string;
  /** What sets it apart within a document, beside its type: the name, for ContainerResource `CONTAINER/name`. */
  readonly identity: string;
  readonly target: MetricTarget;
  /** The data source of the service config that is asked. */
  readonly source: string;
}

export interface ResourceMetric extends MetricBase {
  readonly type: 'Resource';
}

export interface ContainerResourceMetric extends MetricBase {
  readonly type: 'ContainerResource';
  readonly container: string;
}

interface QueriedMetric extends MetricBase {
  /** PromQL as written, variables not yet replaced. */
  readonly query: string;
  /** Keeps the matching series of the answer. */
  readonly selector: LabelSelector;
}

export interface PodsMetric extends QueriedMetric {
  readonly type: 'Pods';
}

interface TotalMetric extends QueriedMetric {
  /** Above which value there is work at all; null: the metric neither wakes nor keeps awake. */
  readonly activation: { readonly above: Milli } | null;
  readonly onMissing: MissingPolicy;
  readonly onNaN: MissingPolicy;
  /** PromQL that must be true, else there is no value; null: none. Variables not yet replaced. */
  readonly guard: string | null;
  /** How old the data may be; null: as old as the source takes it. */
  readonly freshness: Freshness | null;
}

/** The age of a metric's data, at which there is no value any more. */
export interface Freshness {
  /** PromQL whose value is a time in seconds since 1970: when the newest sample was taken. Variables not yet replaced. */
  readonly query: string;
  /** 1 to 86,400. */
  readonly maxAgeSeconds: number;
}

export interface ObjectMetric extends TotalMetric {
  readonly type: 'Object';
  /** Null where the document names none: then `$object` is not available. */
  readonly describedObject: TargetRef | null;
}

export interface ExternalMetric extends TotalMetric {
  readonly type: 'External';
}

export type MetricSpec =
  ResourceMetric | ContainerResourceMetric | PodsMetric | ObjectMetric | ExternalMetric;

export type MetricType = MetricSpec['type'];

/** One rate policy of `behavior`: `value` pods or percent within `periodSeconds`. */
export interface ScalingPolicy {
  readonly type: 'Pods' | 'Percent';
  readonly value: number;
  readonly periodSeconds: number;
}

/** One direction of `behavior`, defaults filled in (algorithm.md, point 29). */
export interface ScalingRules {
  readonly stabilizationWindowSeconds: number;
  readonly selectPolicy: 'Max' | 'Min' | 'Disabled';
  readonly policies: readonly ScalingPolicy[];
  /** 0 to 1; where the document gives none, the scaler-wide `tolerance`. */
  readonly tolerance: number;
}

export interface Behavior {
  readonly scaleUp: ScalingRules;
  readonly scaleDown: ScalingRules;
}

/**
 * How far a fallback's count goes: `atLeast` only raises, `exact` also lowers, `currentReplicasIfHigher` stands for the
 * present count where that is higher.
 */
export type FallbackMode = 'atLeast' | 'exact' | 'currentReplicasIfHigher';

export interface Fallback {
  /** How long a metric must have been without a value. */
  readonly afterSeconds: number;
  readonly replicas: number;
  readonly mode: FallbackMode;
}

/** CHPA's cap on one scale-up: `max(minimum, trunc(factor x specReplicas))`. */
export interface ScaleUpLimit {
  readonly factor: number;
  readonly minimum: number;
  /** Whether document or preset names factor or minimum. With `behavior` the limit applies only then. */
  readonly isExplicit: boolean;
}

/** What confirms a scale-down. */
export interface DownscaleConfirmation {
  /** 0 to 3,600: every decision of so long has asked for less. */
  readonly seconds: number;
  /** 2 to 100: and at least so many in a row. */
  readonly decisions: number;
}

/** Which pods of a Deployment or ReplicaSet go first when it is scaled down. */
export interface PodDeletionCost {
  /** PromQL with one series for each pod, as written: variables not yet replaced. */
  readonly query: string;
  /** `ascending`: the pods with the smallest values go first. */
  readonly order: 'ascending' | 'descending';
  /** The data source that is asked. */
  readonly source: string;
}

/** The `spec` of a scaler document with every default filled in and quantities as milli-units. Frozen. */
export interface ScalerSpec {
  readonly preset: Preset;
  readonly scaleTargetRef: TargetRef;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly metrics: readonly MetricSpec[];
  /** Null: the document gives none. That is not the same as `behavior: {}` (points 27-29). */
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
  /** Null: a scale-down needs no confirmation. */
  readonly downscaleConfirmation: DownscaleConfirmation | null;
  /** 1 to 100; null: no limit. */
  readonly maxScaleDownPercentPerWindow: number | null;
  /** 0: only the HPA's own rules for young pods. */
  readonly podWarmupSeconds: number;
  readonly syncPeriodSeconds: number;
  /** How long every activation must have been unmet before the last replica goes. */
  readonly cooldownSeconds: number;
  readonly dryRun: boolean;
  /** `true`: in both directions. */
  readonly paused: boolean | 'scale-up' | 'scale-down';
  /** What stands in for a metric without a value; null: nothing, the count is held. */
  readonly fallback: Fallback | null;
  /** Floors and ceilings by time. */
  readonly schedules: readonly Schedule[];
  /** Null: Kubernetes alone chooses the pods that go. */
  readonly podDeletionCost: PodDeletionCost | null;
}

/** A scaler document that was read without an error. Frozen. */
export interface Scaler {
  readonly namespace: string;
  readonly name: string;
  /** The document, short forms as written, the service config's `defaults` merged in: plain JSON. */
  readonly document: ScalerDocument;
  readonly spec: ScalerSpec;
}

/** The outer form of a scaler document; what its `spec` may hold is in the schema. */
export interface ScalerDocument {
  readonly apiVersion: 'promscaler.dev/v1';
  readonly kind: 'Scaler';
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** `NAMESPACE/NAME`, what a scaler is called everywhere. */
export function scalerKey(scaler: { readonly namespace: string; readonly name: string }): string {
  return `${scaler.namespace}/${scaler.name}`;
}
