import type { Pod } from '../../decision/snapshot/snapshot.js';
import type { LabelSelector, TargetRef } from '../../scaler/spec.js';

/** A scale target that was read from its watched object (apps/v1 kinds) or its `/scale`. */
export interface ScaleTarget {
  readonly ref: TargetRef;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly selector: LabelSelector;
  /** Only annotations of `promscaler.dev`; empty for a target that is read by its `/scale`. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Field managers of `spec.replicas`: `kubectl`, `argocd-controller`. Absent if unknown. */
  readonly replicasManagers?: readonly string[];
  readonly generation?: number;
  /**
   * State of a Deployment's rollout: `paused` by `spec.paused`, `stuck` after progressDeadlineSeconds. Absent: not
   * paused or stuck, or unknown.
   */
  readonly rollout?: Rollout;
}

/** The object of an Event: a target or a Scaler object. */
export type EventObject = Pick<ScaleTarget, 'ref' | 'namespace' | 'uid' | 'resourceVersion'>;

export type Rollout = 'paused' | 'stuck';

/** Why a pod is not ready: a reason of the scheduler (`cpu`) or of the kubelet (`ImagePullBackOff`). */
export interface PodTrouble {
  readonly kind: 'unschedulable' | 'waiting';
  readonly why: string;
}

export interface ClusterPod extends Pod {
  readonly trouble?: PodTrouble;
}

export interface Scale {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly specReplicas: number;
  readonly statusReplicas: number;
}

/** An Event on a target. `message` has up to 1 kB. */
export interface TargetEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface OtherScaler {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly target: TargetRef;
  /** `status.desiredReplicas` of the HPA. Absent if unknown, for example while its metrics fail. */
  readonly desiredReplicas?: number;
  /** Set by the control loop from `Cluster.areOtherScalersOutdated`; unset: false. */
  readonly isOutdated?: boolean;
}

export interface FollowedTarget {
  readonly namespace: string;
  readonly ref: TargetRef;
}

/** The API of the cluster for the control loop. Methods that send requests throw `KubernetesError`. */
export interface Cluster {
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Sets the scale targets. Only their namespaces and kinds are watched. */
  readonly follow: (targets: readonly FollowedTarget[]) => void;
  readonly isSynced: () => boolean;
  /** Returns whether pages of the first lists are arriving. */
  readonly isListing: () => boolean;
  /**
   * Reads an apps/v1 kind from the watch, and other kinds from `/scale` with a live GET. Returns the same object until
   * the target changes. Fails only by rejecting.
   */
  readonly readTarget: (
    namespace: string,
    ref: TargetRef,
    signal: AbortSignal,
  ) => ScaleTarget | Promise<ScaleTarget>;
  /** Returns watched pods. */
  readonly listPods: (namespace: string, selector: LabelSelector) => readonly ClusterPod[];
  /** Returns the seconds since the last event for pods and targets of a namespace. Scale-down requires at most 180. */
  readonly cacheAgeSeconds: (namespace: string) => number;
  readonly readScale: (namespace: string, ref: TargetRef, signal: AbortSignal) => Promise<Scale>;
  /** Sends one merge-patch of `/scale` with uid and resourceVersion as preconditions. Returns the response. */
  readonly patchScale: (
    namespace: string,
    ref: TargetRef,
    change: { readonly uid: string; readonly resourceVersion: string; readonly replicas: number },
    signal: AbortSignal,
  ) => Promise<Scale>;
  /**
   * Sends a PATCH that the API server checks and does not store. Resolves if it would be accepted, or if the target has
   * changed meanwhile. Unset: the check is not supported.
   */
  readonly tryScale?: (
    namespace: string,
    ref: TargetRef,
    change: { readonly uid: string; readonly resourceVersion: string; readonly replicas: number },
    signal: AbortSignal,
  ) => Promise<void>;
  /** Records an Event. Calls `onWritten` after the API server has accepted it, and never if it is dropped or fails. */
  readonly recordEvent: (object: EventObject, event: TargetEvent, onWritten?: () => void) => void;
  /**
   * Returns the last known HPAs of a followed namespace; none if they are forbidden or not served, which is not a
   * failure. Throws `KubernetesError` after any other failure of the first list, because the target may then have an
   * HPA.
   */
  readonly listOtherScalers: (
    namespace: string,
    signal: AbortSignal,
  ) => readonly OtherScaler[] | Promise<readonly OtherScaler[]>;
  /**
   * Returns whether the HPAs of a namespace may be outdated, because they have been forbidden for more than 150 s. The
   * last known HPAs still count, because two autoscalers on one target are worse than none. Unset: they are current.
   */
  readonly areOtherScalersOutdated?: (namespace: string) => boolean;
}

export type KubernetesErrorKind =
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'gone'
  | 'invalid'
  /** The selector of the target is missing or invalid: condition `InvalidSelector`. */
  | 'invalid_selector'
  | 'rate_limited'
  | 'server_error'
  | 'timeout'
  | 'connection'
  | 'bad_answer'
  | 'canceled';

/** A write may have succeeded despite these failures. */
export const UNKNOWN_OUTCOME: readonly KubernetesErrorKind[] = [
  'timeout',
  'connection',
  'server_error',
  'bad_answer',
  'canceled',
];

/** A failed request to the API server. The message contains no header, token or complete response. */
export class KubernetesError extends Error {
  override name = 'KubernetesError';
  readonly kind: KubernetesErrorKind;
  readonly status: number | null;
  readonly retryAfterSeconds: number | null;

  constructor(
    kind: KubernetesErrorKind,
    message: string,
    details: {
      readonly status?: number;
      readonly retryAfterSeconds?: number | null;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.kind = kind;
    this.status = details.status ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }
}
