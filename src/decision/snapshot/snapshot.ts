import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import type { Failure } from '../../units/failure.js';
import type { Milli } from '../../units/quantity.js';
import { formatInstant, type Instant } from '../../units/time.js';

/** The complete input of a decision. parse-snapshot.ts reads it from JSON, and write-json.ts writes it. */
export interface Snapshot {
  readonly scaler: Scaler;
  /** The time of the decision. `decide` reads no clock. */
  readonly now: Instant;
  readonly target: ReplicaCounts;
  readonly pods: readonly Pod[];
  /** One sample for each entry of `scaler.spec.metrics`, in the same order. */
  readonly samples: readonly Sample[];
  /** The answer to the query of `maxReplicasFrom`; unset: the document has no such query, or it was not sent. */
  readonly maxReplicasFrom?: ValuesSample | ErrorSample;
  /**
   * The time in which 95 % of the target's pods have become ready; unset: it is not known, or the document does not use
   * it.
   */
  readonly podStartSeconds?: number;
  /** Unset: the document has no forecast, or the history was not read yet. */
  readonly loadHistory?: LoadHistory;
  readonly state: State;
}

/** The past load of the metric that is forecast, in base units. */
export interface LoadHistory {
  /** The time from the creation of a pod until the metric shows its load. */
  readonly leadSeconds: number;
  /** The highest load within the lookback of the forecast. */
  readonly highest: number;
  /** One season for each earlier day, latest first. */
  readonly seasons: readonly Season[];
  /** Why the history cannot be used; null: it can. */
  readonly unusable: string | null;
}

/** The load of one earlier day, around the current time of day. */
export interface Season {
  /**
   * The time of that day that is `leadSeconds` after the current time of day. A pod that is started at the current time
   * of day would carry load from then on.
   */
  readonly at: Instant;
  /**
   * The highest load of that day from the current time of day until 180 s after `at`, as a mean of two consecutive
   * minutes.
   */
  readonly load: number;
  /** The mean load in the 10 minutes before the current time of day. */
  readonly level: number;
}

export interface ReplicaCounts {
  /** `.spec.replicas` of the target; 1 if the target does not set it. */
  readonly specReplicas: number;
  readonly statusReplicas: number;
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface Pod {
  readonly name: string;
  readonly phase: PodPhase;
  readonly deleting: boolean;
  readonly startTime: Instant | null;
  /** The status of the pod's `Ready` condition; null: the pod has no such condition. */
  readonly ready: boolean | null;
  /** `lastTransitionTime` of the `Ready` condition. */
  readonly readyChangedAt: Instant | null;
  /** Requests in milli-units, by container name and resource name. Restartable init containers are included. */
  readonly requests: ReadonlyMap<string, ReadonlyMap<string, Milli>>;
  /** Pod-level requests in milli-units, by resource name; null: the pod has none. */
  readonly podRequests: ReadonlyMap<string, Milli> | null;
  /** The sum of the cpu limits of the containers, above 0; unset: at least one container has no cpu limit. */
  readonly cpuLimit?: Milli;
}

/** Returns the number of pods that serve requests: their `Ready` condition is true, and they are not terminating. */
export function countReady(pods: readonly Pod[]): number {
  return pods.reduce((count, pod) => count + Number(isAlive(pod) && pod.ready === true), 0);
}

/** Returns whether a pod is one of the replicas. The ReplicaSet replaces pods that are terminating or terminated. */
export function isAlive({ deleting, phase }: Pick<Pod, 'deleting' | 'phase'>): boolean {
  return !deleting && phase !== 'Succeeded' && phase !== 'Failed';
}

/** The answer to the query of a metric. Numbers are in base units (cores, bytes, or the unit of the query). */
export type Sample = ContainersSample | PodsSample | ValuesSample | ErrorSample;

interface Valued {
  /** Time of the newest raw sample. */
  readonly at: Instant;
  /**
   * Why the numbers may be too low; null: the sample is complete. A partial sample may raise the count, but not lower
   * it.
   */
  readonly partial: string | null;
}

/**
 * Usage by pod and container, as parallel lists. Samples of the same pods share all lists except the values, which
 * takes a tenth of the memory of maps.
 */
export interface ContainerUsage {
  /** Pod names without duplicates. */
  readonly pods: readonly string[];
  /**
   * The containers of `pods[i]` are at the indexes from `starts[i]` up to, but not including, `starts[i + 1]`. The list
   * therefore has one entry more than `pods`.
   */
  readonly starts: readonly number[];
  /** Container names; an empty name means the whole pod. */
  readonly containers: readonly string[];
  readonly values: readonly number[];
}

/** Sample of a Resource or ContainerResource metric. */
export interface ContainersSample extends Valued, ContainerUsage {
  readonly form: 'containers';
  /** The window of the rate; 0: the metric is a gauge. */
  readonly windowSeconds: number;
  /**
   * The scrape interval from which the window was derived; null: not known yet. Unset: the service config sets the
   * window.
   */
  readonly learnedIntervalSeconds?: number | null;
  /** The answer to `saturation.served.query`; unset: there is none. */
  readonly served?: number;
}

/** The sample of a Pods metric: one value for each pod. */
export interface PodsSample extends Valued {
  readonly form: 'pods';
  readonly windowSeconds: number;
  /** Pod names without duplicates. */
  readonly pods: readonly string[];
  readonly values: readonly number[];
}

/** Converts usage by pod and container to the parallel lists of a sample. */
export function listUsage(usage: ReadonlyMap<string, ReadonlyMap<string, number>>): ContainerUsage {
  const starts: number[] = [];
  const containers: string[] = [];
  const values: number[] = [];
  for (const ofPod of usage.values()) {
    starts.push(values.length);
    for (const [container, value] of ofPod) {
      containers.push(container);
      values.push(value);
    }
  }
  starts.push(values.length);
  return { pods: [...usage.keys()], starts, containers, values };
}

/**
 * The series that a query returned: exactly one for an Object metric, any number for an External metric, which uses
 * their sum.
 */
export interface ValuesSample extends Valued {
  readonly form: 'values';
  readonly values: readonly number[];
  /** The sum of the series of `backlog.query`; unset: the metric has no backlog. */
  readonly backlog?: number;
  /** The value of `capacity.query`, above 0; unset: the target of the document applies. */
  readonly capacity?: number;
  /** The capacity that `capacity.auto` has measured; unset: nothing was measured yet. */
  readonly measuredCapacity?: MeasuredCapacity;
}

/** The load that one pod carries, measured on up to three days. All loads are above 0. */
export interface MeasuredCapacity {
  /**
   * The highest load that a ready pod has carried without errors. After a drift to a lower capacity, only loads since
   * the drift are included.
   */
  readonly value: number;
  /** The lowest and the highest (`high`) capacity of a single day. */
  readonly low: number;
  readonly high: number;
  /** The number of days with a value, at most 3; 0: only the last hour has a value. */
  readonly days: number;
  /** When the capacity was read from the data source. */
  readonly at: Instant;
  /** Unset: the capacity is about the same as on the days before. */
  readonly drift?: CapacityDrift;
}

/**
 * A change of the capacity: now the pods carry less than 90 %, or more than 110 %, of the load that pods carried on the
 * days before.
 */
export interface CapacityDrift {
  readonly since: Instant;
  readonly before: number;
  /**
   * When the oldest ready pod started; null: unknown. If a release has replaced all pods, this is when the release
   * began.
   */
  readonly oldestPod: Instant | null;
}

/** A sample without a value. It is read as 0 only if the document allows that. */
export interface ErrorSample {
  readonly form: 'error';
  readonly failure: Failure;
}

/** The `kind` of a sample in JSON. `failed`: the data source did not answer the query. */
export type SampleErrorKind = 'missing' | 'nan' | 'invalid' | 'failed';

export function errorKindOf({ reason }: Failure): SampleErrorKind {
  return reason === 'missing' || reason === 'nan' || reason === 'invalid' ? reason : 'failed';
}

export interface Recommendation {
  readonly at: Instant;
  readonly replicas: number;
}

export interface ScaleEvent {
  readonly at: Instant;
  /** The difference in replicas, never 0. */
  readonly change: number;
  /**
   * The earliest possible time of a change whose exact time is unknown, because a clock was set, or because only the
   * intent of the change was found. Absent: `at` is exact. A rule uses `earliest` where it is stricter than `at`.
   */
  readonly earliest?: Instant;
  /**
   * Other times by which the same change is recognized: the time of its intent, and its time before a clock was set.
   * Decisions do not read them. Absent: there are none.
   */
  readonly alsoAt?: readonly Instant[];
}

export interface Saturation {
  /** Since when usage has been at the limits of the pods; null: usage is below the limits, or this is unknown. */
  readonly since: Instant | null;
  /**
   * The served load when pods were last added because of saturation, or at the last later time when usage was at or
   * below the target; null: it is not known.
   */
  readonly served: number | null;
  /**
   * When pods were last added because of saturation, and the count after that; null: never, or the added pods have had
   * time to start.
   */
  readonly step: { readonly at: Instant; readonly to: number } | null;
}

/** The state of a forecast. Pod-seconds are kept for the last 3 days, in parts of 6 hours. */
export interface ForecastState {
  /** The time of the decision that stored this state. */
  readonly at: Instant;
  readonly minutes: readonly LoadMinute[];
  /** The count that the scaler would have without a forecast. */
  readonly reactive: ReactiveCount;
  /** The counts that the forecast proposed within the last `leadSeconds`; only changes are listed. */
  readonly proposals: readonly Recommendation[];
  readonly spent: readonly SpentPart[];
  /** The latest raises, in order of time. */
  readonly raises: readonly Raise[];
}

/** A period in which the forecast increased the count, with the effects in pod-seconds. */
export interface Raise {
  readonly from: Instant;
  readonly until: Instant;
  readonly added: number;
  readonly prevented: number;
}

export interface LoadMinute {
  readonly at: Instant;
  readonly sum: number;
  readonly count: number;
}

export interface ReactiveCount {
  readonly replicas: number;
  readonly lastScaleUp: Instant | null;
  readonly lastScaleDown: Instant | null;
  readonly scaleEvents: readonly ScaleEvent[];
}

/** The pod-seconds of a part of 6 hours. */
export interface SpentPart {
  readonly from: Instant;
  /** Pod-seconds that the scaler would have used without a forecast. */
  readonly reactive: number;
  /** Pod-seconds that the forecast added (with `Observe`: would have added). */
  readonly added: number;
  /** Pod-seconds that would have been missing without a forecast. */
  readonly short: number;
  /** The part of `short` that the forecast prevented (with `Observe`: would have prevented). */
  readonly prevented: number;
}

/**
 * The results of earlier decisions that later decisions need. `Decision.state` becomes the `state` of the next
 * snapshot.
 */
export interface State {
  readonly lastScaleUp: Instant | null;
  readonly lastScaleDown: Instant | null;
  /** Recommendations before any limit. Null marks the first decision of a scaler; an empty list does not. */
  readonly recommendations: readonly Recommendation[] | null;
  readonly scaleEvents: readonly ScaleEvent[];
  /** The latest consecutive proposals of fewer replicas; empty unless the document has `downscaleConfirmation`. */
  readonly downscaleProposals: readonly Recommendation[];
  readonly holdScaleDownUntil: Instant | null;
  readonly holdReason: string | null;
  /** Since when a metric has had no value, by `metricKey`. Empty after a decision at 0 replicas. */
  readonly failingSince: ReadonlyMap<string, Instant>;
  /** Whether promscaler set the target to 0, possibly because of a pause. False: another client did. */
  readonly zeroedBySelf: boolean;
  readonly inactiveSince: Instant | null;
  /** The last full value of `maxReplicasFrom`; unset: there was none yet, or the document has no such query. */
  readonly maxReplicasFrom?: number;
  /** Absent: no metric has `saturation`, or none has had a sample. */
  readonly saturation?: Saturation | undefined;
  /** Absent: the document has no forecast. */
  readonly forecast?: ForecastState | undefined;
  /**
   * When the document last changed. Used only in reasons. Set while a recommendation, a scale-down proposal or
   * `inactiveSince` is older than that change.
   */
  readonly documentChangedAt?: Instant | undefined;
  /**
   * The time of the first decision, if it made no recommendation. Used only in reasons. Set while the window contains
   * the count of that time.
   */
  readonly firstCountAt?: Instant | undefined;
}

/** Returns a clause if the document has changed since `at`, otherwise an empty string. */
export function sinceChange(
  at: Instant,
  { documentChangedAt }: State,
  conjunction: 'before' | 'although' = 'before',
): string {
  return documentChangedAt === undefined || at >= documentChangedAt
    ? ''
    : `, ${conjunction} the document changed at ${formatInstant(documentChangedAt)}`;
}

export const EMPTY_STATE: State = {
  lastScaleUp: null,
  lastScaleDown: null,
  recommendations: null,
  scaleEvents: [],
  downscaleProposals: [],
  holdScaleDownUntil: null,
  holdReason: null,
  failingSince: new Map(),
  zeroedBySelf: false,
  inactiveSince: null,
};

/** Returns the key of a metric in states and records: `Resource/cpu`. */
export function metricKey({ type, identity }: MetricSpec): string {
  return `${type}/${identity}`;
}
