import type { Instant } from '../../units/time.js';
import { isObject, numberAt, objectAt, sameJson, stringAt } from '../kinds/json.js';
import { type PodState, phaseOf } from './step-workload.js';
import { PODS } from '../objects/resources.js';
import type { ClusterState } from '../objects/store.js';
import { type KubeObject, makeUid, withMetadata, asKubeObject, timestamp } from '../objects/kube-object.js';
import { controllerOf, readSpec, templateOf } from './kinds.js';
import { renderPod, countPods, renderReplicaSet, renderStatus } from './render-workload.js';
import type { Runtime } from './runtime.js';

const REPLICA_SETS = 'apps/replicasets';
const REVISION = 'deployment.kubernetes.io/revision';
/** How many old ReplicaSets of a Deployment are kept: the default of `revisionHistoryLimit`. */
const OLD_REPLICA_SETS = 10;

/** Makes the stored objects of a workload match its pods. Writes only objects that differ. */
export class Writer {
  readonly #context: ClusterState;
  #podCount = 0;

  constructor(context: ClusterState) {
    this.#context = context;
  }

  write(runtime: Runtime): { readonly added: readonly string[]; readonly removed: readonly string[] } {
    const now = this.#context.clock.now();
    const owners = runtime.kind.style === 'replicasets' ? this.#writeReplicaSets(runtime, now) : null;
    const added: string[] = [];
    const present = new Set<string>();
    for (const pod of runtime.pods) {
      present.add(pod.name);
      const phase = phaseOf(pod, now);
      // A pod of a StatefulSet has the name of the pod that it replaces.
      const isReplaced = runtime.written.get(pod.name) === 'terminating' && pod.deletedAt === null;
      if (isReplaced) this.#removePod(runtime, pod.name);
      const before = runtime.written.get(pod.name);
      if (before === phase) continue;
      if (before === undefined) added.push(pod.name);
      meter(runtime, pod.name, phase === 'ready');
      runtime.written.set(pod.name, phase);
      const owner = owners === null ? runtime.object : (owners.get(pod.revision) ?? null);
      this.#writePod(runtime, pod, owner, now);
    }
    const removed = [...runtime.written.keys()].filter((name) => !present.has(name));
    for (const name of removed) this.#removePod(runtime, name);
    this.#writeStatus(runtime, now);
    return { added, removed };
  }

  #writePod(runtime: Runtime, pod: PodState, owner: KubeObject | null, now: Instant): void {
    const { store, random } = this.#context;
    const stored = store.get(PODS, runtime.namespace, pod.name);
    if (stored === null && (owner === null || pod.deletedAt !== null)) return;
    this.#podCount += 1;
    const serial = this.#podCount;
    // If the owner was deleted, the stored pod is used, whose metadata `renderPod` keeps.
    const named = owner ?? stored;
    if (named === null) return;
    const object = renderPod(
      {
        pod,
        owner: named,
        template: stored === null ? templateOf(named) : { spec: stored['spec'] },
        labels: podLabels(runtime, pod),
        stored,
        uid: makeUid(random),
        podIp:
          stringAt(stored ?? undefined, 'status', 'podIP') ??
          `10.${1 + ((serial >> 16) % 250)}.${(serial >> 8) % 256}.${serial % 256}`,
      },
      now,
    );
    store.put(PODS, object);
  }

  #removePod(runtime: Runtime, name: string): void {
    runtime.written.delete(name);
    runtime.meters.delete(name);
    this.#context.store.remove(PODS, runtime.namespace, name);
  }

  /**
   * Writes the ReplicaSets of a Deployment: of the current template, of templates with pods, and of some old templates.
   * Returns them by hash.
   */
  #writeReplicaSets(runtime: Runtime, now: Instant): ReadonlyMap<string, KubeObject> {
    const { store, random } = this.#context;
    const { object, namespace, name } = runtime;
    const owned = new Map<string, KubeObject>();
    for (const hash of new Set(runtime.pods.map((pod) => pod.revision))) {
      const stored = store.get(REPLICA_SETS, namespace, `${name}-${hash}`);
      if (stored !== null) owned.set(hash, stored);
    }
    if (object === null) {
      this.#removeReplicaSets(runtime, 0);
      return owned;
    }
    const spec = readSpec(runtime.kind, object, runtime.behavior.timing);
    const known = this.#replicaSetsOf(runtime);
    const hashes = new Set([spec.revision, ...runtime.pods.map((pod) => pod.revision), ...known.map(hashOf)]);
    const highest = Math.max(0, ...known.map(revisionOf));
    for (const hash of hashes) {
      const stored = store.get(REPLICA_SETS, namespace, `${name}-${hash}`);
      const isCurrent = hash === spec.revision;
      if (stored === null && !isCurrent) continue;
      const counts = countPods(
        runtime.pods.filter((pod) => pod.revision === hash),
        hash,
        now,
      );
      const source = { hash, counts, stored, uid: makeUid(random), revisionNumber: highest + 1 };
      let next = renderReplicaSet(object, source, now);
      if (isCurrent && stored !== null && revisionOf(stored) < highest)
        next = withRevision(next, highest + 1);
      if (stored === null || !sameJson(stored, next)) {
        next = store.put(REPLICA_SETS, next);
        this.#recordScaling(runtime, stored, next, now);
      }
      owned.set(hash, next);
      if (isCurrent) this.#writeRevision(runtime, revisionOf(next));
    }
    if (known.length > OLD_REPLICA_SETS) this.#removeReplicaSets(runtime, OLD_REPLICA_SETS);
    return owned;
  }

  #replicaSetsOf({ namespace, name, kind, replicaSets }: Runtime): readonly KubeObject[] {
    const found: KubeObject[] = [];
    for (const rsName of replicaSets) {
      const stored = this.#context.store.get(REPLICA_SETS, namespace, rsName);
      const owner = stored === null ? null : controllerOf(stored);
      if (stored !== null && owner?.kind === kind.kind && owner.name === name) found.push(stored);
      else replicaSets.delete(rsName);
    }
    return found;
  }

  /** Removes ReplicaSets without pods until `kept` of them are left, the oldest first. */
  #removeReplicaSets(runtime: Runtime, kept: number): void {
    const known = [...this.#replicaSetsOf(runtime)].sort((a, b) => revisionOf(a) - revisionOf(b));
    const isLast = runtime.object === null;
    const idle = known.filter((set) => isLast || numberAt(set, 'spec', 'replicas') === 0);
    for (const set of idle.slice(0, Math.max(0, known.length - kept))) {
      this.#context.store.remove(REPLICA_SETS, runtime.namespace, set.metadata.name);
      runtime.replicaSets.delete(set.metadata.name);
    }
  }

  #recordScaling(runtime: Runtime, before: KubeObject | null, after: KubeObject, now: Instant): void {
    runtime.replicaSets.add(after.metadata.name);
    const from = numberAt(before ?? undefined, 'spec', 'replicas') ?? 0;
    const to = numberAt(after, 'spec', 'replicas') ?? 0;
    const hash = hashOf(after);
    // A workload that exists from the start gets no event, because it was scaled before the simulation began.
    const isOld = before === null && runtime.pods.some((pod) => pod.revision === hash && pod.createdAt < now);
    if (from === to || runtime.object === null || isOld) return;
    const change = `${to > from ? 'up' : 'down'} replica set ${after.metadata.name} from ${from} to ${to}`;
    recordScaling(this.#context, runtime.object, `Scaled ${change}`, now);
  }

  #writeRevision(runtime: Runtime, revision: number): void {
    const { object, kind } = runtime;
    if (object === null || kind.kind !== 'Deployment') return;
    if (stringAt(object, 'metadata', 'annotations', REVISION) === String(revision)) return;
    runtime.object = this.#context.store.put(kind.storage, withRevision(object, revision));
  }

  #writeStatus(runtime: Runtime, now: Instant): void {
    const { object, kind, behavior } = runtime;
    if (object === null) return;
    const spec = readSpec(kind, object, behavior.timing);
    const counts = countPods(runtime.pods, spec.revision, now);
    const status = renderStatus({ kind, object, spec, counts }, now);
    if (!sameJson(object['status'], status))
      runtime.object = this.#context.store.put(kind.storage, { ...object, status });
  }
}

function meter(runtime: Runtime, name: string, isReady: boolean): void {
  const known = runtime.meters.get(name);
  const { totals } = runtime.load;
  if (known === undefined) {
    if (isReady) runtime.meters.set(name, { from: totals, to: null });
  } else if (!isReady && known.to === null) runtime.meters.set(name, { ...known, to: totals });
  else if (isReady && known.to !== null) {
    const done = (field: keyof typeof totals): number =>
      totals[field] - (known.to?.[field] ?? 0) + known.from[field];
    runtime.meters.set(name, {
      from: {
        cpuSeconds: done('cpuSeconds'),
        requests: done('requests'),
        failedRequests: done('failedRequests'),
      },
      to: null,
    });
  }
}

function podLabels({ kind, name }: Runtime, pod: PodState): Readonly<Record<string, string>> {
  if (kind.style === 'replicasets') return { 'pod-template-hash': pod.revision };
  if (kind.style === 'plain') return {};
  return {
    'controller-revision-hash': `${name}-${pod.revision}`,
    'statefulset.kubernetes.io/pod-name': pod.name,
    'apps.kubernetes.io/pod-index': String(pod.ordinal),
  };
}

function hashOf(replicaSet: KubeObject): string {
  return stringAt(replicaSet, 'metadata', 'labels', 'pod-template-hash') ?? '';
}

function revisionOf(replicaSet: KubeObject): number {
  return Number(stringAt(replicaSet, 'metadata', 'annotations', REVISION) ?? '0');
}

function withRevision(object: KubeObject, revision: number): KubeObject {
  const before = object.metadata['annotations'];
  const annotations = { ...objectAt(isObject(before) ? before : {}), [REVISION]: String(revision) };
  return withMetadata(object, { annotations });
}

const EVENTS = '/events';
/** Maximum number of events; the oldest are removed. (A real server removes events after an hour.) */
const MOST_EVENTS = 5000;

function recordScaling(
  { store, random }: ClusterState,
  about: KubeObject,
  message: string,
  now: Instant,
): void {
  const { apiVersion, kind } = about;
  const { name, namespace, uid, resourceVersion } = about.metadata;
  const component = 'deployment-controller';
  const at = timestamp(now);
  store.put(
    EVENTS,
    asKubeObject({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: `${name}.${makeUid(random).slice(0, 8)}${makeUid(random).slice(0, 8)}`,
        namespace: namespace ?? 'default',
        uid: makeUid(random),
        resourceVersion: '',
        creationTimestamp: at,
      },
      involvedObject: { apiVersion, kind, name, namespace, uid, resourceVersion },
      reason: 'ScalingReplicaSet',
      message,
      type: 'Normal',
      source: { component },
      reportingComponent: component,
      reportingInstance: '',
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
      eventTime: null,
    }),
  );
  if (store.count(EVENTS) <= MOST_EVENTS) return;
  for (const oldest of store.all(EVENTS)) {
    store.remove(EVENTS, oldest.metadata.namespace ?? null, oldest.metadata.name);
    break;
  }
}
