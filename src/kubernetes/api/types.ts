import type { TargetFailure } from '../../decision/failing.js';
import type { OtherAutoscaler } from '../../decision/pause.js';
import type { Pod } from '../../decision/snapshot/snapshot.js';
import { suggest } from '../../scaler/problems/nearest.js';
import type { LabelSelector, TargetRef } from '../../scaler/spec.js';

export interface Scale {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly specReplicas: number;
  readonly statusReplicas: number;
}

/** A change of `spec.replicas`, with uid and resourceVersion as preconditions. */
export interface ScalePatch extends Pick<Scale, 'uid' | 'resourceVersion'> {
  readonly replicas: number;
}

/** A scale target as read from the watch (for kinds of apps/v1) or from its `/scale`. */
export interface ScaleTarget extends Scale {
  readonly ref: TargetRef;
  readonly namespace: string;
  readonly selector: LabelSelector;
  /** The annotations of `promscaler.dev`; empty for a target that is read from its `/scale`. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Field managers of `spec.replicas`, such as `kubectl` or `argocd-controller`; absent: unknown. */
  readonly replicasManagers?: readonly string[];
  readonly generation?: number;
  /**
   * State of a Deployment's rollout: `paused` by `spec.paused`, or `stuck` after progressDeadlineSeconds. Absent:
   * neither, or unknown.
   */
  readonly rollout?: Rollout;
}

/** The object that an Event is about: a target or a Scaler object. */
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

/** An Event about a target. `message` has at most 1 kB. */
export interface TargetEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface OtherScaler extends OtherAutoscaler {
  readonly target: TargetRef;
  /**
   * `status.desiredReplicas` of the HPA. Absent: the HPA has none now and `whyNoCount` is set, or the object is a
   * Scaler.
   */
  readonly desiredReplicas?: number;
  /**
   * Whether the last known HPAs may be outdated. The control loop sets it from `Cluster.areOtherScalersOutdated`;
   * unset: false.
   */
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
  /** Returns whether the first lists are arriving, page by page. */
  readonly isListing: () => boolean;
  /**
   * Returns a target: for a kind of apps/v1 from the watch, for any other kind from `/scale` with a live GET. The
   * result is the same object until the target changes. Every failure rejects the promise.
   */
  readonly readTarget: (
    namespace: string,
    ref: TargetRef,
    signal: AbortSignal,
  ) => ScaleTarget | Promise<ScaleTarget>;
  /** Returns pods from the watch. */
  readonly listPods: (namespace: string, selector: LabelSelector) => readonly ClusterPod[];
  /**
   * Returns the seconds since the last event about pods and targets of a namespace. Above 180, nothing is scaled down.
   */
  readonly cacheAgeSeconds: (namespace: string) => number;
  readonly readScale: (namespace: string, ref: TargetRef, signal: AbortSignal) => Promise<Scale>;
  /** Sends one merge-patch of `/scale` and returns the response. */
  readonly patchScale: (
    namespace: string,
    ref: TargetRef,
    change: ScalePatch,
    signal: AbortSignal,
  ) => Promise<Scale>;
  /**
   * Sends a dry-run PATCH. Resolves if the API server would accept it, or if the target has changed since it was
   * read.
   */
  readonly tryScale: (
    namespace: string,
    ref: TargetRef,
    change: ScalePatch,
    signal: AbortSignal,
  ) => Promise<void>;
  /**
   * Records an Event. `onWritten` is called when the API server has accepted the Event, but never if the Event is
   * dropped or fails.
   */
  readonly recordEvent: (object: EventObject, event: TargetEvent, onWritten?: () => void) => void;
  /**
   * Returns the last known HPAs of a followed namespace. Returns none if listing HPAs is forbidden or they are not
   * served. After any other failure of the first list, throws `KubernetesError`, because the target may have an HPA.
   */
  readonly listOtherScalers: (
    namespace: string,
    signal: AbortSignal,
  ) => readonly OtherScaler[] | Promise<readonly OtherScaler[]>;
  /**
   * Returns whether the HPAs of a namespace may be outdated, because listing them has been forbidden for more than
   * 150 s. They still block scaling: two autoscalers on one target are worse than none.
   */
  readonly areOtherScalersOutdated: (namespace: string) => boolean;
}

export type KubernetesErrorKind =
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'gone'
  | 'invalid'
  /** The selector of the target is missing or invalid. The reason of the condition is `InvalidSelector`. */
  | 'invalid_selector'
  | 'rate_limited'
  | 'server_error'
  | 'timeout'
  | 'connection'
  | 'bad_answer'
  | 'canceled';

/** Failures after which the API server may still have applied the write. */
export const UNKNOWN_OUTCOME: readonly KubernetesErrorKind[] = [
  'timeout',
  'connection',
  'server_error',
  'bad_answer',
  'canceled',
];

/** A failed request to the API server. The message contains no header, no token and no whole response. */
export class KubernetesError extends Error {
  override name = 'KubernetesError';
  /**
   * The workload that the document may mean instead of its target; null: unknown. The message contains the workload.
   */
  readonly suggestion: TargetFailure['suggestion'];
  /** Set if the kind of the target cannot be scaled. */
  readonly unusableKind: TargetFailure['unusableKind'];
  readonly kind: KubernetesErrorKind;
  readonly status: number | null;
  readonly retryAfterSeconds: number | null;

  constructor(
    kind: KubernetesErrorKind,
    message: string,
    details: {
      readonly status?: number;
      readonly retryAfterSeconds?: number | null;
      readonly suggestion?: TargetFailure['suggestion'];
      readonly unusableKind?: TargetFailure['unusableKind'];
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.kind = kind;
    this.status = details.status ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
    this.suggestion = details.suggestion ?? null;
    this.unusableKind = details.unusableKind ?? null;
  }
}

/**
 * Thrown if a target is not in the watch of its kind. For kinds without a watch, the message comes from the API server.
 */
export class MissingTargetError extends KubernetesError {
  readonly #doing: string;

  constructor(
    doing: string,
    { suggestion, isDeleted = false }: Pick<TargetFailure, 'suggestion'> & { readonly isDeleted?: boolean },
  ) {
    const what = isDeleted ? WAS_DELETED : 'the object does not exist';
    const hint = suggestion === null ? '' : suggest(suggestion.name, suggestion.kind);
    super('not_found', `${doing}: 404 Not Found: ${what}${hint}`, { status: 404, suggestion });
    this.#doing = doing;
  }

  /** Returns the message, extended by what a scaler knows about its target. */
  describe(known: Pick<TargetFailure, 'suggestion'> & { readonly isDeleted: boolean }): string {
    return new MissingTargetError(this.#doing, known).message;
  }
}

export const WAS_DELETED = 'the object was deleted';

/** Returns the result of `request`, or the `KubernetesError` that it throws. Rethrows other errors. */
export async function orError<T>(request: () => Promise<T>): Promise<T | KubernetesError> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof KubernetesError) return error;
    throw error;
  }
}

/** Returns the result of `request`, or null if it throws a `KubernetesError`. Rethrows other errors. */
export async function orNull<T>(request: () => Promise<T>): Promise<T | null> {
  const answer = await orError(request);
  return answer instanceof KubernetesError ? null : answer;
}

/** Returns the result of `request`, or null if the object does not exist. Rethrows other errors. */
export async function nullIfNotFound<T>(request: () => Promise<T>): Promise<T | null> {
  const answer = await orError(request);
  if (!(answer instanceof KubernetesError)) return answer;
  if (answer.kind === 'not_found') return null;
  throw answer;
}
