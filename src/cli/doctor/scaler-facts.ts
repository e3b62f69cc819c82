import { type JsonObject, objectIn, objectsIn, textIn } from '../../kubernetes/json.js';
import { listAll, resourceScope } from '../../kubernetes/watch/list-pages.js';
import { listHpas } from '../../kubernetes/hpa.js';
import { createPodReader, type WatchedPod } from '../../kubernetes/pods/watched-pod.js';
import { getScale } from '../../kubernetes/scale.js';
import { formatSelector } from '../../kubernetes/pods/selectors.js';
import { nameTarget, readWatchedTarget, toScaleTarget, usableSelector } from '../../kubernetes/targets.js';
import { KubernetesError, type OtherScaler, type ScaleTarget } from '../../kubernetes/types.js';
import { readWorkload } from '../../kubernetes/workload.js';
import type { Answer } from '../../prometheus/answer.js';
import type { Scaler } from '../../scaler/spec.js';
import { type ClusterInquiry, REQUEST_MS, type SourceInquiry } from './inquiry.js';
import { orError } from './or-error.js';

/** A pod and who made it. */
export interface OwnedPod extends WatchedPod {
  /** `Deployment web`; null for one that nobody owns. */
  readonly workload: { readonly kind: string; readonly name: string } | null;
}

/** What was read of a scaler's workload; an error where it could not be. */
export interface ClusterFacts {
  readonly target: ScaleTarget | KubernetesError;
  /** The object itself; null where it may not be read, which the service does not need for kinds outside of apps. */
  readonly object: JsonObject | null;
  /** Those that the selector matches; null where the target is not known. */
  readonly pods: readonly OwnedPod[] | KubernetesError | null;
  /** On the whole namespace. */
  readonly others: readonly OtherScaler[] | KubernetesError;
}

/** All that the checks of one scaler judge. */
export interface ScalerFacts {
  readonly scaler: Scaler;
  /** Null where there is no way to the cluster. */
  readonly cluster: ClusterFacts | null;
  /** The ways to ask; null where the cluster does not answer. */
  readonly inquiry: ClusterInquiry | null;
  /** In the order of `spec.metrics`. */
  readonly answers: readonly Answer[];
  /** Those that answer, by name. */
  readonly sources: ReadonlyMap<string, SourceInquiry>;
  /** Another document on the same target; null: none. */
  readonly sharesTargetWith: string | null;
  /** Nothing is patched for it: the document or the service asks for that. */
  readonly isDryRun: boolean;
}

/** Reads a scaler's workload, its pods and the autoscalers of its namespace, live. Never throws a `KubernetesError`. */
export async function readClusterFacts(inquiry: ClusterInquiry, scaler: Scaler): Promise<ClusterFacts> {
  const [{ target, object }, others] = await Promise.all([
    readTarget(inquiry, scaler),
    orError(() => listHpas(inquiry.transport, scaler.namespace, inquiry.signal)),
  ]);
  const pods = target instanceof KubernetesError ? null : await orError(() => listPods(inquiry, target));
  return { target, object, pods, others };
}

async function readTarget(
  inquiry: ClusterInquiry,
  { namespace, spec: { scaleTargetRef: ref } }: Scaler,
): Promise<Pick<ClusterFacts, 'target' | 'object'>> {
  const { transport, discovery, signal } = inquiry;
  const kind = await orError(() => discovery.find(ref, signal));
  if (kind instanceof KubernetesError) return { target: kind, object: null };
  const place = { transport, kind, namespace, ref, signal };
  const [object, scale] = await Promise.all([
    orError(() => readWorkload(place, REQUEST_MS)),
    orError(() => getScale(place)),
  ]);
  const read = object instanceof KubernetesError ? null : object;
  const watched = read === null ? null : readWatchedTarget(read);
  if (scale instanceof KubernetesError) return { target: scale, object: read };
  const target = await orError(() => {
    if (watched?.owner != null) return Promise.resolve(toScaleTarget(ref, watched));
    const { selector: written, ...counts } = scale;
    const selector = usableSelector(written, `reading scale of ${nameTarget(namespace, ref)}`);
    const managers = watched === null ? {} : { replicasManagers: watched.replicasManagers };
    const annotations = watched?.annotations ?? {};
    return Promise.resolve({ ref, namespace, ...counts, selector, annotations, ...managers });
  });
  return { target, object: read };
}

async function listPods(
  { transport, signal }: ClusterInquiry,
  { namespace, selector }: ScaleTarget,
): Promise<readonly OwnedPod[]> {
  const readPod = createPodReader();
  const convert = (object: JsonObject): OwnedPod | null => {
    const pod = readPod(object);
    return pod === null ? null : { ...pod, workload: workloadOf(object, pod.labels) };
  };
  const scope = resourceScope('/api/v1', 'pods', namespace);
  const labelSelector = formatSelector(selector);
  const { items } = await listAll({ transport, scope, convert, labelSelector, signal });
  return [...items].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The labels by which the ReplicaSets of Deployments and of Argo's Rollouts name their pods. */
const HASH_LABELS = { 'pod-template-hash': 'Deployment', 'rollouts-pod-template-hash': 'Rollout' } as const;

/** A ReplicaSet that is called `NAME-HASH`, after the hash of its pods, is one of a Deployment or Rollout. */
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
