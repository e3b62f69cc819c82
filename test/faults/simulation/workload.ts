import { timestamp, makeUid, type KubeObject } from '../../../src/simulator/objects/kube-object.js';
import { objectAt, numberAt, type JsonObject } from '../../../src/simulator/kinds/json.js';
import { type Cluster, DEPLOYMENTS, PODS, replicasOf } from './cluster.js';
import type { Load } from './load.js';
import { SIMULATION_START_MS } from './process.js';
import { hashText, type Random } from './random.js';
import { CPU_REQUEST, type WorkloadPlan } from './scenario.js';
import type { Timeline } from './timeline.js';

/** A pod as it actually is. */
export interface RealPod {
  readonly name: string;
  readonly createdMs: number;
  phase: 'Pending' | 'Running';
  startedMs: number | null;
  isReady: boolean;
  readyChangedMs: number | null;
  isDeleting: boolean;
  /** Counters since its start. */
  cpuSeconds: number;
  requests: number;
}

/** The number of pods of a workload over time, for the checker. */
export interface ReplicaChange {
  readonly atMs: number;
  readonly replicas: number;
  readonly uid: string;
}

/** A Deployment, its controller, its pods and their load. */
export class Workload {
  readonly plan: WorkloadPlan;
  readonly load: Load;
  readonly pods = new Map<string, RealPod>();
  /** Every change of `spec.replicas`, by any client. */
  readonly history: ReplicaChange[] = [];
  /** The number of pods that share the load, after each change. */
  readonly readyHistory: { readonly atMs: number; readonly ready: number }[] = [];
  /** The names of its pods after each change. */
  readonly podHistory: { readonly atMs: number; readonly names: readonly string[] }[] = [];
  /** Requests at the ingress, served or not. */
  ingressRequests = 0;
  /** Additional seconds until a new pod is ready; infinite: not before `finishStarts`. */
  slowStartSeconds: number;
  readonly #timeline: Timeline;
  readonly #cluster: Cluster;
  readonly #random: Random;
  #advancedMs = 0;
  #podCount = 0;
  #churn = 0;
  readonly #quota: number;

  constructor(
    plan: WorkloadPlan,
    parts: {
      readonly timeline: Timeline;
      readonly cluster: Cluster;
      readonly random: Random;
      readonly load: Load;
      readonly seed: number;
    },
  ) {
    this.plan = plan;
    this.load = parts.load;
    this.slowStartSeconds = plan.slowSeconds ?? 0;
    this.#timeline = parts.timeline;
    this.#cluster = parts.cluster;
    this.#random = parts.random;
    this.#quota = parts.seed;
    this.create(Math.max(plan.minReplicas, Math.round(parts.load.at(0))));
    for (const pod of this.pods.values()) this.#becomeReady(pod);
    this.#cluster.store.subscribe(DEPLOYMENTS, ({ object }) => {
      if (object.metadata.name !== plan.name || object.metadata.namespace !== plan.namespace) return;
      const last = this.history.at(-1);
      const replicas = replicasOf(object);
      const { uid } = object.metadata;
      if (last?.replicas === replicas && last.uid === uid) return;
      this.history.push({ atMs: this.#timeline.nowMs, replicas, uid });
      this.#timeline.after(this.#random.between(100, 800), () => this.#reconcile());
    });
  }

  /** Creates the Deployment with its pods; scales the one that another fault has recreated already. */
  create(replicas: number): void {
    const { namespace, name } = this.plan;
    if (this.deployment() !== null) {
      this.setReplicas(replicas);
      return;
    }
    const labels = { app: name };
    const container = { name: 'app', image: 'app:1', resources: this.#resources() };
    const object = this.#cluster.create({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace, labels },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
      status: { replicas },
    });
    if (this.history.length === 0)
      this.history.push({ atMs: this.#timeline.nowMs, replicas, uid: object.metadata.uid });
    this.#reconcile();
  }

  /** Deletes the Deployment and all of its pods. */
  destroy(): void {
    this.#cluster.store.remove(DEPLOYMENTS, this.plan.namespace, this.plan.name);
    for (const name of [...this.pods.keys()]) this.#remove(name);
  }

  /** Sets the replicas as another client. */
  setReplicas(replicas: number): void {
    const { namespace, name } = this.plan;
    if (this.deployment() === null) return;
    this.#cluster.patch(`/apis/apps/v1/namespaces/${namespace}/deployments/${name}`, { spec: { replicas } });
  }

  /** Updates the Deployment without a relevant change. */
  churn(): void {
    const object = this.deployment();
    if (object === null) return;
    this.#churn += 1;
    this.#putStatus(object, { observedGeneration: this.#churn });
  }

  deployment(): KubeObject | null {
    return this.#cluster.store.get(DEPLOYMENTS, this.plan.namespace, this.plan.name);
  }

  /** Makes this percentage of pods unready, but never the last one; `forgets`: their counters restart. */
  crash(percent: number, { forMs, forgets }: { readonly forMs: number; readonly forgets: boolean }): void {
    this.advance();
    for (const pod of this.pods.values()) {
      if (!pod.isReady || this.serving().length < 2 || !this.#random.chance(percent / 100)) continue;
      if (forgets) {
        pod.cpuSeconds = 0;
        pod.requests = 0;
      }
      this.#setReady(pod, false);
      this.#timeline.after(forMs, () => {
        if (this.pods.get(pod.name) === pod && !pod.isDeleting) this.#setReady(pod, true);
      });
    }
  }

  /** Makes the pods ready that have never been ready. */
  finishStarts(): void {
    for (const pod of this.pods.values())
      if (pod.phase === 'Running' && !pod.isReady && pod.readyChangedMs === pod.startedMs)
        this.#setReady(pod, true);
  }

  /** Returns the pods that share the load. */
  serving(): readonly RealPod[] {
    return [...this.pods.values()].filter(({ isReady, isDeleting }) => isReady && !isDeleting);
  }

  /** Returns the most pods that its quota allows: another number in each third of an hour. */
  readonly ceilingAt = (atMs = this.#timeline.nowMs): number =>
    3 + (hashText(`${this.#quota} ${Math.floor(atMs / 1_200_000)}`) % 43);

  /** Returns the messages in its queue. */
  messages(): number {
    const gauge = this.plan.metrics.find(({ kind }) => kind === 'gauge');
    return this.load.at(this.#timeline.nowMs) * (gauge?.perReplica ?? 0);
  }

  /** Returns the requests that wait: those of 10 s that its pods cannot take. */
  waiting(): number {
    const rate = this.plan.metrics.find(({ kind }) => kind === 'backlog');
    const missing = this.load.at(this.#timeline.nowMs) - this.serving().length;
    return Math.max(0, missing) * (rate?.perReplica ?? 0) * 10;
  }

  /** Advances the counters of all pods to the current time. */
  advance(): void {
    const nowMs = this.#timeline.nowMs;
    const seconds = (nowMs - this.#advancedMs) / 1000;
    this.#advancedMs = nowMs;
    if (seconds <= 0) return;
    const total = this.plan.metrics.find(({ kind }) => kind === 'total-rate');
    this.ingressRequests += this.load.at(nowMs) * (total?.perReplica ?? 0) * seconds;
    const serving = this.serving();
    if (serving.length === 0) return;
    const share = this.load.at(nowMs) / serving.length;
    const cpu = this.plan.metrics.find(({ kind }) => kind === 'cpu')?.perReplica ?? 0;
    const isServed = ({ kind }: { readonly kind: string }): boolean =>
      kind === 'pod-rate' || kind === 'served';
    const rate = this.plan.metrics.find(isServed)?.perReplica ?? 0;
    // A pod of a metric with `saturation` uses and serves no more than its limit.
    const isLimited = this.plan.metrics.some(({ kind }) => kind === 'served');
    const carried = isLimited ? Math.min(share, CPU_REQUEST / cpu) : share;
    for (const pod of serving) {
      pod.cpuSeconds += carried * cpu * seconds;
      pod.requests += carried * rate * seconds;
    }
  }

  #resources(): JsonObject {
    const cpu = { cpu: String(CPU_REQUEST) };
    return this.plan.slowSeconds === null ? { requests: cpu } : { requests: cpu, limits: cpu };
  }

  #reconcile(): void {
    const object = this.deployment();
    if (object === null) return;
    this.advance();
    const wanted = replicasOf(object);
    const living = [...this.pods.values()].filter(({ isDeleting }) => !isDeleting);
    for (let count = living.length; count < wanted; count += 1) this.#start();
    for (const pod of living.toReversed().slice(0, Math.max(0, living.length - wanted))) this.#end(pod);
    if (numberAt(object, 'status', 'replicas') !== wanted) this.#putStatus(object, { replicas: wanted });
  }

  #putStatus(object: KubeObject, change: JsonObject): void {
    this.#cluster.store.put(DEPLOYMENTS, { ...object, status: { ...objectAt(object, 'status'), ...change } });
  }

  #start(): void {
    this.#podCount += 1;
    const name = `${this.plan.name}-7d9f8b6c5-${this.#podCount.toString(36).padStart(5, 'x')}`;
    const pod: RealPod = {
      name,
      createdMs: this.#timeline.nowMs,
      phase: 'Pending',
      startedMs: null,
      isReady: false,
      readyChangedMs: null,
      isDeleting: false,
      cpuSeconds: 0,
      requests: 0,
    };
    this.pods.set(name, pod);
    this.#noteNames();
    this.#write(pod);
    const startMs = this.#random.between(500, 4000);
    this.#timeline.after(startMs, () => {
      if (this.pods.get(name) !== pod || pod.isDeleting || pod.startedMs !== null) return;
      pod.phase = 'Running';
      pod.startedMs = this.#timeline.nowMs;
      pod.readyChangedMs = this.#timeline.nowMs;
      this.#write(pod);
    });
    const readyMs = startMs + this.#random.between(3000, 20_000) + this.slowStartSeconds * 1000;
    if (Number.isFinite(readyMs))
      this.#timeline.after(readyMs, () => {
        if (this.pods.get(name) === pod && !pod.isDeleting) this.#setReady(pod, true);
      });
  }

  /** The initial pods have been ready for long. */
  #becomeReady(pod: RealPod): void {
    pod.phase = 'Running';
    pod.startedMs = -3_600_000;
    pod.readyChangedMs = -3_590_000 + this.slowStartSeconds * 1000;
    pod.isReady = true;
    this.#write(pod);
  }

  #setReady(pod: RealPod, isReady: boolean): void {
    if (pod.isReady === isReady) return;
    this.advance();
    pod.isReady = isReady;
    pod.readyChangedMs = this.#timeline.nowMs;
    this.#write(pod);
  }

  #end(pod: RealPod): void {
    pod.isDeleting = true;
    this.#write(pod);
    this.#timeline.after(this.#random.between(2000, 20_000), () => this.#remove(pod.name));
  }

  #remove(name: string): void {
    if (!this.pods.delete(name)) return;
    this.#noteReady();
    this.#cluster.store.remove(PODS, this.plan.namespace, name);
    this.#noteNames();
  }

  #noteReady(): void {
    const ready = this.serving().length;
    if (this.readyHistory.at(-1)?.ready !== ready)
      this.readyHistory.push({ atMs: this.#timeline.nowMs, ready });
  }

  #noteNames(): void {
    this.podHistory.push({ atMs: this.#timeline.nowMs, names: [...this.pods.keys()].sort() });
  }

  /** Writes as a controller and the kubelet do: without a request. */
  #write(pod: RealPod): void {
    this.#noteReady();
    const { namespace, name } = this.plan;
    const { store, random } = this.#cluster;
    const before = store.get(PODS, namespace, pod.name);
    const isReadyKnown = pod.readyChangedMs !== null;
    store.put(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: pod.name,
        namespace,
        uid: before?.metadata.uid ?? makeUid(random),
        resourceVersion: '',
        creationTimestamp: timeText(pod.createdMs),
        labels: { app: name },
        ...(pod.isDeleting ? { deletionTimestamp: timeText(this.#timeline.nowMs) } : {}),
      },
      spec: { containers: [{ name: 'app', resources: this.#resources() }] },
      status: {
        phase: pod.phase,
        ...(pod.startedMs === null ? {} : { startTime: timeText(pod.startedMs) }),
        ...(isReadyKnown ? { conditions: [readyCondition(pod)] } : {}),
      },
    });
  }
}

function readyCondition({ isReady, readyChangedMs }: RealPod): JsonObject {
  return {
    type: 'Ready',
    status: isReady ? 'True' : 'False',
    lastTransitionTime: timeText(readyChangedMs ?? 0),
  };
}

function timeText(ms: number): string {
  return timestamp(SIMULATION_START_MS + ms);
}
