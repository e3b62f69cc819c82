import type { Pod } from '../decision/snapshot.js';
import type { LabelSelector, TargetRef } from '../scaler/spec.js';

/** What a scale target looks like to the loop: from its watched object (apps/v1 kinds) or its `/scale`. */
export interface ScaleTarget {
  readonly ref: TargetRef;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly selector: LabelSelector;
  /** Those of `promscaler.dev`; empty for a target that is read by its `/scale`, which has none. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Who set `spec.replicas`, by `managedFields`: `kubectl`, `argocd-controller`. Absent where that is not known. */
  readonly replicasManagers?: readonly string[];
  /** `metadata.generation`, which counts the changes of its `spec`. Absent where only its `/scale` was read. */
  readonly generation?: number;
  /** Of a Deployment: `paused` by its `spec.paused`; `stuck` past its progressDeadlineSeconds. Absent: neither, as far as is known. */
  readonly rollout?: Rollout;
}

export type Rollout = 'paused' | 'stuck';

/** Why a pod does not get ready, by the scheduler (`cpu`) or the kubelet (`ImagePullBackOff`). */
export interface PodTrouble {
  readonly kind: 'unschedulable' | 'waiting';
  readonly why: string;
}

/** A pod of a cluster: what a decision needs, and what may keep it from being ready. */
export interface ClusterPod extends Pod {
  readonly trouble?: PodTrouble;
}

/** The `/scale` of a target, read live. */
export interface Scale {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly specReplicas: number;
  readonly statusReplicas: number;
}

/** A Kubernetes Event on a target. `message` up to 1 kB. */
export interface TargetEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** Another autoscaler that names the same target, e.g. `HorizontalPodAutoscaler shop/web`. */
export interface OtherScaler {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly target: TargetRef;
  /** What its HPA wants now (`status.desiredReplicas`). Absent: not known, as while its metrics fail. */
  readonly desiredReplicas?: number;
}

/** A target that a scaler decides for. */
export interface FollowedTarget {
  readonly namespace: string;
  readonly ref: TargetRef;
  /** Nothing is patched: an HPA of the same target is watched, to compare the two. Left out: false. */
  readonly isDryRun?: boolean;
}

/** What the loop needs of a cluster; made by cluster.ts. Methods that ask the API server throw `KubernetesError`. */
export interface Cluster {
  /** Starts discovery and the watches; resolves when all of them ended after `signal` was aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Tells which namespaces and kinds are scaled, so that just those are watched. */
  readonly follow: (targets: readonly FollowedTarget[]) => void;
  /** Pods and followed kinds were listed at least once. */
  readonly isSynced: () => boolean;
  /** From the watched object for apps/v1 kinds, else one GET of `/scale`. */
  readonly readTarget: (namespace: string, ref: TargetRef, signal: AbortSignal) => Promise<ScaleTarget>;
  /** The pods of a namespace that the selector matches, from the watched store. */
  readonly listPods: (namespace: string, selector: LabelSelector) => readonly ClusterPod[];
  /**
   * Why what is known of a namespace's pods and targets cannot be relied on: never listed, forbidden, or not heard of
   * for 180 s. Null while all is well. For the scalers' conditions.
   */
  readonly problemOf: (namespace: string) => KubernetesError | null;
  /** Seconds since the store that answers for pods and targets last heard from the server; scale-down needs at most 180. */
  readonly cacheAgeSeconds: (namespace: string) => number;
  /** A live GET of `/scale`. */
  readonly readScale: (namespace: string, ref: TargetRef, signal: AbortSignal) => Promise<Scale>;
  /** One merge-patch of `/scale` with uid and resourceVersion as preconditions; gives what the server answered. */
  readonly patchScale: (
    namespace: string,
    ref: TargetRef,
    change: { readonly uid: string; readonly resourceVersion: string; readonly replicas: number },
    signal: AbortSignal,
  ) => Promise<Scale>;
  /** Sends an Event on the target; never throws, never blocks a change. */
  readonly recordEvent: (target: ScaleTarget, event: TargetEvent) => void;
  /** HPAs as watched next to a dry run, else as last listed (at most once a minute); empty where they cannot be listed, which is no failure of a target. */
  readonly listOtherScalers: (namespace: string, signal: AbortSignal) => Promise<readonly OtherScaler[]>;
}

/** What kind of failure a request to the API server ended in. */
export type KubernetesErrorKind =
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'gone'
  | 'invalid'
  /** The target has no selector, or one that cannot be read: condition `InvalidSelector`. */
  | 'invalid_selector'
  | 'rate_limited'
  | 'server_error'
  | 'timeout'
  | 'connection'
  | 'bad_answer'
  | 'canceled';

/** After these a write may have been done all the same. */
export const UNKNOWN_OUTCOME: readonly KubernetesErrorKind[] = [
  'timeout',
  'connection',
  'server_error',
  'bad_answer',
  'canceled',
];

/** A request to the API server that failed. Its message holds no header, token or whole answer. */
export class KubernetesError extends Error {
  override name = 'KubernetesError';
  readonly kind: KubernetesErrorKind;
  /** HTTP status; null where none came. */
  readonly status: number | null;
  /** Seconds of a `Retry-After`; null without. */
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
