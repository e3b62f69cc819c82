import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { type Clock, periodicYield } from '../units/clock.js';
import { FAILURE_REASONS, type QueryReport } from '../units/failure.js';
import type { Ledger } from './ledger.js';
import { type MetricRow, type MetricsDetail, SERVICE_METRICS } from './metric-table.js';
import type { EndedRequest } from './outages.js';
import { type InvalidScaler, writeScalerMetrics } from './scaler-series.js';

export interface Metrics {
  /**
   * Returns the page in the text format, in parts: first the series of scalers, then the metrics of the registry.
   * Rejects when `signal` is aborted.
   */
  readonly render: (signal?: AbortSignal) => Promise<readonly Buffer[]>;
  readonly contentType: string;
  readonly observeSync: (seconds: number) => void;
  readonly observeLateness: (seconds: number) => void;
  readonly countInternalError: () => void;
  readonly countMissedRounds: (rounds: number) => void;
  readonly observeQuery: (query: QueryReport) => void;
  /**
   * Adds to the counters of series in responses of a source. `known`: the labels of these series were parsed in an
   * earlier response; `read`: they were parsed in this response.
   */
  readonly countSeries: (source: string, series: { readonly known: number; readonly read: number }) => void;
  readonly countOverLimitQuery: (source: string, namespace: string) => void;
  /** Counts a range query for a chart or a forecast. `reason`: why it failed; null: it succeeded. */
  readonly countHistoryQuery: (source: string, reason: string | null) => void;
  /** `seconds`: how long the request took; null: it was a watch. */
  readonly observeKubernetesRequest: (request: EndedRequest & { readonly seconds: number | null }) => void;
  /** Records a reload. `errors`: the number of errors in the documents; 0: the reload was successful. */
  readonly recordReload: (errors: number) => void;
  /** Sets how many copies the most duplicated series of a source has. */
  readonly setDuplicates: (source: string, times: number) => void;
  readonly setLeader: (isLeader: boolean) => void;
  readonly countRecorded: (decisions: number) => void;
  readonly countRecordDropped: (decisions: number) => void;
  readonly countRecordError: () => void;
  readonly countNotifications: (
    receiver: string,
    result: 'sent' | 'failed' | 'dropped',
    notifications: number,
  ) => void;
}

interface MetricsOptions {
  /** The ledger, which is read at each scrape for the series of scalers. */
  readonly ledger: Ledger;
  /**
   * Returns the scalers of this replica that have no entry in the ledger, because no version is valid. Default: none.
   */
  readonly invalid?: () => Iterable<InvalidScaler>;
  /** Which series of scalers are exposed. Default: full. */
  readonly detail?: MetricsDetail;
  readonly version: string;
  /** While a long page is written, this clock determines when to yield to the event loop. */
  readonly clock: Clock;
  /** The names of data sources, whose counters start at zero. */
  readonly sources: readonly string[];
  /** The names of the receivers of notifications, whose counters start at zero. Default: none. */
  readonly receivers?: readonly string[];
}

/**
 * Creates a registry. `process`: whether it has metrics of the Node.js process (event loop, heap, file descriptors).
 */
export function createRegistry(options: { readonly process: boolean }): Registry {
  const registry = new Registry();
  if (options.process) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_RESOLUTION_MS });
    for (const name of MISNAMED_GAUGES) registry.removeSingleMetric(name);
  }
  return registry;
}

/**
 * Interval at which the lag of the event loop is sampled. Each sample wakes the process. In 15 s, the samples take 3 ms
 * of CPU time at 500 ms, 14 ms at 100 ms, and 140 ms at the default of 10 ms; a round with 1,000 scalers takes 100 ms.
 * All metrics of the lag include the interval: they are about 0.5 s in an idle process, and most shorter blocks are not
 * seen.
 */
const LAG_RESOLUTION_MS = 500;

/** Gauges of prom-client with the suffix `_total`, which promtool rejects. promscaler removes them. */
const MISNAMED_GAUGES = [
  'nodejs_active_resources_total',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
] as const;

/** Registers the metrics of the service in `registry`. Metrics of scalers are not in the registry. */
export function createMetrics(registry: Registry, options: MetricsOptions): Metrics {
  const service = createServiceMetrics(registry);
  startAtZero(service, options);
  return {
    render: (signal) => render(registry, options, signal),
    contentType: registry.contentType,
    observeSync: (seconds) => service.syncDuration.observe(seconds),
    observeLateness: (seconds) => service.syncLateness.observe(seconds),
    countInternalError: () => service.internalErrors.inc(),
    countMissedRounds: (rounds) => service.missedRounds.inc(rounds),
    observeQuery: ({ source, seconds, failure, clockAheadSeconds }) => {
      service.queries.inc({ source });
      service.queryDuration.observe({ source }, seconds);
      if (failure !== null) service.queryErrors.inc({ source, reason: failure.reason });
      if (clockAheadSeconds !== null) service.sourceClock.set({ source }, clockAheadSeconds);
    },
    countSeries: (source, { known, read }) => {
      service.answerSeries.inc({ source, labels: 'known' }, known);
      service.answerSeries.inc({ source, labels: 'read' }, read);
    },
    countOverLimitQuery: (source, namespace) => service.overLimitQueries.inc({ source, namespace }),
    countHistoryQuery: (source, reason) => {
      service.historyQueries.inc({ source });
      if (reason !== null) service.historyQueryErrors.inc({ source, reason });
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
    countRecorded: (decisions) => service.recorded.inc(decisions),
    countRecordDropped: (decisions) => service.recordDropped.inc(decisions),
    countRecordError: () => service.recordErrors.inc(),
    countNotifications: (receiver, result, count) => service[NOTIFICATIONS[result]].inc({ receiver }, count),
  };
}

/**
 * Minimum size of a part of the page. The page of 10,000 scalers has 16 MB: joining or sending all parts at once would
 * block the event loop.
 */
const PART_BYTES = 256 * 1024;

/** Writes the page in parts, because the more than 100,000 lines of 10,000 scalers must not block rounds and probes. */
async function render(
  registry: Registry,
  { ledger, clock, detail = 'full', invalid = () => [] }: MetricsOptions,
  signal: AbortSignal | undefined,
): Promise<readonly Buffer[]> {
  const parts: Buffer[] = [];
  let pieces: Buffer[] = [];
  let bytes = 0;
  const endPart = (): void => {
    parts.push(Buffer.concat(pieces, bytes));
    [pieces, bytes] = [[], 0];
  };
  const add = (text: string): void => {
    const piece = Buffer.from(text);
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= PART_BYTES) endPart();
  };
  const yieldIfDue = periodicYield(clock);
  const yieldUnlessEnded = async (): Promise<void> => {
    await yieldIfDue();
    signal?.throwIfAborted();
  };
  for (const piece of writeScalerMetrics(ledger, detail, invalid())) {
    add(piece);
    await yieldUnlessEnded();
  }
  let isFirst = true;
  for (const { name } of registry.getMetricsAsArray()) {
    const text = await registry.getSingleMetricAsString(name);
    add(`${isFirst ? '' : '\n'}${text}\n`);
    isFirst = false;
    await yieldUnlessEnded();
  }
  endPart();
  return parts;
}

type Rows = typeof SERVICE_METRICS;

type ServiceMetrics = {
  readonly [K in keyof Rows]: { counter: Counter; gauge: Gauge; histogram: Histogram }[Rows[K]['type']];
};

/** The cast is safe, because the type in the table determines the class of a metric. */
function createServiceMetrics(registry: Registry): ServiceMetrics {
  const rows = Object.entries<MetricRow>(SERVICE_METRICS);
  return Object.fromEntries(rows.map(([key, row]) => [key, createMetric(row, registry)])) as ServiceMetrics;
}

function createMetric(row: MetricRow, registry: Registry): Counter | Gauge | Histogram {
  const config = { name: row.name, help: row.help, labelNames: [...row.labels], registers: [registry] };
  if (row.type === 'counter') return new Counter(config);
  if (row.type === 'gauge') return new Gauge(config);
  return new Histogram({ ...config, buckets: [...(row.buckets ?? [])] });
}

const NOTIFICATIONS = {
  sent: 'notificationsSent',
  failed: 'notificationsFailed',
  dropped: 'notificationsDropped',
} as const;

function startAtZero(service: ServiceMetrics, options: MetricsOptions): void {
  service.buildInfo.set({ version: options.version }, 1);
  for (const source of options.sources) {
    service.queries.inc({ source }, 0);
    service.queryDuration.zero({ source });
    for (const reason of FAILURE_REASONS) service.queryErrors.inc({ source, reason }, 0);
    for (const labels of ['known', 'read']) service.answerSeries.inc({ source, labels }, 0);
    service.historyQueries.inc({ source }, 0);
    for (const reason of FAILURE_REASONS) service.historyQueryErrors.inc({ source, reason }, 0);
  }
  for (const receiver of options.receivers ?? [])
    for (const key of Object.values(NOTIFICATIONS)) service[key].inc({ receiver }, 0);
}
