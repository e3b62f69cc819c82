import type { Fault, SourceMode } from './faults.js';
import type { Random } from './random.js';
import { hashText } from './random.js';
import { SCRAPE_SECONDS, type MetricPlan } from './scenario.js';
import { INGRESS, Scrapes } from './scrapes.js';
import type { Timeline } from './timeline.js';
import type { Workload } from './workload.js';

/** Two scrapes, which a scraper resends until they are accepted. */
const UNSENT_MS = 2 * SCRAPE_SECONDS * 1000 + 1000;

type SourceFault = Extract<Fault, { readonly kind: 'source' }>;

/** One Prometheus: its start time, and its scrapes since then. */
export interface SourceServer {
  readonly startedMs: number;
  /** The start of its data. */
  readonly sinceMs: number;
  readonly scrapes: ReadonlyMap<string, Scrapes>;
}

/** A data source: one Prometheus, or two behind one address. */
export class Source {
  readonly name: string;
  readonly faults = new Set<SourceFault>();
  /** Start times of all servers so far, for the checker. */
  readonly starts: number[] = [];
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #workloads: readonly Workload[];
  #servers: SourceServer[];

  constructor(
    name: string,
    parts: { readonly timeline: Timeline; readonly random: Random; readonly workloads: readonly Workload[] },
  ) {
    this.name = name;
    this.#timeline = parts.timeline;
    this.#random = parts.random;
    this.#workloads = parts.workloads;
    // It has run for an hour, and has the samples of its end.
    this.#servers = [this.#create(-3_600_000)];
    parts.timeline.every(SCRAPE_SECONDS * 1000, () => this.#scrape(), parts.random.between(100, 15_000));
  }

  /** Returns the server that a request reaches. */
  reach(): SourceServer {
    return this.#random.pick(this.#servers);
  }

  has(mode: SourceMode['mode']): boolean {
    return this.#find(mode) !== null;
  }

  begin(fault: SourceFault): void {
    this.faults.add(fault);
    if (fault.what.mode === 'second-replica')
      this.#servers = [...this.#servers, this.#create(this.#timeline.nowMs)];
    if (fault.what.mode === 'emptied') this.#servers = this.#servers.map((server) => this.#empty(server));
  }

  end(fault: SourceFault): void {
    this.faults.delete(fault);
    if (fault.what.mode === 'restarted') this.#servers = this.#servers.map((server) => this.#restart(server));
    if (fault.what.mode === 'wiped') this.#servers = [this.#create(this.#timeline.nowMs)];
    if (fault.what.mode === 'second-replica') this.#servers = this.#servers.slice(0, 1);
  }

  /** The store that is missing from answers; null: none. */
  get lostStore(): { readonly percent: number; readonly sinceMs: number } | null {
    for (const { what, startMs } of this.faults)
      if (what.mode === 'store-lost') return { percent: what.percent, sinceMs: startMs };
    return null;
  }

  /** Neither reachable nor scraping. */
  get isDown(): boolean {
    return this.has('down') || this.has('wiped') || this.has('restarted');
  }

  #create(startedMs: number): SourceServer {
    this.starts.push(startedMs);
    const scrapes = new Map(this.#workloads.map(({ plan }) => [plan.name, new Scrapes()]));
    return { startedMs, sinceMs: startedMs, scrapes };
  }

  #restart({ scrapes, sinceMs }: SourceServer): SourceServer {
    const startedMs = this.#timeline.nowMs;
    this.starts.push(startedMs);
    return { startedMs, sinceMs, scrapes };
  }

  #empty({ scrapes }: SourceServer): SourceServer {
    const startedMs = this.#timeline.nowMs;
    this.starts.push(startedMs);
    const sinceMs = startedMs - UNSENT_MS;
    const unsent = [...scrapes].map(([name, one]) => [name, one.since(sinceMs)] as const);
    return { startedMs, sinceMs, scrapes: new Map(unsent) };
  }

  #find(mode: SourceMode['mode']): SourceMode | null {
    for (const { what } of this.faults) if (what.mode === mode) return what;
    return null;
  }

  /** Samples without a query are not kept. */
  #asks({ plan }: Workload, wanted: MetricPlan['kind']): boolean {
    return plan.metrics.some(({ kind, source }) => kind === wanted && source === this.name);
  }

  #scrape(): void {
    if (this.isDown) return;
    const atMs = this.#timeline.nowMs;
    const unscraped = this.#find('unscraped');
    const percent = unscraped?.mode === 'unscraped' ? unscraped.percent : 0;
    for (const workload of this.#workloads) {
      workload.advance();
      for (const server of this.#servers) {
        const scrapes = server.scrapes.get(workload.plan.name);
        scrapes?.forget(atMs);
        if (this.#asks(workload, 'total-rate'))
          scrapes?.add(INGRESS, { atMs, cpuSeconds: 0, requests: workload.ingressRequests });
        if (!this.#asks(workload, 'cpu') && !this.#asks(workload, 'pod-rate')) continue;
        for (const pod of workload.pods.values()) {
          if (pod.phase !== 'Running') continue;
          if (hashText(pod.name) % 100 < percent) continue;
          scrapes?.add(pod.name, { atMs, cpuSeconds: pod.cpuSeconds, requests: pod.requests });
        }
      }
    }
  }
}
