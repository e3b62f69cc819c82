import type { Scaler } from '../scaler/spec.js';
import type { Milli } from '../units/quantity.js';
import type { Instant } from '../units/time.js';

/** The whole input of one decision. The JSON form is that of parse-snapshot.ts and write-snapshot.ts. */
export interface Snapshot {
  readonly scaler: Scaler;
  /** The instant the decision is taken at; nothing else is the clock. */
  readonly now: Instant;
  readonly target: ReplicaCounts;
  /** Every pod the target's selector matches. */
  readonly pods: readonly Pod[];
  /** One for each entry of `scaler.spec.metrics`, in the same order. */
  readonly samples: readonly Sample[];
  readonly state: State;
}

export interface ReplicaCounts {
  /** `.spec.replicas` of the target; absent there means 1. */
  readonly specReplicas: number;
  /** `.status.replicas` of the target. */
  readonly statusReplicas: number;
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

/** The few fields of a pod that a decision needs. */
export interface Pod {
  readonly name: string;
  readonly phase: PodPhase;
  /** Has a deletion timestamp. */
  readonly deleting: boolean;
  readonly startTime: Instant | null;
  /** Status of the `Ready` condition; null: the pod has no such condition. */
  readonly ready: boolean | null;
  /** That condition's `lastTransitionTime`. */
  readonly readyChangedAt: Instant | null;
  /** Container name -> resource name -> milli-units; restartable init containers included. */
  readonly requests: ReadonlyMap<string, ReadonlyMap<string, Milli>>;
  /** Pod-level requests, resource name -> milli-units; null where the pod has none. */
  readonly podRequests: ReadonlyMap<string, Milli> | null;
}

/** What one metric's source answered. Numbers are in base units (cores, bytes, or what the query returns). */
export type Sample = ContainersSample | PodsSample | ValuesSample | ErrorSample;

interface Valued {
  /** When the youngest raw sample was taken. */
  readonly at: Instant;
  /** Why the numbers may be too low; null for a plain value. A partial sample may raise the count, never lower it. */
  readonly partial: string | null;
}

/** Usage by pod and container: Resource and ContainerResource. */
export interface ContainersSample extends Valued {
  readonly form: 'containers';
  /** Length of the rate window; 0: an instantaneous gauge. */
  readonly windowSeconds: number;
  readonly containers: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** Value by pod: Pods. */
export interface PodsSample extends Valued {
  readonly form: 'pods';
  readonly windowSeconds: number;
  readonly pods: ReadonlyMap<string, number>;
}

/** The series a query returned: Object (exactly one) and External (added up). */
export interface ValuesSample extends Valued {
  readonly form: 'values';
  readonly values: readonly number[];
}

/** No series; every value NaN; Inf, negative, wrong shape or duplicates; the source did not answer. */
export type SampleErrorKind = 'missing' | 'nan' | 'invalid' | 'failed';

/** There is no value. Never read as 0 unless the document says so. */
export interface ErrorSample {
  readonly form: 'error';
  readonly kind: SampleErrorKind;
  readonly error: string;
}

export interface Recommendation {
  readonly at: Instant;
  readonly replicas: number;
}

export interface ScaleEvent {
  readonly at: Instant;
  /** +N or -N, never 0. */
  readonly change: number;
}

/** What earlier decisions left behind. `Decision.state` is the `state` of the next snapshot. */
export interface State {
  readonly lastScaleUp: Instant | null;
  readonly lastScaleDown: Instant | null;
  /** Before any limit; null: this is the first decision ever, which is not the same as an empty list. */
  readonly recommendations: readonly Recommendation[] | null;
  readonly scaleEvents: readonly ScaleEvent[];
  /** Decisions in a row that asked for less; empty unless the document has `downscaleConfirmation`. */
  readonly downscaleProposals: readonly Recommendation[];
  /** Recovery hold: no scale-down before then. */
  readonly holdScaleDownUntil: Instant | null;
  readonly holdReason: string | null;
  /** `TYPE/IDENTITY` -> since when that metric has had no value; empty after a decision at 0 replicas. */
  readonly failingSince: ReadonlyMap<string, Instant>;
  /** The target is at 0 because promscaler put it there, also for a pause that keeps it at 0; false: somebody else did. */
  readonly zeroedBySelf: boolean;
  readonly inactiveSince: Instant | null;
}

/** The state of a scaler that has never decided. */
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
