import type { Fault, SourceMode } from './faults.js';
import type { Random } from './random.js';
import { hashText } from './random.js';
import { SCRAPE_SECONDS, type MetricPlan } from './scenario.js';
import { EXPORTER, type Scrape, Scrapes } from './scrapes.js';
import type { Timeline } from './timeline.js';
import type { Workload } from './workload.js';

/** Longer than the longest range of any query. */
const ROUNDS_KEPT = 64;

/** Two scrapes, which a scraper resends until they are accepted. */
const UNSENT_MS = 2 * SCRAPE_SECONDS * 1000 + 1000;

type SourceFault = Extract<Fault, { readonly kind: 'source' }>;

/** One Prometheus: its start time, and its scrapes since then. */
export interface SourceServer {
  readonly startedMs: number;
  /** The start of its data. */
  readonly sinceMs: number;
  /** The times of its scrapes. */
  readonly roundsMs: number[];
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

  /** The offset of the clocks of its servers. */
  get skewSeconds(): number {
    const skewed = this.#find('skewed');
    return skewed?.mode === 'skewed' ? skewed.seconds : 0;
  }

  /** Neither reachable nor scraping. */
  get isDown(): boolean {
    return this.has('down') || this.has('wiped') || this.has('restarted');
  }

  #create(startedMs: number): SourceServer {
    this.starts.push(startedMs);
    const roundsMs: number[] = [];
    const scrapes = new Map(
      this.#workloads.map(({ plan: { name } }) => {
        const visibleUntil = (target: string): number => this.#visibleUntil(identityOf(name, target));
        return [name, new Scrapes(roundsMs, visibleUntil)];
      }),
    );
    return { startedMs, sinceMs: startedMs, roundsMs, scrapes };
  }

  #restart(server: SourceServer): SourceServer {
    const startedMs = this.#timeline.nowMs;
    this.starts.push(startedMs);
    return { ...server, startedMs };
  }

  #empty({ scrapes, ...server }: SourceServer): SourceServer {
    const startedMs = this.#timeline.nowMs;
    this.starts.push(startedMs);
    const sinceMs = startedMs - UNSENT_MS;
    const roundsMs = server.roundsMs.filter((ms) => ms > sinceMs);
    const unsent = [...scrapes].map(([name, one]) => [name, one.since(sinceMs, roundsMs)] as const);
    return { startedMs, sinceMs, roundsMs, scrapes: new Map(unsent) };
  }

  /** Samples that were received late are complete as soon as the fault ends. */
  #visibleUntil(identity: string): number {
    let untilMs = Number.POSITIVE_INFINITY;
    for (const { what, startMs } of this.faults)
      if (what.mode === 'lagging' && isAmong(identity, what.percent))
        untilMs = Math.min(untilMs, Math.max(startMs, this.#timeline.nowMs - what.seconds * 1000));
    return untilMs;
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
    for (const server of this.#servers) if (server.roundsMs.push(atMs) > ROUNDS_KEPT) server.roundsMs.shift();
    for (const workload of this.#workloads) {
      workload.advance();
      const targets = this.#targetsOf(workload, atMs);
      for (const server of this.#servers) {
        const scrapes = server.scrapes.get(workload.plan.name);
        scrapes?.forget(atMs);
        for (const [target, scrape] of targets)
          if (isAmong(identityOf(workload.plan.name, target), percent)) scrapes?.addFailure(target, atMs);
          else scrapes?.add(target, scrape);
      }
    }
  }

  #targetsOf(workload: Workload, atMs: number): ReadonlyMap<string, Scrape> {
    const targets = new Map<string, Scrape>();
    if (this.#asks(workload, 'total-rate'))
      targets.set(EXPORTER, { atMs, cpuSeconds: 0, requests: workload.ingressRequests });
    if (this.#asks(workload, 'gauge'))
      targets.set(EXPORTER, { atMs, cpuSeconds: 0, requests: workload.messages() });
    if (!this.#asks(workload, 'cpu') && !this.#asks(workload, 'pod-rate')) return targets;
    for (const { name, phase, cpuSeconds, requests } of workload.pods.values())
      if (phase === 'Running') targets.set(name, { atMs, cpuSeconds, requests });
    return targets;
  }
}

/** Returns the name that selects whether a target is one of a percentage of them. */
function identityOf(workload: string, target: string): string {
  return target === EXPORTER ? workload : target;
}

/** Returns whether something with this name is among a percentage. */
export function isAmong(identity: string, percent: number): boolean {
  return hashText(identity) % 100 < percent;
}
