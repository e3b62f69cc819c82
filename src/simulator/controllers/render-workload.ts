import type { Instant } from '../../units/time.js';
import { type KubeObject, asKubeObject, timestamp } from '../objects/kube-object.js';
import { selectorText } from '../objects/selectors.js';
import { type JsonObject, isObject, listAt, objectAt, stringAt } from '../kinds/json.js';
import { type PodState, phaseOf, type WorkloadSpec } from './step-workload.js';
import { NODE_NAME, type WorkloadKind, ownerReference, templateOf } from './kinds.js';
import { admittedPodSpec } from '../kinds/defaults.js';
import { cached } from '../../units/maps.js';

interface Counts {
  readonly living: number;
  readonly current: number;
  readonly ready: number;
}

/**
 * Counts the pods that are not terminating: all of them (`living`), the pods of `revision` (`current`), and the ready
 * pods.
 */
export function countPods(pods: readonly PodState[], revision: string, now: Instant): Counts {
  const living = pods.filter((pod) => pod.deletedAt === null);
  return {
    living: living.length,
    current: living.filter((pod) => pod.revision === revision).length,
    ready: living.filter((pod) => phaseOf(pod, now) === 'ready').length,
  };
}

interface StatusSource {
  readonly kind: WorkloadKind;
  readonly object: KubeObject;
  readonly spec: WorkloadSpec;
  readonly counts: Counts;
}

/** Returns the status that the controller writes. As in a real cluster, it omits most counts that are 0. */
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

/**
 * Returns a condition. Its update time changes only with its status or reason, its transition time only with its
 * status.
 */
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
    /** The number of the template's revision; the first revision is 1. */
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

interface PodSource {
  readonly pod: PodState;
  readonly owner: KubeObject;
  readonly template: JsonObject;
  /** Labels that the template does not contain, such as the hash and the ordinal. */
  readonly labels: JsonObject;
  /** The stored pod, whose metadata is kept; null: the pod is new. */
  readonly stored: KubeObject | null;
  readonly uid: string;
  readonly podIp: string;
}

/** Returns the spec of pods after admission, which all pods of a template share. */
const admittedSpec = cached(admittedPodSpec);

export function renderPod(source: PodSource, now: Instant): KubeObject {
  const { pod, owner, template, labels, stored, uid } = source;
  const terminating =
    pod.deletedAt === null
      ? { generation: stored?.metadata.generation ?? 1 }
      : {
          ...{ deletionTimestamp: timestamp(pod.deletedAt), deletionGracePeriodSeconds: 30 },
          generation: 2,
        };
  const metadata = stored?.metadata ?? {
    name: pod.name,
    generateName: `${owner.metadata.name}-`,
    namespace: owner.metadata.namespace,
    uid,
    resourceVersion: '',
    creationTimestamp: timestamp(pod.createdAt),
    labels: { ...objectAt(template, 'metadata', 'labels'), ...labels },
    annotations: objectAt(template, 'metadata')['annotations'],
    ownerReferences: [ownerReference(owner)],
  };
  const isScheduled = Number.isFinite(pod.startsAt);
  const spec = stored?.['spec'] ?? {
    ...admittedSpec(objectAt(template, 'spec')),
    nodeName: isScheduled ? NODE_NAME : undefined,
  };
  const status = statusOf(source, now);
  return asKubeObject({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, ...terminating },
    spec,
    status,
  });
}

/** The condition that the scheduler writes if a cluster with one node has no free capacity. */
const UNSCHEDULABLE = {
  reason: 'Unschedulable',
  message: '0/1 nodes are available: 1 Insufficient cpu.',
} as const;

function statusOf({ pod, template, podIp }: PodSource, now: Instant): JsonObject {
  const phase = phaseOf(pod, now);
  const hasStarted = now >= pod.startsAt;
  const isReady = phase === 'ready';
  const isScheduled = Number.isFinite(pod.startsAt);
  const changedAt = isReady ? pod.readyAt : (pod.deletedAt ?? pod.createdAt);
  const condition = (type: string, holds: boolean, at: number): JsonObject => ({
    type,
    status: holds ? 'True' : 'False',
    lastProbeTime: null,
    lastTransitionTime: timestamp(at),
    ...(type === 'PodScheduled' && !holds ? UNSCHEDULABLE : {}),
  });
  return {
    phase: hasStarted ? 'Running' : 'Pending',
    conditions: [
      condition('PodScheduled', isScheduled, pod.createdAt),
      condition('Initialized', isScheduled, pod.createdAt),
      condition('ContainersReady', isReady, changedAt),
      condition('Ready', isReady, changedAt),
    ],
    startTime: isScheduled ? timestamp(pod.createdAt) : undefined,
    podIP: hasStarted ? podIp : undefined,
    hostIP: isScheduled ? '10.0.0.1' : undefined,
    qosClass: 'Burstable',
    containerStatuses: isScheduled ? containerStatuses(pod, template, { hasStarted, isReady }) : undefined,
  };
}

function containerStatuses(
  pod: PodState,
  template: JsonObject,
  { hasStarted, isReady }: { readonly hasStarted: boolean; readonly isReady: boolean },
): readonly JsonObject[] {
  return listAt(template, 'spec', 'containers').map((container) => ({
    name: stringAt(container, 'name') ?? 'app',
    image: stringAt(container, 'image') ?? '',
    ready: isReady,
    started: hasStarted,
    restartCount: 0,
    state: hasStarted
      ? { running: { startedAt: timestamp(pod.startsAt) } }
      : { waiting: { reason: 'ContainerCreating' } },
  }));
}
