import type { Pod, PodPhase } from '../../decision/snapshot/snapshot.js';
import { parseQuantity, type Milli } from '../../units/quantity.js';
import { instantIn, objectIn, objectsIn, textIn, textsIn, type JsonObject } from '../api/json.js';
import type { JsonFields } from '../requests/prune-json.js';
import type { WatchedObject } from '../watch/object-store.js';
import type { ClusterPod, PodTrouble } from '../api/types.js';

/**
 * The cost of deleting a pod: among ready pods, the ReplicaSet controller first deletes the pod with the lowest cost.
 */
export const COST_ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';

/**
 * promscaler sets this annotation to the cost whenever it sets the cost. If the annotations differ, another client has
 * changed the cost.
 */
export const OWN_COST_ANNOTATION = 'promscaler.dev/deletion-cost';

export interface WatchedPod extends WatchedObject {
  readonly labels: Readonly<Record<string, string>>;
  readonly pod: ClusterPod;
  /** The annotations about the cost. Absent if there are none, to save memory: few of 100,000 pods have one. */
  readonly cost?: WrittenCost;
}

const CONTAINER_FIELDS: JsonFields = {
  name: true,
  restartPolicy: true,
  resources: { requests: true, limits: true },
};
const CONTAINER_STATUS_FIELDS: JsonFields = { state: { waiting: { reason: true } } };

/** The fields of a pod that `createPodReader` reads. They take a fifth of the size of a pod. */
export const POD_FIELDS: JsonFields = {
  metadata: {
    name: true,
    namespace: true,
    resourceVersion: true,
    deletionTimestamp: true,
    labels: true,
    annotations: { [COST_ANNOTATION]: true, [OWN_COST_ANNOTATION]: true },
  },
  spec: {
    containers: CONTAINER_FIELDS,
    initContainers: CONTAINER_FIELDS,
    resources: { requests: true, limits: true },
  },
  status: {
    phase: true,
    startTime: true,
    conditions: { type: true, status: true, reason: true, message: true, lastTransitionTime: true },
    containerStatuses: CONTAINER_STATUS_FIELDS,
    initContainerStatuses: CONTAINER_STATUS_FIELDS,
  },
};

type Requests = ReadonlyMap<string, Milli>;

const PHASES: readonly PodPhase[] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

/** A pool is cleared when it has this many values, which is more than a cluster usually has. */
const MAX_POOL = 10_000;

/**
 * Returns a function that converts a pod of the API; null: the pod has no name. To save memory with 100,000 pods, pods
 * share equal requests, labels and `PodTrouble` objects. Source: reliability.md, K23.
 */
export function createPodReader(): (object: JsonObject) => WatchedPod | null {
  const parts: PodParts = {
    resourcesOf: createResourcesReader(),
    shareLabels: createPool<WatchedPod['labels']>(keyOfLabels),
    shareText: createPool<string>((text) => text),
    shareTrouble: createPool<PodTrouble>(({ kind, why }) => `${kind} ${why}`),
  };
  return (object) => readPod(object, parts);
}

interface Resources {
  readonly requests: Pod['requests'];
  readonly cpuLimit: Milli | undefined;
}

interface PodParts {
  readonly resourcesOf: (spec: JsonObject | null) => Resources;
  readonly shareLabels: (labels: WatchedPod['labels']) => WatchedPod['labels'];
  readonly shareText: (text: string) => string;
  readonly shareTrouble: (trouble: PodTrouble) => PodTrouble;
}

function createResourcesReader(): PodParts['resourcesOf'] {
  const pool = new Map<string, Resources>();
  return (spec) => {
    const ofPod = objectIn(objectIn(spec, 'resources'), 'limits');
    const written = requestingContainers(spec).map((container) => [
      textIn(container, 'name') ?? '',
      objectIn(container, 'resources'),
    ]);
    const key = JSON.stringify([ofPod, written]);
    return share(pool, key, () => ({ requests: containerRequests(spec), cpuLimit: cpuLimit(spec) }));
  };
}

/**
 * Returns the cpu limit of a pod; undefined: it has none. A limit of the pod replaces the limits of its containers. If
 * one container has no limit, the pod has none, because that container may use any amount.
 */
function cpuLimit(spec: JsonObject | null): Milli | undefined {
  const limitIn = (parent: JsonObject | null): Milli | undefined => resourcesIn(parent, 'limits').get('cpu');
  const ofPod = limitIn(spec);
  if (ofPod !== undefined) return ofPod;
  const limits = requestingContainers(spec).map(limitIn);
  const sum = limits.reduce<Milli>((total, limit) => total + (limit ?? 0n), 0n);
  return limits.includes(undefined) || sum <= 0n ? undefined : sum;
}

/** Returns a function that replaces a value by the first equal value that the function has seen. */
function createPool<T>(keyOf: (value: T) => string): (value: T) => T {
  const pool = new Map<string, T>();
  return (value) => share(pool, keyOf(value), () => value);
}

function share<T>(pool: Map<string, T>, key: string, make: () => T): T {
  const known = pool.get(key);
  if (known !== undefined) return known;
  if (pool.size >= MAX_POOL) pool.clear();
  const value = make();
  pool.set(key, value);
  return value;
}

/** Returns a key for labels. The key contains the lengths, because a label may contain any separator. */
function keyOfLabels(labels: WatchedPod['labels']): string {
  let key = '';
  for (const name in labels) {
    const value = labels[name] ?? '';
    key += `${name.length} ${value.length} ${name}${value}`;
  }
  return key;
}

function readPod(object: JsonObject, parts: PodParts): WatchedPod | null {
  const metadata = objectIn(object, 'metadata');
  const namespace = textIn(metadata, 'namespace') ?? '';
  const name = textIn(metadata, 'name') ?? '';
  if (namespace === '' || name === '') return null;
  const spec = objectIn(object, 'spec');
  const status = objectIn(object, 'status');
  const ready = objectsIn(status, 'conditions').find((condition) => textIn(condition, 'type') === 'Ready');
  const isReady = ready === undefined ? null : textIn(ready, 'status') === 'True';
  const trouble = isReady === true ? undefined : readTrouble(status);
  const cost = readDeletionCost(metadata);
  const resources = parts.resourcesOf(spec);
  return {
    namespace: parts.shareText(namespace),
    name,
    resourceVersion: textIn(metadata, 'resourceVersion') ?? '',
    ...(cost === null ? {} : { cost }),
    labels: parts.shareLabels(textsIn(metadata, 'labels')),
    pod: {
      name,
      phase: phaseOf(textIn(status, 'phase')),
      deleting: textIn(metadata, 'deletionTimestamp') !== null,
      startTime: instantIn(status, 'startTime'),
      ready: isReady,
      readyChangedAt: ready === undefined ? null : instantIn(ready, 'lastTransitionTime'),
      requests: resources.requests,
      podRequests: podRequests(spec),
      ...(resources.cpuLimit === undefined ? {} : { cpuLimit: resources.cpuLimit }),
      ...(trouble === undefined ? {} : { trouble: parts.shareTrouble(trouble) }),
    },
  };
}

function phaseOf(text: string | null): PodPhase {
  return PHASES.find((phase) => phase === text) ?? 'Unknown';
}

/**
 * Returns the containers that run as long as the pod: its containers and its sidecars (init containers with
 * restartPolicy Always).
 */
export function requestingContainers(spec: JsonObject | null): readonly JsonObject[] {
  const sidecars = objectsIn(spec, 'initContainers').filter(
    (container) => textIn(container, 'restartPolicy') === 'Always',
  );
  return [...objectsIn(spec, 'containers'), ...sidecars];
}

function containerRequests(spec: JsonObject | null): Pod['requests'] {
  return new Map(
    requestingContainers(spec).map((container) => [
      textIn(container, 'name') ?? '',
      resourcesIn(container, 'requests'),
    ]),
  );
}

function podRequests(spec: JsonObject | null): Requests | null {
  const requests = resourcesIn(spec, 'requests');
  return requests.size === 0 ? null : requests;
}

/** Returns requests or limits. Omits invalid quantities, which the decision reports as missing. */
function resourcesIn(parent: JsonObject | null, kind: 'requests' | 'limits'): Requests {
  const quantities = new Map<string, Milli>();
  for (const [resource, value] of Object.entries(objectIn(objectIn(parent, 'resources'), kind) ?? {})) {
    const milli = typeof value === 'string' || typeof value === 'number' ? parseQuantity(value) : null;
    if (milli !== null) quantities.set(resource, milli);
  }
  return quantities;
}

/** The two annotations about the cost, of which at least one is set. */
export interface WrittenCost {
  readonly cost: string | null;
  readonly own: string | null;
}

function readDeletionCost(metadata: JsonObject | null): WrittenCost | null {
  const annotations = objectIn(metadata, 'annotations');
  const cost = textIn(annotations, COST_ANNOTATION);
  const own = textIn(annotations, OWN_COST_ANNOTATION);
  return cost === null && own === null ? null : { cost, own };
}

export function isOwnCost({ cost, own }: WrittenCost): boolean {
  return cost !== null && cost === own;
}

/** Reasons that every pod has while it starts, and that are therefore not reported. */
const NORMAL: readonly string[] = ['ContainerCreating', 'PodInitializing'];
/** Longest reason in characters. A reason of the kubelet is one word, but a container runtime may set any text. */
const MAX_WHY = 60;

/**
 * Returns why a pod is not ready, as reported by the scheduler or the kubelet; undefined: neither reports a reason.
 */
export function readTrouble(status: JsonObject | null): PodTrouble | undefined {
  return unschedulable(status) ?? waiting(status);
}

function unschedulable(status: JsonObject | null): PodTrouble | undefined {
  const scheduled = objectsIn(status, 'conditions').find(
    (condition) => textIn(condition, 'type') === 'PodScheduled',
  );
  if (scheduled === undefined || textIn(scheduled, 'status') !== 'False') return undefined;
  if (textIn(scheduled, 'reason') !== 'Unschedulable') return undefined;
  return { kind: 'unschedulable', why: whyUnschedulable(textIn(scheduled, 'message') ?? '') };
}

/**
 * Returns the reason in a message of the scheduler, which counts nodes by reason: `0/3 nodes are available: 2
 * Insufficient cpu, 1 node(s) had untolerated taint {...}`. An insufficient resource takes precedence, because an
 * operator can add some.
 */
function whyUnschedulable(message: string): string {
  const words = message.replaceAll(NAMES, '');
  const short = Array.from(words.matchAll(/Insufficient ([\w./-]+)/g), ([, resource = '']) =>
    resource.replace(/\.$/, ''),
  );
  if (short.length > 0) return [...new Set(short)].sort().join(', ').slice(0, MAX_WHY);
  const rule = RULES.find(({ pattern }) => pattern.test(words));
  return rule?.why ?? 'no suitable node';
}

/**
 * Taints and object names in a message. They are removed, because they may contain the words for which `RULES` look.
 */
const NAMES = /\{[^{}]*\}|"[^"]*"/g;

const RULES: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  // Dynamic resource allocation, for devices such as GPUs.
  { pattern: /allocate all claims|resourceclaim/i, why: 'resource claims' },
  { pattern: /volume/i, why: 'a volume' },
  { pattern: /too many pods/i, why: 'the number of pods on a node' },
  { pattern: /topology spread/i, why: 'topology spread' },
  { pattern: /affinity|selector/i, why: 'affinity or node selector' },
  { pattern: /taint/i, why: 'taints' },
];

function waiting(status: JsonObject | null): PodTrouble | undefined {
  const containers = [
    ...objectsIn(status, 'initContainerStatuses'),
    ...objectsIn(status, 'containerStatuses'),
  ];
  for (const container of containers) {
    const reason = textIn(objectIn(objectIn(container, 'state'), 'waiting'), 'reason') ?? '';
    if (reason !== '' && !NORMAL.includes(reason)) return { kind: 'waiting', why: reason.slice(0, MAX_WHY) };
  }
  return undefined;
}
