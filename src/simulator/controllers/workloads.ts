import type { ClusterState, Change } from '../objects/store.js';
import { DELETION_COST, type KubeObject, keyOf, namespaceOf } from '../objects/kube-object.js';
import { PODS } from '../objects/resources.js';
import { stringAt } from '../kinds/json.js';
import { NO_LOAD, advanceLoad } from './load.js';
import { phaseOf, endPod, nextChangeAt, settledPods, stepWorkload } from './step-workload.js';
import { type Behavior, DEFAULT_BEHAVIOR, loadSource, type Runtime } from './runtime.js';
import { WORKLOAD_KINDS, type WorkloadKind, controllerOf, readSpec, templateOf } from './kinds.js';
import { Schedule } from './schedule.js';
import { Writer } from './writer.js';

const REACTION_MS = 20;

/** Controls all workloads. A workload takes CPU time only when an object changes or a pod reaches its next phase. */
export class WorkloadControllers {
  readonly #context: ClusterState;
  readonly #writer: Writer;
  readonly #schedule: Schedule;
  readonly #runtimes = new Map<string, Runtime>();
  readonly #ownerOfPod = new Map<string, string>();
  readonly #startMs: number;
  readonly #unsubscribe: (() => void)[] = [];
  #isWriting = false;

  constructor(context: ClusterState) {
    this.#context = context;
    this.#startMs = context.clock.monotonicMs();
    this.#writer = new Writer(context);
    this.#schedule = new Schedule(context.clock, (key) => this.#settle(key));
    for (const kind of WORKLOAD_KINDS) {
      this.#unsubscribe.push(
        context.store.subscribe(kind.storage, (change) => this.#onWorkload(kind, change)),
      );
    }
    this.#unsubscribe.push(context.store.subscribe(PODS, (change) => this.#onPod(change)));
  }

  /** All workloads, including deleted ones whose pods are terminating. */
  get runtimes(): Iterable<Runtime> {
    return this.#runtimes.values();
  }

  get elapsedSeconds(): number {
    return (this.#context.clock.monotonicMs() - this.#startMs) / 1000;
  }

  /**
   * Returns the workload with this name and kind (default: any kind). Throws `Error` if the workload does not exist.
   */
  find(namespace: string, name: string, kind?: string): Runtime {
    for (const runtime of this.#runtimes.values()) {
      const isNamed = runtime.namespace === namespace && runtime.name === name;
      if (isNamed && (kind === undefined || runtime.kind.kind === kind)) return runtime;
    }
    throw new Error(`finding workload ${namespace}/${name}: there is none`);
  }

  runtimeOfPod(namespace: string, podName: string): Runtime | null {
    return this.#runtimes.get(this.#ownerOfPod.get(keyOf(namespace, podName)) ?? '') ?? null;
  }

  accrue(runtime: Runtime): void {
    const template = runtime.object === null ? {} : templateOf(runtime.object);
    runtime.source ??= loadSource(runtime.behavior, template, runtime.loadOffsetSeconds);
    let readyPods = 0;
    for (const phase of runtime.written.values()) if (phase === 'ready') readyPods += 1;
    runtime.load = advanceLoad(runtime.source, runtime.load, this.elapsedSeconds, readyPods);
  }

  /** Changes the behavior of the pods. A new `load` curve starts now. */
  setBehavior(runtime: Runtime, change: Partial<Behavior>): void {
    this.accrue(runtime);
    runtime.behavior = { ...runtime.behavior, ...change };
    if (change.load !== undefined) runtime.loadOffsetSeconds = this.elapsedSeconds;
    runtime.source = null;
    this.#schedule.add(keyOfRuntime(runtime), 0);
  }

  breakPod(namespace: string, podName: string, isBroken: boolean): void {
    const runtime = this.runtimeOfPod(namespace, podName);
    if (runtime === null) throw new Error(`breaking pod ${namespace}/${podName}: there is none`);
    runtime.pods = runtime.pods.map((pod) => (pod.name === podName ? { ...pod, isBroken } : pod));
    this.#settle(keyOfRuntime(runtime));
  }

  /** Makes the pods of a new workload ready, with an age of `ageSeconds`. */
  settleAsOld(runtime: Runtime, ageSeconds: number): void {
    const { clock, random } = this.#context;
    if (runtime.object === null) return;
    const spec = readSpec(runtime.kind, runtime.object, runtime.behavior.timing);
    runtime.pods = settledPods(spec, clock.now(), ageSeconds, random);
    this.#settle(keyOfRuntime(runtime));
  }

  close(): void {
    this.#schedule.close();
    for (const stop of this.#unsubscribe) stop();
  }

  #onWorkload(kind: WorkloadKind, change: Change): void {
    if (this.#isWriting) return;
    const { object } = change;
    const owner = kind.kind === 'ReplicaSet' ? controllerOf(object) : null;
    const ownerKind = owner === null ? kind : kindNamed(owner.kind);
    const key = runtimeKey(ownerKind, namespaceOf(object), owner?.name ?? object.metadata.name);
    if (owner !== null) {
      this.#schedule.add(key, REACTION_MS);
      return;
    }
    const runtime = this.#runtimes.get(key) ?? this.#newRuntime(kind, object, key);
    runtime.object = change.type === 'DELETED' ? null : object;
    runtime.source = null;
    this.#schedule.add(key, REACTION_MS);
  }

  #newRuntime(kind: WorkloadKind, object: KubeObject, key: string): Runtime {
    const runtime: Runtime = {
      kind,
      namespace: namespaceOf(object) ?? '',
      name: object.metadata.name,
      object,
      pods: [],
      replicaSets: new Set(),
      written: new Map(),
      behavior: DEFAULT_BEHAVIOR,
      loadOffsetSeconds: this.elapsedSeconds,
      load: { ...NO_LOAD, atSeconds: this.elapsedSeconds },
      source: null,
      meters: new Map(),
    };
    this.#runtimes.set(key, runtime);
    return runtime;
  }

  #onPod({ type, object }: Change): void {
    if (this.#isWriting) return;
    const { clock, random } = this.#context;
    const { name } = object.metadata;
    const key = this.#ownerOfPod.get(keyOf(namespaceOf(object), name));
    const runtime = key === undefined ? undefined : this.#runtimes.get(key);
    if (key === undefined || runtime === undefined) return;
    const isMarked = object.metadata['deletionTimestamp'] !== undefined;
    const deletionCost = Number(stringAt(object, 'metadata', 'annotations', DELETION_COST) ?? '0') || 0;
    runtime.pods = runtime.pods.map((pod) => {
      if (pod.name !== name) return pod;
      if (type === 'DELETED') return { ...pod, deletedAt: clock.now(), goneAt: clock.now() };
      const costed = { ...pod, deletionCost };
      return isMarked ? endPod(costed, clock.now(), runtime.behavior.timing, random) : costed;
    });
    this.#schedule.add(key, REACTION_MS);
  }

  #settle(key: string): void {
    const runtime = this.#runtimes.get(key);
    if (runtime === undefined) return;
    const { clock, random } = this.#context;
    const now = clock.now();
    this.accrue(runtime);
    const { kind, object, behavior } = runtime;
    if (object === null) {
      const pods = runtime.pods.map((pod) => endPod(pod, now, behavior.timing, random));
      runtime.pods = pods.filter((pod) => phaseOf(pod, now) !== 'gone');
    } else {
      runtime.pods = stepWorkload(readSpec(kind, object, behavior.timing), runtime.pods, now, random);
    }
    this.#write(key, runtime);
    if (object === null && runtime.pods.length === 0) this.#runtimes.delete(key);
    this.#schedule.add(key, nextChangeAt(runtime.pods, now) - now);
  }

  #write(key: string, runtime: Runtime): void {
    this.#isWriting = true;
    try {
      const { added, removed } = this.#writer.write(runtime);
      for (const name of added) this.#ownerOfPod.set(keyOf(runtime.namespace, name), key);
      for (const name of removed) this.#ownerOfPod.delete(keyOf(runtime.namespace, name));
    } finally {
      this.#isWriting = false;
    }
  }
}

function kindNamed(name: string): WorkloadKind | null {
  return WORKLOAD_KINDS.find(({ kind }) => kind === name) ?? null;
}

function keyOfRuntime({ kind, namespace, name }: Runtime): string {
  return runtimeKey(kind, namespace, name);
}

function runtimeKey(kind: WorkloadKind | null, namespace: string | null, name: string): string {
  return `${kind?.storage ?? ''}:${keyOf(namespace, name)}`;
}
