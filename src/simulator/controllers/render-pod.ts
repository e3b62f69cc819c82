import type { Instant } from '../../units/time.js';
import { type KubeObject, asKubeObject, timestamp } from '../objects/kube-object.js';
import { type JsonObject, listAt, objectAt, stringAt } from '../json/json.js';
import { admittedPodSpec } from '../kinds/defaults.js';
import { type PodState, phaseOf } from '../model/pods.js';
import { ownerReference } from './kinds.js';

export interface PodSource {
  readonly pod: PodState;
  readonly owner: KubeObject;
  readonly template: JsonObject;
  /** Labels besides those of the template, such as hash and ordinal. */
  readonly labels: JsonObject;
  /** The stored pod, whose metadata is kept; null for a new pod. */
  readonly stored: KubeObject | null;
  readonly uid: string;
  readonly podIp: string;
  readonly nodeName: string;
}

const ADMITTED = new WeakMap<JsonObject, JsonObject>();

/** Cached per template, because all its pods share the spec. */
function admittedSpec(spec: JsonObject): JsonObject {
  const known = ADMITTED.get(spec) ?? admittedPodSpec(spec);
  ADMITTED.set(spec, known);
  return known;
}

export function renderPod(source: PodSource, now: Instant): KubeObject {
  const { pod, owner, template, labels, stored, uid, nodeName } = source;
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
    nodeName: isScheduled ? nodeName : undefined,
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

/** The scheduler's message for a cluster of one node without free capacity. */
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
