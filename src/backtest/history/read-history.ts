import { BacktestError } from '../compare/variant.js';
import { cpuCapacity, type History, type MetricHistory, metricHistory, sumOf } from './history-models.js';
import {
  type Column,
  columnOf,
  describeGaps,
  divideColumns,
  fillZero,
  loadOfColumn,
  meanOf,
  medianOf,
  recordedRun,
} from './columns.js';
import {
  perContainerQuery,
  podCountQuery,
  podStartQueries,
  countQuery,
  replicasQueries,
  sumQuery,
  totalQuery,
  historyQuery,
} from './history-queries.js';
import type { Load } from '../simulation/load.js';
import type { CountStep } from '../simulation/count-steps.js';
import type { Run } from '../simulation/run-variant.js';
import { CONTAINER } from '../simulation/samples.js';
import { resourceWindowSeconds } from '../../prometheus/data-source/resource-queries.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import { ceilingQuery } from '../../prometheus/queries/compile-queries.js';
import type { TotalLoad } from '../../prometheus/queries/total-load.js';
import { largestWrittenRangeSeconds } from '../../promql/ranges.js';
import { isCpu, isMemory, isOfResource, isOfTotal, type MetricSpec, type Scaler } from '../../scaler/spec.js';
import { addSeconds, instantFromMs } from '../../units/time.js';
import { type Fetching, fetchSeries, type Range } from './fetch-series.js';

/** What is recorded about the workload of the first document. */
export interface RecordedHistory {
  readonly history: History;
  /** The metric from which the needed pods are computed, its data source, and its history. */
  readonly loadMetric: MetricSpec;
  readonly source: SourceConfig;
  readonly load: MetricHistory;
  /** The recorded replicas; null: neither kube-state-metrics nor promscaler has recorded any. */
  readonly ran: Run | null;
  readonly podStartSeconds: number | null;
  /** CPU request of a pod in cores; null: unknown. */
  readonly cpuRequest: number | null;
  readonly cpuLimit: number | null;
  readonly warnings: readonly string[];
}

interface HistorySettings {
  readonly range: Range;
  /** The cores per pod of `--request`; null: the request is read from the history. */
  readonly request: number | null;
  /** The value of `--capacity`; null: the capacity is derived from the CPU limit or request. */
  readonly capacity: number | null;
  readonly usageAtCapacityPercent: number;
  readonly sources: ReadonlyMap<string, Fetching>;
}

/** Step for requests and limits, which rarely change. */
const COARSE_STEP_SECONDS = 300;

/**
 * Reads the history of each metric of the documents. Throws `BacktestError` if values are missing for which there is no
 * default.
 */
export async function readHistory(
  scalers: readonly Scaler[],
  settings: HistorySettings,
): Promise<RecordedHistory> {
  const [scaler] = scalers;
  const loadMetric = scaler?.spec.metrics.find(isCpu) ?? scaler?.spec.metrics.find((one) => !isMemory(one));
  if (scaler === undefined || loadMetric === undefined)
    throw new BacktestError('the document has no metric that depends on the load; a back-test needs one');
  const fetching = sourceOf(`metric ${loadMetric.identity}`, loadMetric, settings);
  const facts = await readFacts(scaler, settings, fetching);
  const saturationOf = (metric: MetricSpec): number | null =>
    metric === loadMetric || (isCpu(metric) && isCpu(loadMetric))
      ? (settings.capacity ?? cpuCapacity(metric, { ...facts, ...settings }))
      : cpuCapacity(metric, { ...facts, ...settings });
  const warnings: string[] = [];
  const read = new Map<string, Promise<MetricHistory | null>>();
  for (const each of scalers)
    for (const metric of each.spec.metrics) {
      const key = keyOf(each, metric);
      if (read.has(key)) continue;
      read.set(key, readMetric(each, metric, { settings, facts, saturationOf, warnings }));
    }
  const ceilings = new Map(
    await Promise.all(
      scalers.map(async (each) => [each, await readCeiling(each, { settings, warnings })] as const),
    ),
  );
  const entries = await Promise.all([...read].map(async ([key, history]) => [key, await history] as const));
  const known = new Map(
    entries.flatMap(([key, history]) => (history === null ? [] : [[key, history] as const])),
  );
  const load = known.get(keyOf(scaler, loadMetric));
  if (load === undefined)
    throw new BacktestError(
      `metric ${loadMetric.identity}: no values from the data source between --from and --to. The time may be before the retention of the server, or the query returns nothing. Set a later --from, or check the query with doctor`,
    );
  return {
    ...facts,
    loadMetric,
    source: fetching.source,
    load,
    warnings,
    history: {
      metricOf: (each, metric) => known.get(keyOf(each, metric)) ?? null,
      ceilingOf: (each) => ceilings.get(each) ?? null,
      requests: facts.requests,
      replicas: facts.allReplicas,
      syncPeriodSeconds: scaler.spec.syncPeriodSeconds,
    },
  };
}

interface Facts extends Pick<RecordedHistory, 'ran' | 'podStartSeconds' | 'cpuRequest' | 'cpuLimit'> {
  readonly requests: History['requests'];
  readonly replicas: Column | null;
  /** The recorded replicas since the start of the warm-up. */
  readonly allReplicas: readonly CountStep[];
}

async function readFacts(scaler: Scaler, settings: HistorySettings, fetching: Fetching): Promise<Facts> {
  const { range, request } = settings;
  const seconds = (range.end - range.start) / 1000;
  const wanted = Math.max(range.stepSeconds, Math.min(COARSE_STEP_SECONDS, seconds / 20));
  const coarse = {
    ...range,
    stepSeconds: Math.ceil(wanted / range.stepSeconds) * range.stepSeconds,
    warmUpSeconds: 0,
  };
  const column = (what: string, query: string): Promise<Column> =>
    readColumn(what, plain(query), range, fetching);
  const podStartOf = async (query: string): Promise<number | null> =>
    medianOf(await readColumn('the pod start time', plain(query), coarse, fetching));
  const containers = async (
    which: 'requests' | 'limits',
    resource: string,
  ): Promise<ReadonlyMap<string, number>> => {
    const query = plain(perContainerQuery(which, resource, scaler));
    const series = await fetchSeries(`the ${which}`, query, coarse, fetching);
    const names = new Set(series.map(({ labels }) => labels['container'] ?? ''));
    const means = [...names].flatMap((name): readonly (readonly [string, number])[] => {
      const own = series.filter(({ labels }) => (labels['container'] ?? '') === name);
      const mean = meanOf(columnOf(own, aligned(coarse)));
      return mean === null ? [] : [[name, mean]];
    });
    return new Map(means);
  };
  const needsMemory = scaler.spec.metrics.some(
    (metric) => isMemory(metric) && metric.target.type === 'Utilization',
  );
  const ready = countQuery('ready', scaler);
  const queries = replicasQueries(scaler);
  const [cpu, limits, memory, podStart, readyColumn, ...replicas] = await Promise.all([
    request === null ? containers('requests', 'cpu') : new Map([[CONTAINER, request]]),
    containers('limits', 'cpu'),
    needsMemory ? containers('requests', 'memory') : new Map<string, number>(),
    Promise.all(podStartQueries(scaler).map(podStartOf)),
    ready === null ? null : column('the ready pods', ready),
    ...queries.map(({ query }) => column('the replicas', query)),
  ]);
  const index = replicas.findIndex((one) => describeGaps(one) !== undefined);
  const recorded = replicas[index] ?? null;
  // On average, a change appears half a scrape interval and half a step late.
  const late = (range.stepSeconds + fetching.source.scrapeIntervalSeconds) / 2;
  const lateSeconds = { replicas: late + (queries[index]?.lateSeconds ?? 0), ready: late };
  const hasLimit = cpu.size > 0 && [...cpu.keys()].every((name) => limits.has(name));
  const steps = recorded === null ? null : { replicas: recorded, ready: readyColumn, lateSeconds };
  const begin = addSeconds(range.start, -range.warmUpSeconds);
  return {
    requests: new Map([
      ['cpu', cpu],
      ['memory', memory],
    ]),
    replicas: recorded,
    ran: steps === null ? null : recordedRun(steps, range),
    allReplicas: steps === null ? [] : (recordedRun(steps, { ...range, start: begin })?.replicas ?? []),
    podStartSeconds: podStart.find((seconds) => seconds !== null) ?? null,
    cpuRequest: cpu.size === 0 ? null : sumOf(cpu),
    cpuLimit: hasLimit ? sumOf(limits) : null,
  };
}

async function readMetric(
  scaler: Scaler,
  metric: MetricSpec,
  given: {
    readonly settings: HistorySettings;
    readonly facts: Facts;
    readonly saturationOf: (metric: MetricSpec) => number | null;
    readonly warnings: string[];
  },
): Promise<MetricHistory | null> {
  const { settings, facts, saturationOf, warnings } = given;
  const fetching = sourceOf(`metric ${metric.identity}`, metric, settings);
  const { query, warning } = await historyQuery(metric, scaler, { range: settings.range, fetching });
  if (warning !== null) warnings.push(warning);
  const what = `metric ${metric.identity}`;
  const { range } = settings;
  const total = await readColumn(what, totalQuery(metric, scaler, query), range, fetching);
  const column = isMemory(metric)
    ? divideColumns(total, await readColumn(what, podCountQuery(scaler, query), range, fetching))
    : isZeroIfMissing(metric)
      ? fillZero(total, facts.replicas)
      : total;
  const gaps = describeGaps(withoutWarmUp(column, range));
  if (gaps === undefined) return null;
  if (gaps !== null) warnings.push(`${what}: ${gaps}`);
  const windowSeconds = isOfResource(metric)
    ? resourceWindowSeconds(fetching.source, metric.name)
    : largestWrittenRangeSeconds(query);
  const { scrapeIntervalSeconds } = fetching.source;
  const saturation = saturationOf(metric);
  return metricHistory(metric, column, { query, windowSeconds, scrapeIntervalSeconds, saturation });
}

/** Reads the values that the query of `maxReplicasFrom` had. */
async function readCeiling(
  scaler: Scaler,
  { settings, warnings }: { readonly settings: HistorySettings; readonly warnings: string[] },
): Promise<Load | null> {
  const { maxReplicasFrom } = scaler.spec;
  if (maxReplicasFrom === null) return null;
  const query = sumQuery(ceilingQuery(maxReplicasFrom, scaler));
  const fetching = sourceOf('maxReplicasFrom', maxReplicasFrom, settings);
  const column = await readColumn('maxReplicasFrom', query, settings.range, fetching);
  if (describeGaps(column) !== undefined) return loadOfColumn(column, 0);
  warnings.push('maxReplicasFrom has no values from the data source, so only maxReplicas applies');
  return null;
}

function sourceOf(
  what: string,
  { source }: { readonly source: string },
  { sources }: HistorySettings,
): Fetching {
  const fetching = sources.get(source);
  if (fetching === undefined)
    throw new BacktestError(`${what}: there is no data source ${source}; set --config`);
  return fetching;
}

function plain(query: string): TotalLoad {
  return { query, labels: {}, selector: [] };
}

function isZeroIfMissing(metric: MetricSpec): boolean {
  return isOfTotal(metric) && metric.onMissing === 'zero';
}

function keyOf(scaler: Scaler, metric: MetricSpec): string {
  const { namespace, spec } = scaler;
  const query = 'query' in metric ? [metric.query, metric.selector] : [];
  const container = metric.type === 'ContainerResource' ? metric.container : '';
  const object = metric.type === 'Object' ? metric.describedObject?.name : '';
  return JSON.stringify([
    namespace,
    spec.scaleTargetRef,
    metric.type,
    metric.source,
    metric.name,
    container,
    object,
    query,
  ]);
}

/**
 * Reads the sum of the series of a query. The warm-up is a separate query, so that documents with different warm-ups
 * use the same cached or saved answers for the range itself. Throws the errors of `fetchSeries`.
 */
async function readColumn(what: string, query: TotalLoad, range: Range, fetching: Fetching): Promise<Column> {
  const { start, end, stepSeconds } = aligned(range);
  const begin = addSeconds(start, -range.warmUpSeconds);
  const before = { ...range, start: begin, end: addSeconds(start, -stepSeconds) };
  const [warmUp, rest] = await Promise.all([
    range.warmUpSeconds === 0 ? [] : fetchSeries(what, query, before, fetching),
    fetchSeries(what, query, range, fetching),
  ]);
  return columnOf([...warmUp, ...rest], { start: begin, end, stepSeconds });
}

/** Returns the part of a column that is scored. */
function withoutWarmUp({ start, stepSeconds, values }: Column, { warmUpSeconds }: Range): Column {
  const steps = warmUpSeconds / stepSeconds;
  return { start: addSeconds(start, warmUpSeconds), stepSeconds, values: values.subarray(steps) };
}

/** Moves the start to a multiple of the step, because the points of a chunk are such multiples: see `chunksOf`. */
function aligned({ start, end, stepSeconds }: Range): Omit<Range, 'warmUpSeconds'> {
  const stepMs = stepSeconds * 1000;
  return { start: instantFromMs(Math.ceil(start / stepMs) * stepMs), end, stepSeconds };
}
