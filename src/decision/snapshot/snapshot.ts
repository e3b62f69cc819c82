import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import type { Failure } from '../../units/failure.js';
import type { Milli } from '../../units/quantity.js';
import { formatInstant, type Instant } from '../../units/time.js';

/** The complete input of a decision. parse-snapshot.ts and write-json.ts convert its JSON form. */
export interface Snapshot {
  readonly scaler: Scaler;
  /** The time of the decision; `decide` reads no clock. */
  readonly now: Instant;
  readonly target: ReplicaCounts;
  readonly pods: readonly Pod[];
  /** One per entry of `scaler.spec.metrics`, in the same order. */
  readonly samples: readonly Sample[];
  /** The answer to the query of `maxReplicasFrom`; unset: the document has none, or the query was not sent. */
  readonly maxReplicasFrom?: ValuesSample | ErrorSample;
  /** The time in which 95 % of the target's pods have become ready; unset: not known, or not used. */
  readonly podStartSeconds?: number;
  /** Unset: the document has no forecast, or its history was not read yet. */
  readonly loadHistory?: LoadHistory;
  readonly state: State;
}

/** The past load of the metric of the forecast, in base units. */
export interface LoadHistory {
  /** Time from the start of a pod until its load shows in the metric. */
  readonly leadSeconds: number;
  /** The highest load within the lookback. */
  readonly highest: number;
  /** The latest day first. */
  readonly seasons: readonly Season[];
  /** Why the history cannot be used, or null. */
  readonly unusable: string | null;
}

/** The load of one earlier day around the current time of day. */
export interface Season {
  /** When a pod started at this time of that day would carry load. */
  readonly at: Instant;
  /** The highest mean of two consecutive minutes of that day, from this time of day until 180 s after `at`. */
  readonly load: number;
  /** The mean load of the 10 minutes before this time of that day. */
  readonly level: number;
}

export interface ReplicaCounts {
  /** `.spec.replicas` of the target; 1 if absent there. */
  readonly specReplicas: number;
  readonly statusReplicas: number;
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface Pod {
  readonly name: string;
  readonly phase: PodPhase;
  readonly deleting: boolean;
  readonly startTime: Instant | null;
  /** Status of the `Ready` condition; null: the pod has no such condition. */
  readonly ready: boolean | null;
  /** `lastTransitionTime` of the `Ready` condition. */
  readonly readyChangedAt: Instant | null;
  /** Milli-units by container name and resource name; includes restartable init containers. */
  readonly requests: ReadonlyMap<string, ReadonlyMap<string, Milli>>;
  /** Pod-level requests: milli-units by resource name; null if the pod has none. */
  readonly podRequests: ReadonlyMap<string, Milli> | null;
  /** Sum of the cpu limits of its containers, above 0; unset: it has none, or not for each container. */
  readonly cpuLimit?: Milli;
}

/** The answer to the query of a metric. Numbers are in base units (cores, bytes, or what the query returns). */
export type Sample = ContainersSample | PodsSample | ValuesSample | ErrorSample;

interface Valued {
  /** Time of the newest raw sample. */
  readonly at: Instant;
  /** Why the numbers may be too low; null: full value. A partial sample may raise the count, but not lower it. */
  readonly partial: string | null;
}

/**
 * Usage by pod and container. Lists, because samples with the same pods share all of them but the values: a tenth of
 * the memory of maps.
 */
export interface ContainerUsage {
  /** Distinct names. */
  readonly pods: readonly string[];
  /**
   * Indexes in the following lists at which the containers of each pod start, and the end of the last: one more than
   * `pods`.
   */
  readonly starts: readonly number[];
  /** '' is the whole pod. */
  readonly containers: readonly string[];
  readonly values: readonly number[];
}

/** Sample of a Resource or ContainerResource metric. */
export interface ContainersSample extends Valued, ContainerUsage {
  readonly form: 'containers';
  /** Window of the rate; 0: a gauge. */
  readonly windowSeconds: number;
  /** The scrape interval that the window follows; null: not known yet. Unset: the service config sets the window. */
  readonly learnedIntervalSeconds?: number | null;
  /** The answer to `saturation.served.query`. Unset: there is none. */
  readonly served?: number;
}

/** One value for each pod, for Pods. */
export interface PodsSample extends Valued {
  readonly form: 'pods';
  readonly windowSeconds: number;
  /** Distinct names. */
  readonly pods: readonly string[];
  readonly values: readonly number[];
}

/** Returns usage by pod and container as the lists of a sample. */
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

/** The series that a query returned, for Object (exactly one) and External (summed). */
export interface ValuesSample extends Valued {
  readonly form: 'values';
  readonly values: readonly number[];
  /** The sum of the series of `backlog.query`. Unset: the metric has no backlog. */
  readonly backlog?: number;
  /** The value of `capacity.query`, above 0. Unset: the target applies. */
  readonly capacity?: number;
  /** Capacity measured by `capacity.auto`. Unset: nothing was measured yet. */
  readonly measuredCapacity?: MeasuredCapacity;
}

/** The load that one pod carries, as measured in up to three days. All numbers are above 0. */
export interface MeasuredCapacity {
  /** The highest load of a ready pod without errors; since a drift to a lower one, the highest since then. */
  readonly value: number;
  /** Lowest and highest capacity of the days. */
  readonly low: number;
  readonly high: number;
  /** The number of days with a value, at most 3. 0: only the last hour has a value. */
  readonly days: number;
  /** When it was read. */
  readonly at: Instant;
  /** Unset: the capacity is about the same as on the days before. */
  readonly drift?: CapacityDrift;
}

/** The pods carry less than 90 %, or more than 110 %, of what they did on the days before. */
export interface CapacityDrift {
  readonly since: Instant;
  readonly before: number;
  /** Start of the oldest ready pod, and so of the release that replaced all pods. Null: not known. */
  readonly oldestPod: Instant | null;
}

/** No value. Never read as 0 unless the document allows it. */
export interface ErrorSample {
  readonly form: 'error';
  readonly failure: Failure;
}

/** `kind` of a sample in JSON. `failed`: the data source has not answered the query. */
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
  /** +N or -N, never 0. */
  readonly change: number;
  /**
   * Earliest possible time of a change whose exact time is unknown: a clock was set, or only its intent was found.
   * Between then and `at`, the change counts only where it limits another change. Absent: `at`.
   */
  readonly earliest?: Instant;
  /**
   * Other times that identify this change: the time of its intent, and times before a wall clock was set. No decision
   * reads them. Absent: none.
   */
  readonly alsoAt?: readonly Instant[];
}

export interface Saturation {
  /** Since when usage has been at the limits; null: it is not, or not known to be. */
  readonly since: Instant | null;
  /** The served load at the last step, or later when usage was at or below the target; null: not known. */
  readonly served: number | null;
  /** The last step, while its pods may be starting. */
  readonly step: { readonly at: Instant; readonly to: number } | null;
}

/** Pod-seconds are of the last 3 days, in parts of 6 hours. */
export interface ForecastState {
  /** Time of the decision that stored it. */
  readonly at: Instant;
  readonly minutes: readonly LoadMinute[];
  /** The count that the scaler would have without a forecast. */
  readonly reactive: ReactiveCount;
  /** Changes of the forecast's count, within the time that a pod needs to carry load. */
  readonly proposals: readonly Recommendation[];
  readonly spent: readonly SpentPart[];
  /** Pod-seconds added and prevented by the last raises, latest last. */
  readonly raises: readonly Raise[];
}

/** A time in which a forecast raised the count, and its effects in pod-seconds. */
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

/** In pod-seconds. */
export interface SpentPart {
  readonly from: Instant;
  /** Pod-seconds that the scaler would have used without a forecast. */
  readonly reactive: number;
  /** Pod-seconds that the forecast added (`Observe`: would have added). */
  readonly added: number;
  /** Pod-seconds that would have been missing without a forecast. */
  readonly short: number;
  /** The part of `short` that the forecast prevented, or would have prevented. */
  readonly prevented: number;
}

/** Stored by earlier decisions for this one. `Decision.state` is the `state` of the next snapshot. */
export interface State {
  readonly lastScaleUp: Instant | null;
  readonly lastScaleDown: Instant | null;
  /** Before any limit. Null only for the first decision of the scaler; an empty list is not a first decision. */
  readonly recommendations: readonly Recommendation[] | null;
  readonly scaleEvents: readonly ScaleEvent[];
  /** Consecutive decisions that proposed fewer replicas; empty unless the document has `downscaleConfirmation`. */
  readonly downscaleProposals: readonly Recommendation[];
  readonly holdScaleDownUntil: Instant | null;
  readonly holdReason: string | null;
  /** By `TYPE/IDENTITY`: since when the metric has had no value; empty after a decision at 0 replicas. */
  readonly failingSince: ReadonlyMap<string, Instant>;
  /** Whether promscaler, not another client, set the target to 0 (possibly by a pause). */
  readonly zeroedBySelf: boolean;
  readonly inactiveSince: Instant | null;
  /** The last full value of `maxReplicasFrom`; unset: none yet, or the document has no such query. */
  readonly maxReplicasFrom?: number;
  /** Absent: no metric has `saturation`, or none has had a sample. */
  readonly saturation?: Saturation | undefined;
  /** Absent: the document has no forecast. */
  readonly forecast?: ForecastState | undefined;
  /**
   * When the document last changed. Set only while a recommendation, a scale-down proposal or `inactiveSince` is older
   * than that. Only reasons read it.
   */
  readonly documentChangedAt?: Instant | undefined;
}

/** Returns a clause if `at` is before the last change of the document, otherwise an empty string. */
export function sinceChange(at: Instant, { documentChangedAt }: State): string {
  return documentChangedAt === undefined || at >= documentChangedAt
    ? ''
    : `, before the document changed at ${formatInstant(documentChangedAt)}`;
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

/** Returns the key of a metric in state and records: `Resource/cpu`. */
export function metricKey({ type, identity }: MetricSpec): string {
  return `${type}/${identity}`;
}
