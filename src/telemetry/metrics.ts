import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { takeTurns } from '../units/clock.js';
import type { Clock } from '../units/clock.js';
import type { Ledger } from './ledger.js';
import { SERVICE_METRICS } from './metric-table.js';
import type { MetricRow } from './metric-table.js';
import { writeScalerMetrics } from './scaler-exposition.js';

/** One query to a data source that came to an end. `reason`: why it failed, of a closed set; null: it did not. */
export interface QueryObservation {
  readonly source: string;
  readonly seconds: number;
  readonly reason: string | null;
  /** Of the source's clock before ours; null: nothing came that tells. */
  readonly clockAheadSeconds: number | null;
}

/** One request to the API server that came to an end. `code`: the HTTP status, or the kind of failure. */
export interface KubernetesObservation {
  readonly verb: string;
  readonly resource: string;
  readonly code: string;
  /** Null for a watch: how long one lives says nothing. */
  readonly seconds: number | null;
}

/** What the rest of the service tells `/metrics`. */
export interface Metrics {
  /** The text exposition: rows of the scalers, then the registry. Rejects once `signal` is aborted. */
  readonly render: (signal?: AbortSignal) => Promise<string>;
  readonly contentType: string;
  readonly observeSync: (seconds: number) => void;
  readonly observeLateness: (seconds: number) => void;
  readonly countMissedRounds: (rounds: number) => void;
  readonly observeQuery: (query: QueryObservation) => void;
  readonly observeKubernetesRequest: (request: KubernetesObservation) => void;
  /** Errors that the documents have now; 0 means that the reading was successful. */
  readonly recordReload: (errors: number) => void;
  /** How often the series of a source is there that is there most often. */
  readonly setDuplicates: (source: string, times: number) => void;
  readonly setLeader: (isLeader: boolean) => void;
}

export interface MetricsOptions {
  /** Where the scalers' rows are read from, whenever somebody asks. */
  readonly ledger: Ledger;
  readonly version: string;
  /** Lets others have a turn while a long page is written. */
  readonly clock: Clock;
  /** Names of the data sources, and why a query can fail: their counters exist at zero. */
  readonly sources: readonly string[];
  readonly failureReasons: readonly string[];
}

/** A registry, with the figures of this Node process (event loop, heap, file descriptors) where asked for. */
export function createRegistry(options: { readonly process: boolean }): Registry {
  const registry = new Registry();
  if (options.process) {
    collectDefaultMetrics({ register: registry });
    for (const name of MISNAMED_GAUGES) registry.removeSingleMetric(name);
  }
  return registry;
}

/** Gauges of prom-client that end in `_total`, which is for counters: promtool refuses a page that has them. */
const MISNAMED_GAUGES = [
  'nodejs_active_resources_total',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
] as const;

/** Puts the rows of the service into `registry`, which must hold none of them; those of the scalers need no registry. */
export function createMetrics(registry: Registry, options: MetricsOptions): Metrics {
  const service = createServiceMetrics(registry);
  startAtZero(service, options);
  return {
    render: (signal) => render(registry, options, signal),
    contentType: registry.contentType,
    observeSync: (seconds) => service.syncDuration.observe(seconds),
    observeLateness: (seconds) => service.syncLateness.observe(seconds),
    countMissedRounds: (rounds) => service.missedRounds.inc(rounds),
    observeQuery: ({ source, seconds, reason, clockAheadSeconds }) => {
      service.queries.inc({ source });
      service.queryDuration.observe({ source }, seconds);
      if (reason !== null) service.queryErrors.inc({ source, reason });
      if (clockAheadSeconds !== null) service.sourceClock.set({ source }, clockAheadSeconds);
    },
    setDuplicates: (source, times) => service.sourceDuplicates.set({ source }, times),
    observeKubernetesRequest: ({ verb, resource, code, seconds }) => {
      service.kubernetesRequests.inc({ verb, resource, code });
      if (seconds !== null) service.kubernetesDuration.observe({ verb, resource, code }, seconds);
    },
    recordReload: (errors) => {
      service.reloads.inc();
      service.lastReloadSuccessful.set(errors === 0 ? 1 : 0);
      service.problems.set(errors);
    },
    setLeader: (isLeader) => service.leader.set(Number(isLeader)),
  };
}

/**
 * The page in pieces: with 10,000 scalers (180,000 lines) it takes a while, in which rounds and probes must not stand
 * still.
 */
async function render(
  registry: Registry,
  { ledger, clock }: MetricsOptions,
  signal: AbortSignal | undefined,
): Promise<string> {
  const texts: string[] = [];
  const takeTurn = takeTurns(clock);
  const nextTurn = async (): Promise<void> => {
    await takeTurn();
    signal?.throwIfAborted();
  };
  for (const piece of writeScalerMetrics(ledger)) {
    texts.push(piece);
    await nextTurn();
  }
  for (const { name } of registry.getMetricsAsArray()) {
    texts.push(await registry.getSingleMetricAsString(name), '\n\n');
    await nextTurn();
  }
  return `${texts.join('').trimEnd()}\n`;
}

type ServiceMetrics = ReturnType<typeof createServiceMetrics>;

function createServiceMetrics(registry: Registry) {
  const { buildInfo, leader, lastReloadSuccessful, problems, sourceClock, sourceDuplicates, ...rest } =
    SERVICE_METRICS;
  const counter = (row: MetricRow): Counter => new Counter(configOf(row, registry));
  const gauge = (row: MetricRow): Gauge => new Gauge(configOf(row, registry));
  const histogram = (row: MetricRow): Histogram =>
    new Histogram({ ...configOf(row, registry), buckets: [...(row.buckets ?? [])] });
  return {
    syncDuration: histogram(rest.syncDuration),
    syncLateness: histogram(rest.syncLateness),
    missedRounds: counter(rest.missedRounds),
    queries: counter(rest.queries),
    queryDuration: histogram(rest.queryDuration),
    queryErrors: counter(rest.queryErrors),
    sourceClock: gauge(sourceClock),
    sourceDuplicates: gauge(sourceDuplicates),
    kubernetesRequests: counter(rest.kubernetesRequests),
    kubernetesDuration: histogram(rest.kubernetesDuration),
    reloads: counter(rest.reloads),
    lastReloadSuccessful: gauge(lastReloadSuccessful),
    problems: gauge(problems),
    leader: gauge(leader),
    buildInfo: gauge(buildInfo),
  };
}

function startAtZero(service: ServiceMetrics, options: MetricsOptions): void {
  service.buildInfo.set({ version: options.version }, 1);
  for (const source of options.sources) {
    service.queries.inc({ source }, 0);
    service.queryDuration.zero({ source });
    for (const reason of options.failureReasons) service.queryErrors.inc({ source, reason }, 0);
  }
}

function configOf(
  row: MetricRow,
  registry: Registry,
): { name: string; help: string; labelNames: string[]; registers: Registry[] } {
  return { name: row.name, help: row.help, labelNames: [...row.labels], registers: [registry] };
}
