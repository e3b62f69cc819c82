import type { ReadPath } from '../../../src/config/document-set.js';
import type { ReadDocument } from '../../../src/scaler/read/read-scalers.js';
import type { Product } from '../product.js';
import { ApiWire } from './api-wire.js';
import { Cluster } from './cluster.js';
import type { Fault } from './faults.js';
import { createLoad } from './load.js';
import type { LogRecord } from './log.js';
import { createRandom, type Random } from './random.js';
import {
  type Feature,
  OWN_NAMESPACE,
  planSlowWorkloads,
  planWorkloads,
  writeDocuments,
  type WorkloadPlan,
} from './scenario.js';
import { Replica } from './replica.js';
import { Source } from './source.js';
import { tenantDeployments, tenantDocuments, type TenantWay } from './tenant.js';
import { Timeline } from './timeline.js';
import { WatchWires } from './watch-wires.js';
import { Workload } from './workload.js';
import { applyClusterFault, type ClusterFault } from './cluster-faults.js';

export interface SimulationOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly product: Product;
  readonly replicas: number;
  /** Whether the replicas share the scalers; unset: one replica is the leader. */
  readonly isSharded?: boolean;
  readonly faults: readonly Fault[];
  /** Default: none. */
  readonly features?: readonly Feature[];
}

const VITALS_MS = 600_000;
const STATE_MAPS = 16;

/** A document from a time on; null: it was removed. */
export interface DocumentChange {
  readonly atMs: number;
  readonly scaler: string;
  readonly plan: WorkloadPlan | null;
}

/** A cluster with its Prometheus servers, its load and its promscaler processes. */
export class Simulation {
  readonly timeline = new Timeline();
  readonly random: Random;
  readonly cluster: Cluster;
  readonly api: ApiWire;
  readonly watches: WatchWires;
  readonly workloads: readonly Workload[];
  readonly sources: ReadonlyMap<string, Source>;
  readonly replicas: readonly Replica[];
  readonly records: LogRecord[] = [];
  readonly documents: DocumentChange[] = [];
  /** The faults that have an HPA on their target: it exists until the last of them ends. */
  readonly hpas = new Set<ClusterFault>();
  /** What the documents of the hostile namespace do; null: it has none. */
  tenant: TenantWay | null = null;
  /** Whether servers report their start time, by the seed. */
  readonly tellsStart: boolean;
  /** Several replicas with a Lease. */
  readonly isElected: boolean;
  readonly isSharded: boolean;
  readonly hasBackTests: boolean;
  readonly product: Product;
  readonly #read = new Map<string, readonly ReadDocument[]>();

  constructor(options: SimulationOptions) {
    const { seed, durationMs, faults, product, features = [] } = options;
    this.product = product;
    this.isElected = options.replicas > 1;
    this.isSharded = options.isSharded ?? false;
    this.random = createRandom(seed);
    const { timeline } = this;
    this.cluster = new Cluster({ timeline, random: this.random.fork('cluster') });
    const { cluster } = this;
    const plan = features.includes('slow-starts') ? planSlowWorkloads : planWorkloads;
    this.hasBackTests = features.includes('recommendations');
    const plans = plan(this.random.fork('plans'));
    this.tellsStart = this.random.fork('start').chance(0.7);
    this.api = new ApiWire({ timeline, cluster, random: this.random.fork('api') });
    this.watches = new WatchWires({ timeline, cluster, random: this.random.fork('watches') });
    this.workloads = plans.map((plan) => {
      const random = this.random.fork(`workload ${plan.name}`);
      const isSteep = plan.slowSeconds !== null;
      const load = createLoad(random, { mean: plan.replicasNeeded, durationMs, isSteep });
      return new Workload(plan, { timeline, cluster, random, load, seed });
    });
    this.sources = new Map(
      ['default', 'queues'].map((name) => [
        name,
        new Source(name, { timeline, random: this.random.fork(`source ${name}`), workloads: this.workloads }),
      ]),
    );
    for (const plan of plans) this.#tellDocument(plan.name, plan);
    for (const deployment of tenantDeployments()) this.cluster.create(deployment);
    for (let bucket = 0; bucket < STATE_MAPS; bucket += 1) this.#createStateMap(bucket);
    this.replicas = Array.from({ length: options.replicas }, (_, index) => new Replica(index, this));
    for (const fault of faults) this.#arrange(fault);
    timeline.every(VITALS_MS, () => this.#takeVitals());
  }

  readonly log = (record: LogRecord): void => void this.records.push(record);

  workload(name: string): Workload {
    const workload = this.workloads.find(({ plan }) => plan.name === name);
    if (workload === undefined) throw new Error(`there is no workload ${name}`);
    return workload;
  }

  /** The documents that are in effect. */
  plans(): readonly WorkloadPlan[] {
    const last = new Map<string, WorkloadPlan | null>();
    for (const { scaler, plan } of this.documents) last.set(scaler, plan);
    return [...last.values()].filter((plan) => plan !== null);
  }

  /**
   * Returns a directory with one file as the service reads it, empty if there is no document; each text is read once.
   */
  readDirectory(): ReadPath {
    const plans = this.plans();
    const own = plans.length === 0 ? '' : writeDocuments(plans);
    const text = [own, this.tenant === null ? '' : tenantDocuments(this.tenant)]
      .filter(Boolean)
      .join('---\n');
    const known = this.#read.get(text) ?? this.product.readDocuments(text, 'scalers.yaml');
    this.#read.set(text, known);
    for (const { scaler, problems } of known)
      if (scaler === null) throw new Error(problems.map(({ message }) => message).join('; '));
    const files = text === '' ? [] : [{ name: 'scalers.yaml', text, error: null, isOwnMount: false }];
    return { contents: { path: 'scalers', files, error: null }, documents: known };
  }

  /** Changes a document (null: removes it), and every process reads all documents again. */
  changeDocument(name: string, plan: WorkloadPlan | null): void {
    this.#tellDocument(name, plan);
    for (const replica of this.replicas) replica.reload();
  }

  /** Changes all documents at once. */
  changeDocuments(change: (plan: WorkloadPlan) => WorkloadPlan | null): void {
    for (const { plan } of this.workloads) this.#tellDocument(plan.name, change(plan));
    for (const replica of this.replicas) replica.reload();
  }

  /** Gives the hostile namespace other documents; null: takes them away. */
  changeTenant(way: TenantWay | null): void {
    this.tenant = way;
    for (const replica of this.replicas) replica.reload();
  }

  async run(durationMs: number): Promise<void> {
    for (const replica of this.replicas) replica.start();
    await this.timeline.runUntil(durationMs);
  }

  /** Creates it as the chart does, an hour before. */
  #createStateMap(bucket: number): void {
    const name = `promscaler-state-${String(bucket).padStart(2, '0')}`;
    const metadata = { name, namespace: OWN_NAMESPACE };
    this.cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata }, { ageMs: 3_600_000 });
  }

  #takeVitals(): void {
    const atMs = this.timeline.nowMs;
    for (const { process } of this.replicas) {
      if (process?.isAlive !== true) continue;
      const { name, timers } = process;
      this.log({
        kind: 'vitals',
        process: name,
        atMs,
        timers,
        connections: this.watches.connectionsOf(name),
      });
    }
  }

  #tellDocument(name: string, plan: WorkloadPlan | null): void {
    const { namespace } = this.workload(name).plan;
    this.documents.push({ atMs: this.timeline.nowMs, scaler: `${namespace}/${name}`, plan });
  }

  #arrange(fault: Fault): void {
    this.timeline.after(fault.startMs, () => this.#begin(fault));
  }

  #begin(fault: Fault): void {
    const later = (run: () => void): void => void this.timeline.after(fault.endMs - fault.startMs, run);
    switch (fault.kind) {
      case 'api':
        this.api.faults.add(fault);
        if (fault.group === 'all' && fault.what.mode === 'refused') this.watches.breakAll();
        later(() => this.api.faults.delete(fault));
        return;
      case 'watch':
        this.watches.begin(fault);
        later(() => this.watches.faults.delete(fault));
        return;
      case 'source': {
        const source = this.sources.get(fault.source);
        source?.begin(fault);
        later(() => source?.end(fault));
        return;
      }
      case 'cluster':
        applyClusterFault(this, fault, later);
        return;
      default:
        fault satisfies never;
    }
  }
}
