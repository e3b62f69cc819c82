import type { Instant } from '../../units/time.js';
import { type KubeObject, asKubeObject, timestamp } from '../objects/kube-object.js';
import { selectorText } from '../objects/selectors.js';
import { type JsonObject, isObject, listAt, objectAt } from '../json/json.js';
import { type PodState, phaseOf } from '../model/pods.js';
import type { WorkloadSpec } from '../model/workload.js';
import { type WorkloadKind, ownerReference, templateOf } from './kinds.js';

export interface Counts {
  readonly living: number;
  readonly current: number;
  readonly ready: number;
}

/** Counts pods except terminating ones; a pod of `revision` counts as updated. */
export function countPods(pods: readonly PodState[], revision: string, now: Instant): Counts {
  const living = pods.filter((pod) => pod.deletedAt === null);
  return {
    living: living.length,
    current: living.filter((pod) => pod.revision === revision).length,
    ready: living.filter((pod) => phaseOf(pod, now) === 'ready').length,
  };
}

export interface StatusSource {
  readonly kind: WorkloadKind;
  readonly object: KubeObject;
  readonly spec: WorkloadSpec;
  readonly counts: Counts;
}

/** Returns the status that the controller writes. Like the real controllers, omits counts of 0. */
export function renderStatus(source: StatusSource, now: Instant): JsonObject {
  const { object, spec, counts } = source;
  const { style, kind } = source.kind;
  const orNone = (count: number): number | undefined => (count === 0 ? undefined : count);
  const common = {
    observedGeneration: object.metadata.generation,
    readyReplicas: orNone(counts.ready),
    availableReplicas: orNone(counts.ready),
  };
  if (style === 'plain')
    return { ...common, replicas: counts.living, fullyLabeledReplicas: orNone(counts.living) };
  if (style === 'ordered') {
    const revision = `${spec.name}-${spec.revision}`;
    const isUpdated = counts.current === counts.living;
    const before = objectAt(object, 'status')['currentRevision'] ?? revision;
    return {
      ...common,
      replicas: counts.living,
      currentReplicas: orNone(isUpdated ? counts.current : counts.living - counts.current),
      updatedReplicas: orNone(counts.current),
      currentRevision: isUpdated ? revision : before,
      updateRevision: revision,
      collisionCount: 0,
    };
  }
  return {
    ...common,
    replicas: orNone(counts.living),
    updatedReplicas: orNone(counts.current),
    unavailableReplicas: orNone(Math.max(0, Math.max(counts.living, spec.replicas) - counts.ready)),
    selector: kind === 'Rollout' ? selectorText(objectAt(object, 'spec', 'selector')) : undefined,
    conditions: conditionsOf(source, now),
  };
}

function conditionsOf({ object, spec, counts }: StatusSource, now: Instant): readonly JsonObject[] {
  const isAvailable = counts.ready >= spec.replicas - spec.maxUnavailable;
  const isComplete =
    counts.current === spec.replicas && counts.living === spec.replicas && counts.ready >= spec.replicas;
  return [
    condition(object, now, {
      type: 'Available',
      status: isAvailable ? 'True' : 'False',
      reason: isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
      message: `Deployment ${isAvailable ? 'has' : 'does not have'} minimum availability.`,
    }),
    condition(object, now, {
      type: 'Progressing',
      status: 'True',
      reason: isComplete ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
      message: `ReplicaSet "${spec.name}-${spec.revision}" ${isComplete ? 'has successfully progressed' : 'is progressing'}.`,
    }),
  ];
}

/** An unchanged condition keeps its times. */
function condition(
  object: KubeObject,
  now: Instant,
  next: { readonly type: string; readonly status: string; readonly reason: string; readonly message: string },
): JsonObject {
  const before = listAt(object, 'status', 'conditions')
    .filter(isObject)
    .find(({ type }) => type === next.type);
  const at = timestamp(now);
  const isSame = before?.['reason'] === next.reason && before['status'] === next.status;
  return {
    ...next,
    lastUpdateTime: isSame ? before['lastUpdateTime'] : at,
    lastTransitionTime: before?.['status'] === next.status ? before['lastTransitionTime'] : at,
  };
}

export function renderReplicaSet(
  owner: KubeObject,
  source: {
    readonly hash: string;
    readonly counts: Counts;
    readonly stored: KubeObject | null;
    readonly uid: string;
    /** Revision of the template, from 1. */
    readonly revisionNumber: number;
  },
  now: Instant,
): KubeObject {
  const { hash, counts, stored, uid, revisionNumber } = source;
  const template = templateOf(owner);
  const labels = { ...objectAt(template, 'metadata', 'labels'), 'pod-template-hash': hash };
  const before = objectAt(stored ?? undefined, 'spec');
  const isScaled = before['replicas'] !== counts.living;
  const oldGeneration = stored?.metadata.generation ?? 0;
  const generation = stored === null || isScaled ? oldGeneration + 1 : oldGeneration;
  const metadata = stored?.metadata ?? {
    name: `${owner.metadata.name}-${hash}`,
    namespace: owner.metadata.namespace,
    uid,
    resourceVersion: '',
    creationTimestamp: revisionNumber === 1 ? owner.metadata.creationTimestamp : timestamp(now),
    labels,
    annotations: { 'deployment.kubernetes.io/revision': String(revisionNumber) },
    ownerReferences: [ownerReference(owner)],
  };
  return asKubeObject({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { ...metadata, generation },
    spec: {
      selector: {
        ...objectAt(owner, 'spec', 'selector'),
        matchLabels: { ...objectAt(owner, 'spec', 'selector', 'matchLabels'), 'pod-template-hash': hash },
      },
      template: { ...template, metadata: { ...objectAt(template, 'metadata'), labels } },
      ...before,
      replicas: counts.living,
    },
    status: {
      replicas: counts.living,
      fullyLabeledReplicas: counts.living === 0 ? undefined : counts.living,
      readyReplicas: counts.ready === 0 ? undefined : counts.ready,
      availableReplicas: counts.ready === 0 ? undefined : counts.ready,
      observedGeneration: generation,
    },
  });
}
