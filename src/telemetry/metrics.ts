import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import { takeTurns } from '../units/clock.js';
import type { Clock } from '../units/clock.js';
import type { Ledger, ScalerStatus } from './ledger.js';
import { SCALER_METRICS, SERVICE_METRICS } from './metric-table.js';
import type { MetricRow } from './metric-table.js';
import { SCALER_SERIES } from './scaler-series.js';
import type { ScalerMetricKey } from './scaler-series.js';

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
  /** The text exposition of the whole registry. */
  readonly render: () => Promise<string>;
  readonly contentType: string;
  readonly observeSync: (seconds: number) => void;
  readonly observeLateness: (seconds: number) => void;
  readonly countMissedRounds: (rounds: number) => void;
  readonly observeQuery: (query: QueryObservation) => void;
  readonly observeKubernetesRequest: (request: KubernetesObservation) => void;
  /** Errors that the documents have now; 0 means that the reading was successful. */
  readonly recordReload: (errors: number) => void;
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
  if (options.process) collectDefaultMetrics({ register: registry });
  return registry;
}

/** Puts all rows of the table into `registry`, which must hold none of them. */
export function createMetrics(registry: Registry, options: MetricsOptions): Metrics {
  for (const key of Object.keys(SCALER_METRICS)) {
    if (isScalerMetric(key)) registerScalerMetric(registry, key, options.ledger);
  }
  const service = createServiceMetrics(registry);
  startAtZero(service, options);
  return {
    render: () => render(registry, options.clock),
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
 * The page metric by metric: with 10,000 scalers (180,000 lines) it takes about a second, in which rounds and probes
 * must not stand still.
 */
async function render(registry: Registry, clock: Clock): Promise<string> {
  const texts: string[] = [];
  const nextTurn = takeTurns(clock);
  for (const { name } of registry.getMetricsAsArray()) {
    texts.push(await registry.getSingleMetricAsString(name));
    await nextTurn();
  }
  return `${texts.join('\n\n')}\n`;
}

type ServiceMetrics = ReturnType<typeof createServiceMetrics>;

function createServiceMetrics(registry: Registry) {
  const { buildInfo, leader, lastReloadSuccessful, problems, sourceClock, ...rest } = SERVICE_METRICS;
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

function isScalerMetric(key: string): key is ScalerMetricKey {
  return Object.hasOwn(SCALER_SERIES, key);
}

type Values = MetricObjectWithValues<MetricValue<string>>;

/**
 * Registers a metric that holds no series of its own but reads them from the ledger when it is rendered: recording a
 * cycle costs nothing here, and the series of a removed scaler or of a limit that let go cannot linger. (prom-client's
 * own way, set() and remove(), hashes every label set: 1,000 scalers with 25 series each would cost that every round.)
 */
function registerScalerMetric(registry: Registry, key: ScalerMetricKey, ledger: Ledger): void {
  const row: MetricRow = SCALER_METRICS[key];
  const read = (): Values['values'] => readSeries(key, ledger);
  const config = configOf(row, registry);
  if (row.type === 'counter') {
    new (class extends Counter {
      override get = async (): Promise<Values> => ({
        ...(await Counter.prototype.get.call(this)),
        values: read(),
      });
    })(config);
  } else {
    new (class extends Gauge {
      override get = async (): Promise<Values> => ({
        ...(await Gauge.prototype.get.call(this)),
        values: read(),
      });
    })(config);
  }
}

function readSeries(key: ScalerMetricKey, ledger: Ledger): Values['values'] {
  const seriesOf = SCALER_SERIES[key];
  const values: Values['values'] = [];
  for (const status of ledger.list()) {
    const owner = ownerLabels(status);
    for (const { labels, value } of seriesOf(status)) values.push({ labels: { ...owner, ...labels }, value });
  }
  return values;
}

function ownerLabels(status: ScalerStatus): { readonly namespace: string; readonly scaler: string } {
  return { namespace: status.scaler.namespace, scaler: status.scaler.name };
}
