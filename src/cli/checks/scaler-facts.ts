import { type JsonObject, instantIn, objectIn, objectsIn, textIn } from '../../kubernetes/api/json.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import { listHpas } from '../../kubernetes/hpa.js';
import { createPodReader, type WatchedPod } from '../../kubernetes/pods/watched-pod.js';
import { getScale, readWorkload } from '../../kubernetes/scale.js';
import { formatSelector } from '../../kubernetes/pods/selectors.js';
import {
  nameTarget,
  readWatchedTarget,
  toScaleTarget,
  usableSelector,
  watchedPlural,
} from '../../kubernetes/targets.js';
import { KubernetesError, type OtherScaler, type ScaleTarget, orError } from '../../kubernetes/api/types.js';
import type { Answer } from '../../prometheus/answers/answer.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Instant } from '../../units/time.js';
import { type ClusterContext, type DoctorContext, REQUEST_MS, type SourceContext } from './context.js';

export interface OwnedPod extends WatchedPod {
  /** The workload that owns the pod; null: the pod has no controller. */
  readonly workload: { readonly kind: string; readonly name: string } | null;
  /** Null: unknown. */
  readonly createdAt: Instant | null;
  /** Null: the pod has no IP address yet, or has the IP address of its node. */
  readonly ip: string | null;
}

/** The state of the cluster for a scaler. A `KubernetesError` replaces a part that could not be read. */
export interface ClusterFacts {
  readonly target: ScaleTarget | KubernetesError;
  /**
   * The workload object; null: reading it is forbidden. Outside of `apps`, the service only needs permission for
   * `scale`.
   */
  readonly object: JsonObject | null;
  /** The pods that match the selector; null: the target could not be read. */
  readonly pods: readonly OwnedPod[] | KubernetesError | null;
  readonly others: readonly OtherScaler[] | KubernetesError;
}

/** Returns whether a document or the whole service is in dry run. */
export function isInDryRun({ spec }: Scaler, { isDryRun }: Pick<DoctorContext, 'isDryRun'>): boolean {
  return spec.dryRun || isDryRun === true;
}

/** Returns the pods of the target; null: they cannot be read. */
export function readPods(cluster: ClusterFacts | null): readonly OwnedPod[] | null {
  const pods = cluster?.pods ?? null;
  return pods instanceof KubernetesError ? null : pods;
}

/** Returns `spec.replicas` of the target; null: the target was not read. */
export function replicasOf({ cluster }: Pick<ScalerFacts, 'cluster'>): number | null {
  const target = cluster?.target;
  return target === undefined || target instanceof KubernetesError ? null : target.specReplicas;
}

export interface ScalerFacts {
  readonly scaler: Scaler;
  /** Null: the API server does not answer. */
  readonly cluster: ClusterFacts | null;
  /** Null: the API server does not answer. */
  readonly context: ClusterContext | null;
  /** The answers, in the order of `spec.metrics`. */
  readonly answers: readonly Answer[];
  /** Maps names to the data sources that answer. */
  readonly sources: ReadonlyMap<string, SourceContext>;
  /** All documents, including `scaler`. */
  readonly allScalers: readonly Scaler[];
  /** Another document with the same target; null: there is none. */
  readonly sharesTargetWith: OtherScaler | null;
  readonly isDryRun: boolean;
  /** What the service reports; null: neither a conflict nor a deleted target, or the service was not read. */
  readonly reported: ReportedState | null;
  /** Whether the status of the Scaler object has a time at which its target was scaled. */
  readonly wasScaled: boolean;
  /** Whether the document is in no file of the service, and its Scaler object in the cluster is not in dry run. */
  readonly isObjectLive: boolean;
}

/** A conflict with another client, or a target that was deleted, with the advice of `explain`. */
export interface ReportedState {
  readonly state: 'Conflict' | 'NoTarget';
  /** The target in the version of the document that the service has in effect. */
  readonly target: Scaler['spec']['scaleTargetRef'];
  readonly message: string;
  readonly fix: string;
}

/** Never throws a `KubernetesError`. */
export async function readClusterFacts(context: ClusterContext, scaler: Scaler): Promise<ClusterFacts> {
  const [{ target, object }, others] = await Promise.all([
    readTarget(context, scaler),
    orError(() => listHpas(context.transport, scaler.namespace, context.signal)),
  ]);
  const pods = target instanceof KubernetesError ? null : await orError(() => listPods(context, target));
  return { target, object, pods, others };
}

async function readTarget(
  context: ClusterContext,
  { namespace, spec: { scaleTargetRef: ref } }: Scaler,
): Promise<Pick<ClusterFacts, 'target' | 'object'>> {
  const { transport, discovery, signal } = context;
  const kind = await orError(() => discovery.find(ref, signal));
  if (kind instanceof KubernetesError) return { target: kind, object: null };
  const workload = { transport, kind, namespace, ref, signal };
  const [object, scale] = await Promise.all([
    orError(() => readWorkload(workload, REQUEST_MS)),
    orError(() => getScale(workload)),
  ]);
  const read = object instanceof KubernetesError ? null : object;
  const watched = read === null ? null : readWatchedTarget(read);
  if (scale instanceof KubernetesError) return { target: scale, object: read };
  const target = await orError(() => {
    if (watched?.owner != null) return Promise.resolve(toScaleTarget(ref, watched));
    const { selector: written, ...counts } = scale;
    const selector = usableSelector(written, `reading scale of ${nameTarget(namespace, ref)}`);
    const managers = watched === null ? {} : { replicasManagers: watched.replicasManagers };
    const annotations = watchedPlural(ref) === null ? {} : (watched?.annotations ?? {});
    return Promise.resolve({ ref, namespace, ...counts, selector, annotations, ...managers });
  });
  return { target, object: read };
}

async function listPods(
  { transport, signal }: ClusterContext,
  { namespace, selector }: ScaleTarget,
): Promise<readonly OwnedPod[]> {
  const readPod = createPodReader();
  const convert = (object: JsonObject): OwnedPod | null => {
    const pod = readPod(object);
    if (pod === null) return null;
    const createdAt = instantIn(objectIn(object, 'metadata'), 'creationTimestamp');
    const status = objectIn(object, 'status');
    const [ip, hostIp] = [textIn(status, 'podIP'), textIn(status, 'hostIP')];
    return { ...pod, workload: workloadOf(object, pod.labels), createdAt, ip: ip === hostIp ? null : ip };
  };
  const scope = resourceScope('/api/v1', 'pods', namespace);
  const labelSelector = formatSelector(selector);
  const { items } = await listAll({ transport, scope, convert, labelSelector, signal });
  return [...items].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Labels that a kind sets on its pods, with the name of the kind. */
const HASH_LABELS = { 'pod-template-hash': 'Deployment', 'rollouts-pod-template-hash': 'Rollout' } as const;

/**
 * Returns the owner of a pod. A pod with a hash label belongs to a ReplicaSet `NAME-HASH`, whose owner is the
 * Deployment or Rollout NAME.
 */
function workloadOf(object: JsonObject, labels: Readonly<Record<string, string>>): OwnedPod['workload'] {
  const owners = objectsIn(objectIn(object, 'metadata'), 'ownerReferences');
  const owner = owners.find((reference) => reference['controller'] === true);
  const kind = textIn(owner ?? null, 'kind');
  const name = textIn(owner ?? null, 'name');
  if (kind === null || name === null) return null;
  if (kind !== 'ReplicaSet') return { kind, name };
  for (const [label, above] of Object.entries(HASH_LABELS)) {
    const hash = labels[label];
    if (hash !== undefined && name.endsWith(`-${hash}`))
      return { kind: above, name: name.slice(0, -hash.length - 1) };
  }
  return { kind, name };
}
