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

/** The kinds of watched targets, all in the API group `apps`, with their plurals in the API. */
export const WATCHED_KINDS: Readonly<Record<string, string>> = {
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
  ReplicaSet: 'replicasets',
};

/** Returns whether a target is watched. Another target is read by its `/scale`, which has no annotations. */
export function isWatched({ apiVersion, kind }: Pick<TargetRef, 'apiVersion' | 'kind'>): boolean {
  return apiVersion.startsWith('apps/') && Object.hasOwn(WATCHED_KINDS, kind);
}

/**
 * The annotations of a target that pause its scaling. `reason` has no effect and is only reported. Source: contract.md
 * section 6.
 */
export const PAUSE_ANNOTATIONS = {
  paused: 'promscaler.dev/paused',
  until: 'promscaler.dev/paused-until',
  replicas: 'promscaler.dev/paused-replicas',
  reason: 'promscaler.dev/paused-reason',
} as const;

/**
 * Annotation of a document in dry run. It names the autoscaler from which the document was made, such as
 * `HorizontalPodAutoscaler/web`.
 */
export const ADOPTED_FROM = 'promscaler.dev/adopted-from';

/** Annotation of a Scaler object: the manifest of the autoscaler in `ADOPTED_FROM` as JSON, for `adopt --undo`. */
export const ADOPTED_MANIFEST = 'promscaler.dev/adopted-manifest';

/** Annotation of a Scaler object: the time at which `ADOPTED_MANIFEST` was saved, in RFC 3339. */
export const ADOPTED_AT = 'promscaler.dev/adopted-at';

/**
 * Annotation of a document of `import --dry-run`. It contains the spec to which the autoscaler in `ADOPTED_FROM` was
 * converted as JSON, so that `adopt` finds later changes of the autoscaler, whatever a user changes in the document.
 */
export const IMPORTED_SPEC = 'promscaler.dev/imported-spec';

export interface Origin {
  readonly kind: string;
  readonly name: string;
}

/** Returns the autoscaler from which a document was made; null: none. */
export function adoptedFrom({ document }: { readonly document: unknown }): Origin | null {
  const origin = valueAt(document, ['metadata', 'annotations', ADOPTED_FROM]);
  const [kind = '', name = ''] = typeof origin === 'string' ? origin.split('/') : [];
  return kind === '' || name === '' ? null : { kind, name };
}

/**
 * The target of a metric. `Utilization` is an integer percentage of the requests, at least 1. `AverageValue` (per pod)
 * and `Value` are in milli-units, above 0.
 */
export type MetricTarget =
  | { readonly type: 'Utilization'; readonly percent: number }
  | { readonly type: 'AverageValue'; readonly milli: Milli }
  | { readonly type: 'Value'; readonly milli: Milli };

/**
 * A metav1.LabelSelector whose `matchLabels` are expanded to requirements. All requirements must be met; an empty list
 * matches everything.
 */
export type LabelSelector = readonly LabelRequirement[];

export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values: readonly string[];
}

/** How an empty result (`onMissing`), or a result with only NaN (`onNaN`), is treated. */
type MissingPolicy = 'error' | 'zero';

interface MetricBase {
  /** Name of the resource, or `metric.name`. The default of `metric.name` is the first metric name in the query. */
  readonly name: string;
  /** Identifies the metric among those of its type: the name, or `CONTAINER/NAME` for ContainerResource. */
  readonly identity: string;
  readonly target: MetricTarget;
  readonly source: string;
}

export interface ResourceMetric extends MetricBase {
  readonly type: 'Resource';
  /** Only for cpu. Unset: usage at the limit of the pods has no special effect. */
  readonly saturation?: SaturationStep;
}

/**
 * Settings of `saturation`. While all pods use as much cpu as their limits allow, usage cannot show the load;
 * `saturation` then raises the count in steps.
 */
export interface SaturationStep {
  /** PromQL with variables for the load served per second. The next step is taken only if this load has grown. */
  readonly servedQuery: string;
  /** From 1.1 to 10. The count after a step is this factor times the ready pods. */
  readonly factor: number;
}

export interface ContainerResourceMetric extends MetricBase {
  readonly type: 'ContainerResource';
  readonly container: string;
}

interface QueriedMetric extends MetricBase {
  /** The query as the document writes it, with variables. */
  readonly query: string;
  /** Requirements for the series of the result; other series are dropped. */
  readonly selector: LabelSelector;
  /**
   * Maximum age of the newest samples for a scale-down; 0: the age is not checked. Unset: the default of the data
   * source.
   */
  readonly maxSampleAgeSeconds?: number;
}

export interface PodsMetric extends QueriedMetric {
  readonly type: 'Pods';
}

interface TotalMetric extends QueriedMetric {
  /** Threshold for scaling between 0 and 1 replicas; null: the metric does not affect it. */
  readonly activation: { readonly above: Milli } | null;
  readonly onMissing: MissingPolicy;
  readonly onNaN: MissingPolicy;
  /** PromQL with variables. While its result is not true, the metric has no value. Null: there is no guard. */
  readonly guard: string | null;
  /** Limits the age of the data; null: only the data source limits it. */
  readonly freshness: Freshness | null;
  /** Unset: the query alone determines the value. */
  readonly backlog?: Backlog;
  /** PromQL with variables that returns the load that one pod carries. Unset: the document's target is used. */
  readonly capacityQuery?: string;
  /** Unset: the load that one pod carries is not measured. */
  readonly autoCapacity?: AutoCapacity;
}

export interface AutoCapacity {
  /** `Observe` only reports the measured load; `Use` makes it the target. */
  readonly mode: 'Observe' | 'Use';
  /** PromQL with variables that returns what the workload serves, in the unit of the metric. */
  readonly servedQuery: string;
  /**
   * PromQL with variables that returns the failed part, in the unit of `servedQuery`. Unset: all served requests are
   * assumed to be successful.
   */
  readonly errorsQuery?: string;
}

/** Waiting work. `backlog / drainSeconds` is added to the metric, which must be a rate. */
export interface Backlog {
  /** PromQL with variables that returns the amount of waiting work. */
  readonly query: string;
  /** The time in which the waiting work is to be processed, from 1 to 86,400 s. */
  readonly drainSeconds: number;
  /** Set only by a decision: the time after which new pods start to process the backlog. */
  readonly podStartSeconds?: number;
}

export interface Freshness {
  /** PromQL with variables that returns the Unix time of the newest sample in seconds. */
  readonly query: string;
  /** From 1 to 86,400 s. */
  readonly maxAgeSeconds: number;
}

export interface ObjectMetric extends TotalMetric {
  readonly type: 'Object';
  /** The object that `$object` names; null: the variable is not available. */
  readonly describedObject: TargetRef | null;
}

export interface ExternalMetric extends TotalMetric {
  readonly type: 'External';
}

export type MetricSpec =
  ResourceMetric | ContainerResourceMetric | PodsMetric | ObjectMetric | ExternalMetric;

export type MetricType = MetricSpec['type'];

/** Allows a change by `value` pods or percent within `periodSeconds`. */
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
  /** From 0 to 1. Default: `tolerance` of the spec. */
  readonly tolerance: number;
}

export interface Behavior {
  readonly scaleUp: ScalingRules;
  readonly scaleDown: ScalingRules;
}

/**
 * How a fallback treats the current count. `atLeast` only raises it to the replicas, `exact` also lowers it, and
 * `currentReplicasIfHigher` keeps a higher count.
 */
export type FallbackMode = 'atLeast' | 'exact' | 'currentReplicasIfHigher';

export interface Fallback {
  /** How long a metric must have been without a value before the fallback applies. */
  readonly afterSeconds: number;
  readonly replicas: number;
  readonly mode: FallbackMode;
}

/** The limit of CHPA on one scale-up: `max(minimum, trunc(factor x specReplicas))`. */
export interface ScaleUpLimit {
  readonly factor: number;
  readonly minimum: number;
  /**
   * Whether the document or the preset sets the factor or the minimum. If `behavior` is set, the limit applies only in
   * that case.
   */
  readonly isExplicit: boolean;
}

export interface DownscaleConfirmation {
  /** From 0 to 3,600. Every decision in this time must have proposed fewer replicas than the current count. */
  readonly seconds: number;
  /** From 2 to 100: how many consecutive decisions must at least have proposed fewer replicas. */
  readonly decisions: number;
}

/** `Observe` only calculates and explains the forecast; `Raise` also lets it raise the count. */
export type ForecastMode = 'Observe' | 'Raise';

/**
 * Settings of a forecast. The forecast raises the count before a load that came at the same local time on earlier days.
 */
export interface Forecast {
  /** Index in `metrics`; -1: no metric has a total load. */
  readonly metric: number;
  readonly mode: ForecastMode;
  /** From 3 to 35. */
  readonly lookbackDays: number;
  /** The quantile of the loads of earlier days that is the expected load; above 0, at most 1. */
  readonly quantile: number;
  /** From 50 to 100: the usage, in percent of the requests, up to which the expected load may fill the ready pods. */
  readonly fillPercent: number;
  /**
   * Time from a pod's start until the metric shows its load; null: the measured pod start plus the window of the query.
   */
  readonly leadSeconds: number | null;
  /** The time zone in which times of day are compared. */
  readonly timeZone: string;
  /** Replicas that the forecast may add, in percent of the replicas without it, on average over three days. */
  readonly budgetPercent: number;
}

/** A limit for scale-ups that may be lower than `maxReplicas`. */
export interface MaxReplicasFrom {
  /** PromQL with variables that returns a number of replicas. Several series are added up. */
  readonly query: string;
  readonly source: string;
}

/** Determines which pods a scale-down removes. Only Deployments and ReplicaSets support it. */
export interface PodDeletionCost {
  /** PromQL with variables that returns one series per pod. */
  readonly query: string;
  /** `ascending`: a scale-down removes the pods with the smallest values first. */
  readonly order: 'ascending' | 'descending';
  readonly source: string;
}

/** The `spec` of a document with all defaults, and with quantities in milli-units. Frozen. */
export interface ScalerSpec {
  readonly preset: Preset;
  readonly scaleTargetRef: TargetRef;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** Null: only `maxReplicas` limits the count. */
  readonly maxReplicasFrom: MaxReplicasFrom | null;
  readonly metrics: readonly MetricSpec[];
  /** Null: `behavior` is unset, which differs from `behavior: {}` (algorithm.md, points 27-29). */
  readonly behavior: Behavior | null;
  /** From 0 to 1, for both directions. */
  readonly tolerance: number;
  readonly scaleUpLimit: ScaleUpLimit;
  readonly upscaleForbiddenWindowSeconds: number;
  readonly downscaleForbiddenWindowSeconds: number;
  readonly forbiddenWindowsSince: 'SameDirection' | 'AnyRescale';
  readonly cpuInitializationPeriodSeconds: number;
  readonly initialReadinessDelaySeconds: number;
  readonly downscaleStabilizationSeconds: number;
  readonly downscaleConfirmation: DownscaleConfirmation | null;
  /** From 1 to 100; null: there is no such limit. */
  readonly maxScaleDownPercentPerWindow: number | null;
  /** Null: no decision uses the pod start time. `seconds` is from 1 to 3,600; null: the time is measured. */
  readonly podStart: { readonly seconds: number | null } | null;
  /** Null: there is no forecast. */
  readonly forecast: Forecast | null;
  /**
   * How long a pod must have been Ready before its usage is included; 0: only the rules of the HPA apply to young pods.
   */
  readonly podWarmupSeconds: number;
  readonly syncPeriodSeconds: number;
  /** How long every metric must have been at or below its activation threshold before scaling to 0. */
  readonly cooldownSeconds: number;
  readonly dryRun: boolean;
  /** `true`: scaling is paused in both directions. */
  readonly paused: boolean | 'scale-up' | 'scale-down';
  /** The replicas while a metric has no value; null: the count is held. */
  readonly fallback: Fallback | null;
  readonly schedules: readonly Schedule[];
  /** Null: Kubernetes chooses the pods to remove. */
  readonly podDeletionCost: PodDeletionCost | null;
}

/** What a query must measure to start a workload from 0 replicas. */
export const OTHER_WORK =
  'work that waits outside of the pods, such as the length of a queue or requests at the Ingress';

export interface Scaler {
  /** `NAMESPACE/NAME`. It is stored for speed: a new string would have to be hashed for each lookup. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** The document as plain JSON. Equals the written document with `defaults` of the service config merged in. */
  readonly document: ScalerDocument;
  readonly spec: ScalerSpec;
}

/** The parts of a document that code reads. `spec` is not typed, because the schema defines it. */
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

export interface ScalerName {
  readonly namespace: string;
  readonly name: string;
}

export function scalerKey(scaler: ScalerName): string {
  return `${scaler.namespace}/${scaler.name}`;
}

/** Returns `capacity.auto` of a metric; undefined: the metric has none. */
export function autoCapacityOf(metric: MetricSpec): AutoCapacity | undefined {
  return 'autoCapacity' in metric ? metric.autoCapacity : undefined;
}

/** Returns whether the value of a metric is a sum over all series of its query, which may belong to no pod. */
export function isOfTotal(metric: MetricSpec): metric is ObjectMetric | ExternalMetric {
  return metric.type === 'Object' || metric.type === 'External';
}

/** Returns whether the data source, not the document, defines the query of a metric. */
export function isOfResource(metric: MetricSpec): metric is ResourceMetric | ContainerResourceMetric {
  return metric.type === 'Resource' || metric.type === 'ContainerResource';
}

export type CpuMetric = (ResourceMetric | ContainerResourceMetric) & { readonly name: 'cpu' };

export function isCpu(metric: MetricSpec): metric is CpuMetric {
  return isOfResource(metric) && metric.name === 'cpu';
}

/**
 * Returns whether the metric is memory. A back-test assumes that memory usage per pod does not depend on the number of
 * pods.
 */
export function isMemory(metric: MetricSpec): boolean {
  return isOfResource(metric) && metric.name !== 'cpu';
}
