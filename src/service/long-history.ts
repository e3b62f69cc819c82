import { quoteRegex, stringLiteral } from '../promql/quoting.js';
import type { Failure } from '../units/failure.js';
import type { RangeAnswer, RangeSeries } from '../prometheus/answers/classify.js';
import type { RangeClient, RangeQuery } from '../prometheus/client/range-client.js';
import type { SourceConfig } from '../prometheus/data-source/source-config.js';
import { type Scaler, scalerKey } from '../scaler/spec.js';
import type { LongAnswer, LongHistory, LongRange } from '../server/pages/long-history.js';
import { SLICE_MS } from '../server/pacing/paced.js';
import { COUNT_COLUMNS, type ScalerPoints } from '../telemetry/chart-points.js';
import { SCALER_METRICS } from '../telemetry/metric-table.js';
import type { Point } from '../telemetry/point-ring.js';
import { type Clock, periodicYield, withDeadline } from '../units/clock.js';
import { createSemaphore } from '../units/semaphore.js';
import { addSeconds, formatInstant, type Instant, instantFromMs, secondsBetween } from '../units/time.js';

interface LongHistoryOptions {
  /** The data source from which histories are read; null: the service has no data source `default`. */
  readonly source: SourceConfig | null;
  /** Creates the client. It is called once, for the first request. */
  readonly createClient: (source: SourceConfig) => RangeClient;
  /** Returns all documents in effect, including those of other replicas. */
  readonly scalers: () => readonly Scaler[];
  readonly clock: Clock;
  /** Called after each query. `reason`: why the query failed; null: it succeeded. */
  readonly onQuery?: (reason: string | null) => void;
}

/** Deadline of a request, including the wait for earlier requests. */
const DEADLINE_MS = 10_000;
const MOST_WAITING = 16;
/** Largest response. 100 metrics with 1,000 points take 3 MB. */
const MOST_BYTES = 8 * 1024 * 1024;

const MOST_CACHED = 16;
const CACHED_MS = 30_000;
const CACHED_FAILURE_MS = 5000;

interface CachedAnswer {
  readonly answer: Promise<LongAnswer>;
  untilMs: number;
}

/**
 * Creates the reader of histories. It reads them one after the other and over its own connections, so that a round
 * never waits for a chart. Equal requests share an answer for 30 s, and a failure for 5 s.
 */
export function openLongHistory(options: LongHistoryOptions): LongHistory {
  const { clock, scalers, onQuery = () => undefined } = options;
  const client = once(() => createClient(options));
  const reads = createSemaphore(1);
  const cached = new Map<string, CachedAnswer>();
  let waiting = 0;

  const read = async (scaler: Scaler, range: LongRange): Promise<LongAnswer> => {
    waiting += 1;
    try {
      return await withDeadline(clock, { ms: DEADLINE_MS }, async (signal) => {
        // The wait needs no deadline: each earlier request ends at its own deadline, which is before the deadline of
        // this request.
        const release = await reads.acquire();
        try {
          return signal.aborted ? LATE : await ask(client(), { scaler, range, signal, onQuery, clock });
        } finally {
          release();
        }
      });
    } catch (error) {
      return { why: `reading the history failed: ${error instanceof Error ? error.message : 'unknown'}` };
    } finally {
      waiting -= 1;
    }
  };

  return {
    find: (key) => scalers().find((scaler) => scalerKey(scaler) === key) ?? null,
    read: (scaler, range) => {
      const nowMs = clock.monotonicMs();
      for (const [key, { untilMs }] of cached) if (untilMs <= nowMs) cached.delete(key);
      const key = keyOf(scaler, range);
      const known = cached.get(key);
      if (known !== undefined) return known.answer;
      if (waiting >= MOST_WAITING) return Promise.resolve(BUSY);
      const entry: CachedAnswer = { answer: read(scaler, range), untilMs: Infinity };
      void entry.answer.then((answer) => {
        entry.untilMs = clock.monotonicMs() + ('why' in answer ? CACHED_FAILURE_MS : CACHED_MS);
      });
      cached.set(key, entry);
      const [oldest] = cached.keys();
      if (cached.size > MOST_CACHED && oldest !== undefined) cached.delete(oldest);
      return entry.answer;
    },
  };
}

const LATE: LongAnswer = { why: 'the data source `default` did not answer within 10 s: retry later' };
const BUSY: LongAnswer = { why: 'too many histories are being read from Prometheus: retry later' };
const NO_SOURCE: LongAnswer = {
  why: 'histories are read from the data source `default`: add this data source to the service config',
};

function createClient({ source, createClient }: LongHistoryOptions): RangeClient | null {
  if (source === null) return null;
  return createClient({ ...source, maxConcurrentQueries: 1, maxAnswerBytes: MOST_BYTES });
}

interface Question {
  readonly scaler: Scaler;
  readonly range: LongRange;
  readonly signal: AbortSignal;
  readonly onQuery: (reason: string | null) => void;
  readonly clock: Clock;
}

/** Limits the metrics in a query: a response with 1,000 points for each metric is parsed in about 10 ms. */
const METRICS_PER_QUERY = 20;

/** Returns the metrics of each query; null: one query for all. */
function batchesOf({ spec: { metrics } }: Scaler): readonly (readonly string[] | null)[] {
  const names = [...new Set(metrics.map(({ identity }) => identity))];
  if (names.length <= METRICS_PER_QUERY) return [null];
  return Array.from({ length: Math.ceil(names.length / METRICS_PER_QUERY) }, (_, batch) =>
    names.slice(batch * METRICS_PER_QUERY, (batch + 1) * METRICS_PER_QUERY),
  );
}

async function ask(
  client: RangeClient | null,
  { scaler, range, signal, onQuery, clock }: Question,
): Promise<LongAnswer> {
  if (client === null) return NO_SOURCE;
  const send = async (query: RangeQuery): Promise<RangeAnswer> => {
    const answer = await client.queryRange(query, { timeoutMs: DEADLINE_MS, signal });
    onQuery(answer.class === 'failed' ? answer.reason : null);
    return answer;
  };
  const { counts: countsQuery } = historyQueries(scaler, range.stepSeconds);
  const counts = await send({ query: countsQuery, ...range });
  if (counts.class === 'failed') return failureOf(counts, signal);
  const values: RangeSeries[] = [];
  const targets: RangeSeries[] = [];
  for (const metrics of batchesOf(scaler)) {
    const queries = historyQueries(scaler, range.stepSeconds, metrics);
    for (const [query, found] of [[queries.values, values] as const, [queries.targets, targets] as const]) {
      const answer = await send({ query, ...range });
      if (answer.class === 'failed') return failureOf(answer, signal);
      found.push(...answer.series);
    }
  }
  const series = { counts: counts.series, values, targets };
  const clusters = clustersOf(Object.values(series).flat());
  if (clusters.length > 1) return severalClusters(scaler, clusters);
  const points = await buildPoints(scaler, range, series, periodicYield(clock, SLICE_MS));
  if (points.points.length > 0) return { points };
  const young = await send(youngQuery(scaler, range, clock.now()));
  if (young.class === 'failed') return failureOf(young, signal);
  return { why: explainEmptiness(scaler, range, young.series) };
}

function failureOf({ message }: Failure, signal: AbortSignal): LongAnswer {
  return signal.aborted ? LATE : { why: `the data source \`default\` failed: ${message}` };
}

/**
 * Returns the error if series are from several clusters, because another cluster may have another workload with the
 * same name.
 */
function severalClusters(scaler: Scaler, clusters: readonly string[]): LongAnswer {
  const names = clusters.slice(0, MOST_NAMED).join(', ');
  return {
    why: `the data source \`default\` has series of ${scalerKey(scaler)} from several clusters (${names}): set its URL to a Prometheus that has only series of this cluster`,
  };
}

const MOST_NAMED = 5;

/**
 * Returns the distinct values of the label `cluster`. Series without the label are ignored, because the label may have
 * been added later.
 */
function clustersOf(series: readonly RangeSeries[]): readonly string[] {
  const clusters = new Set(series.map(({ labels }) => labels['cluster'] ?? ''));
  clusters.delete('');
  return [...clusters].sort();
}

/** Returns the key of a request. It contains the metrics, because a changed document needs another query. */
function keyOf(scaler: Scaler, { start, end, stepSeconds }: LongRange): string {
  const metrics = scaler.spec.metrics.map(({ type, identity, target }) => [type, identity, target.type]);
  return JSON.stringify([scalerKey(scaler), start, end, stepSeconds, metrics]);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** PromQL queries for the columns of a scaler. If the series have a label `cluster`, the results have it, too. */
interface HistoryQueries {
  /** Query that returns one series for each column; its label `column` names it. */
  readonly counts: string;
  /** Query that returns one series for each metric, with the labels `metric` and `type`. */
  readonly values: string;
  readonly targets: string;
}

/** Shortest window of a query. It contains several samples at a scrape interval of up to a minute. */
const LEAST_WINDOW_SECONDS = 120;

/**
 * Returns the queries of a history. A replica count is read at the end of a step; if several replicas or jobs expose
 * the scaler, the largest count is used. The value of a metric is the mean of all samples within a step. `metrics`:
 * identities of the metrics to query; null: all.
 */
export function historyQueries(
  scaler: { readonly namespace: string; readonly name: string },
  stepSeconds: number,
  metrics: readonly string[] | null = null,
): HistoryQueries {
  const matchers = `namespace=${stringLiteral(scaler.namespace)},scaler=${stringLiteral(scaler.name)}`;
  const ofMetrics = metrics === null ? '' : `,metric=~${stringLiteral(metrics.map(quoteRegex).join('|'))}`;
  const window = `[${Math.max(stepSeconds, LEAST_WINDOW_SECONDS)}s]`;
  const mean = (metric: string): string => {
    const over = `${metric}{${matchers}${ofMetrics}}${window}`;
    const by = 'sum by (cluster, metric, type)';
    return `${by} (sum_over_time(${over})) / ${by} (count_over_time(${over}))`;
  };
  const count = (column: (typeof COUNT_COLUMNS)[number]): string =>
    `label_replace(max by (cluster) (${SCALER_METRICS[column].name}{${matchers}}), "column", "${column}", "", "")`;
  return {
    counts: COUNT_COLUMNS.map(count).join(' or '),
    values: mean(SCALER_METRICS.metricValue.name),
    targets: mean(SCALER_METRICS.metricTarget.name),
  };
}

export interface HistorySeries {
  readonly counts: readonly RangeSeries[];
  readonly values: readonly RangeSeries[];
  readonly targets: readonly RangeSeries[];
}

type Column = (number | null)[];

/**
 * Returns one point per step, from the first to the last step that has a number. A count or value without samples is
 * null. `yieldIfDue` yields to other work.
 */
export async function buildPoints(
  scaler: Scaler,
  range: LongRange,
  series: HistorySeries,
  yieldIfDue: () => Promise<void>,
): Promise<ScalerPoints> {
  const { metrics } = scaler.spec;
  const columnOf = createColumns(range);
  const counts = COUNT_COLUMNS.map((name) =>
    columnOf(series.counts, ({ column }) => column === name).map(countOrNull),
  );
  const values: Column[] = [];
  for (const spec of metrics)
    for (const all of [series.values, series.targets]) {
      values.push(columnOf(all, ({ metric, type }) => metric === spec.identity && type === spec.type));
      await yieldIfDue();
    }
  const points: Point[] = [];
  for (let index = 0; index < lengthOf(range); index += 1) {
    points.push({
      at: addSeconds(range.start, index * range.stepSeconds),
      counts: counts.map((column) => column[index] ?? null),
      values: values.map((column) => column[index] ?? null),
    });
    await yieldIfDue();
  }
  const first = points.findIndex(hasNumber);
  const last = points.findLastIndex(hasNumber);
  return { scaler, metrics, points: first === -1 ? [] : points.slice(first, last + 1), keptFrom: null };
}

/**
 * Returns a function that builds a column. A column contains, for each step, the largest value of the series for which
 * `isOf` is true.
 */
function createColumns(
  range: LongRange,
): (all: readonly RangeSeries[], isOf: (labels: RangeSeries['labels']) => boolean) => Column {
  const length = lengthOf(range);
  const stepMs = range.stepSeconds * 1000;
  return (all, isOf) => {
    const column: Column = Array.from({ length }, () => null);
    for (const { points } of all.filter(({ labels }) => isOf(labels)))
      for (const [atMs, value] of points) {
        const index = Math.round((atMs - range.start) / stepMs);
        if (index < 0 || index >= length || !Number.isFinite(value)) continue;
        column[index] = Math.max(column[index] ?? -Infinity, value);
      }
    return column;
  };
}

function lengthOf({ start, end, stepSeconds }: LongRange): number {
  return Math.round(secondsBetween(start, end) / stepSeconds) + 1;
}

function countOrNull(value: number | null): number | null {
  return value !== null && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function hasNumber({ counts, values }: Point): boolean {
  return [...counts, ...values].some((value) => value !== null);
}

const POINTS = 100;

/**
 * Returns a query for counts after a range that has no points. The range ends at a multiple of the step, so all samples
 * of a series younger than a step may be after the end of the range.
 */
function youngQuery(scaler: Scaler, { end, stepSeconds }: LongRange, now: Instant): RangeQuery {
  const fine = Math.ceil(stepSeconds / POINTS);
  const { counts } = historyQueries(scaler, fine);
  return { query: counts, start: end, end: now > end ? now : addSeconds(end, fine), stepSeconds: fine };
}

/** Returns why a range has no points. `young` is the answer to `youngQuery`. */
function explainEmptiness(
  scaler: Scaler,
  { end, stepSeconds }: LongRange,
  young: readonly RangeSeries[],
): string {
  const key = scalerKey(scaler);
  const first = Math.min(...young.flatMap(({ points }) => points.map(([atMs]) => atMs)));
  if (first === Infinity)
    return `the data source \`default\` has no series of ${key} in this range: configure Prometheus to scrape /metrics of promscaler with honorLabels: true`;
  return `the series of ${key} in the data source \`default\` begin at ${formatInstant(instantFromMs(first))}, after the last point of this range (${formatInstant(end)}). The next point is at ${formatInstant(addSeconds(end, stepSeconds))}. Choose a shorter range`;
}
