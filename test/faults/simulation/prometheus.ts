import type { Answer } from '../../../src/prometheus/answers/answer.js';
import type { Series } from '../../../src/prometheus/answers/columns.js';
import type { PrometheusServer } from '../../../src/prometheus/client/client.js';
import { onAbort } from '../../../src/units/abort.js';
import { addSeconds, type Instant, instantFromMs } from '../../../src/units/time.js';
import { type AgeQuery, readAgeQuery } from '../age-queries.js';
import { evaluateAges } from './ages.js';
import { AGE_NAME, type AnswerClass, type LogRecord, type QueryRecord } from './log.js';
import { SIMULATION_START_MS, type SimulatedProcess } from './process.js';
import type { Random } from './random.js';
import type { MetricPlan } from './scenario.js';
import { EXPORTER } from './scrapes.js';
import { isAmong, type Source, type SourceServer } from './source.js';
import { tenantAnswer } from './tenant.js';
import type { Timeline } from './timeline.js';
import type { Workload } from './workload.js';

export interface ClientParts {
  readonly process: SimulatedProcess;
  readonly source: Source;
  readonly workloads: readonly Workload[];
  readonly timeline: Timeline;
  readonly random: Random;
  readonly log: (record: LogRecord) => void;
  /** Whether its servers report their start time: Thanos and Mimir do not. */
  readonly tellsStart: boolean;
}

/** The service allows a tenth of the range, and looks a moment later. Of a gauge it is 52.5 s, and the service allows 35. */
const OLD_SHARE = 0.15;
/** Targets that are up, whatever the workloads do. */
const TARGETS = 40;
const NO_ANSWER_MS = 2_147_483_647;

/** Returns the client side of a data source, with the answers of the simulated servers. */
export function createSourceClient(parts: ClientParts): PrometheusServer {
  const { source, random, process } = parts;
  return {
    query: async (query, { timeoutMs, signal }) => {
      const asked = readQuery(query);
      const record = begin(asked, parts);
      const tenant = tenantAnswer(query, random);
      const delayMs = delayOf(source, random) + (tenant?.delayMs ?? 0);
      await wait(process, Math.min(delayMs, timeoutMs), signal);
      record.answeredMs = parts.timeline.nowMs;
      if (signal?.aborted === true) return failed(record, 'canceled');
      if (delayMs >= timeoutMs) return failed(record, 'timeout');
      if (tenant !== null && !source.isDown) return tenant.at(nowOf(parts));
      return answer(asked, record, parts);
    },
    startTime: async ({ timeoutMs, signal }): Promise<Instant | null> => {
      const delayMs = delayOf(source, random);
      await wait(process, Math.min(delayMs, timeoutMs), signal);
      if (!parts.tellsStart || signal?.aborted === true || delayMs >= timeoutMs || source.isDown) return null;
      return instantFromMs(SIMULATION_START_MS + source.reach().startedMs);
    },
  };
}

/** A look is for duplicate data, of which there is none. */
type Asked =
  | { readonly kind: 'metric' | 'counts' | 'look' | 'tenant' | 'reading'; readonly text: string }
  | { readonly kind: 'age'; readonly text: string; readonly age: AgeQuery };

function readQuery(text: string): Asked {
  const age = readAgeQuery(text);
  if (age !== null) return { kind: 'age', text, age };
  if (text.includes('promscaler_part')) return { kind: 'reading', text };
  if (/^(?:max by \(namespace\) \(count by|topk\()/.test(text)) return { kind: 'look', text };
  if (text.includes('count(up ')) return { kind: 'counts', text };
  if (text.startsWith('tenant_load')) return { kind: 'tenant', text };
  // It would be answered with the values of a metric.
  if (text.includes('timestamp(') || text.includes('_over_time('))
    throw new Error(`the simulation does not know this query: ${text}`);
  return { kind: 'metric', text };
}

const NAMES: Readonly<Partial<Record<Asked['kind'], string>>> = { age: AGE_NAME, look: 'a look' };

function begin({ kind, text }: Asked, { process, source, timeline, log }: ClientParts): QueryRecord {
  const record: QueryRecord = {
    kind: 'query',
    process: process.name,
    source: source.name,
    query: NAMES[kind] ?? text,
    sentMs: timeline.nowMs,
    answeredMs: null,
    answer: 'failed',
    serverStartMs: null,
    storeLostMs: null,
    old: [],
  };
  // The checker is about the other namespaces.
  if (kind !== 'tenant') log(record);
  return record;
}

function delayOf(source: Source, random: Random): number {
  if (source.has('hang')) return NO_ANSWER_MS;
  const slow = [...source.faults].find(({ what }) => what.mode === 'slow')?.what;
  return random.between(2, 30) + (slow?.mode === 'slow' ? slow.delayMs : 0);
}

function wait(process: SimulatedProcess, ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      unsubscribe?.();
      resolve();
    };
    const cancel = process.clock.after(ms, done);
    const unsubscribe = signal === undefined ? undefined : onAbort(signal, done);
  });
}

function answer(asked: Asked, record: QueryRecord, parts: ClientParts): Answer {
  const { source } = parts;
  if (source.isDown) return failed(record, 'connection');
  const server = source.reach();
  record.serverStartMs = server.startedMs;
  const lost = parts.tellsStart ? null : source.lostStore;
  record.storeLostMs = lost?.sinceMs ?? null;
  if (asked.kind === 'metric') record.old = oldOf(asked.text, server, parts);
  const series = evaluate(asked, server, { ...parts, lostPercent: lost?.percent ?? 0 });
  const evaluatedAt = nowOf(parts);
  for (const { what } of source.faults) {
    switch (what.mode) {
      case 'failed':
        return failed(record, what.reason);
      case 'missing':
        return classed(record, 'missing', { class: 'missing', message: 'the query found no series' });
      case 'query-missing':
        if (asked.text.includes(what.text))
          return classed(record, 'missing', { class: 'missing', message: 'the query found no series' });
        break;
      case 'nan':
        return classed(record, 'nan', { class: 'value', series: withValue(series, NaN), evaluatedAt });
      case 'infinite':
        return classed(record, 'invalid', {
          class: 'value',
          series: withValue(series, Infinity),
          evaluatedAt,
        });
      case 'negative':
        return classed(record, 'invalid', { class: 'value', series: withValue(series, -1), evaluatedAt });
      case 'partial': {
        const half = series.filter((_, index) => index % 2 === 0);
        return classed(record, 'partial', {
          class: 'partial',
          series: half,
          evaluatedAt,
          why: 'a store is down',
        });
      }
      case 'skewed':
        // What pods carried on whole days is the same some minutes earlier.
        return classed(
          record,
          Math.abs(what.seconds) > 120 && asked.kind !== 'reading' ? 'partial' : 'value',
          {
            class: 'value',
            series,
            evaluatedAt: addSeconds(evaluatedAt, what.seconds),
          },
        );
      case 'down':
      case 'restarted':
      case 'wiped':
      case 'emptied':
      case 'hang':
      case 'slow':
      case 'unscraped':
      case 'lagging':
      case 'store-lost':
      case 'second-replica':
        break;
      default:
        what satisfies never;
    }
  }
  if (series.length === 0) return classed(record, 'missing', { class: 'missing', message: 'no series' });
  return classed(record, 'value', { class: 'value', series, evaluatedAt });
}

function nowOf({ timeline }: ClientParts): Instant {
  return instantFromMs(SIMULATION_START_MS + Math.floor(timeline.nowMs));
}

function classed(record: QueryRecord, answer: AnswerClass, whole: Answer): Answer {
  record.answer = answer;
  return whole;
}

function failed(record: QueryRecord, reason: Extract<Answer, { class: 'failed' }>['reason']): Answer {
  record.answer = 'failed';
  return { class: 'failed', reason, message: `the source ${record.source} did not answer (${reason})` };
}

function withValue(series: readonly Series[], value: number): readonly Series[] {
  return series.map(({ labels }) => ({ labels, value }));
}

/** Evaluates a query on a server at the current time. */
function evaluate(
  asked: Asked,
  server: SourceServer,
  parts: ClientParts & { readonly lostPercent: number },
): readonly Series[] {
  const { lostPercent, workloads, source } = parts;
  const { nowMs } = parts.timeline;
  switch (asked.kind) {
    case 'look':
    case 'tenant':
      return [];
    case 'reading':
      return workloads.flatMap((workload) =>
        workload.plan.autoQuery !== undefined && asked.text.includes(workload.plan.autoQuery)
          ? readingOf(workload, server, nowMs)
          : [],
      );
    case 'counts':
      return countsOf(asked.text, server, { nowMs, lostPercent });
    case 'age': {
      const isLeft = (pod: string): boolean => !isAmong(pod, lostPercent);
      const { skewSeconds } = source;
      return evaluateAges(asked.age, { server, source: source.name, workloads, nowMs, isLeft, skewSeconds });
    }
    case 'metric':
      return workloads.flatMap((workload) => [
        ...ceilingsOf(asked.text, workload),
        ...workload.plan.metrics
          .filter((metric) => asked.text.includes(metric.query))
          .flatMap((metric) => seriesOf(metric, workload, { server, nowMs, lostPercent })),
      ]);
    default:
      return asked satisfies never;
  }
}

function ceilingsOf(query: string, { plan, ceilingAt }: Workload): readonly Series[] {
  if (plan.ceilingQuery === undefined || !query.includes(plan.ceilingQuery)) return [];
  return [{ labels: {}, value: ceilingAt() }];
}

/** Returns what pods have carried on the days of which the server has samples: the same each day. */
function readingOf({ plan }: Workload, { sinceMs }: SourceServer, nowMs: number): readonly Series[] {
  const value = plan.metrics[0]?.perReplica ?? NaN;
  return [
    { part: 'recent', minutes: 1 },
    { part: 'day-1', minutes: 60 },
    { part: 'day-2', minutes: 25 * 60 },
    { part: 'day-3', minutes: 49 * 60 },
  ].flatMap(({ part, minutes }) =>
    sinceMs > nowMs - minutes * 60_000 ? [] : [{ labels: { promscaler_part: part }, value }],
  );
}

/** Returns the names of the workloads whose values are based on old samples. */
function oldOf(
  query: string,
  { scrapes }: SourceServer,
  { workloads, timeline }: ClientParts,
): readonly string[] {
  return workloads
    .filter(({ plan, pods }) => {
      const metric = plan.metrics.find((one) => query.includes(one.query));
      const own = scrapes.get(plan.name);
      if (metric === undefined || own === undefined) return false;
      const { windowSeconds } = metric;
      const targets = ['cpu', 'pod-rate'].includes(metric.kind) ? [...pods.keys()] : [EXPORTER];
      const shares = targets
        .map((target) => own.missingShare(target, timeline.nowMs, windowSeconds))
        .filter((share) => share !== null);
      return shares.reduce((sum, share) => sum + share, 0) > OLD_SHARE * shares.length;
    })
    .map(({ plan }) => plan.name);
}

/** Answers the queries for the number of targets now and in the past. */
function countsOf(
  query: string,
  server: SourceServer,
  { nowMs, lostPercent }: { readonly nowMs: number; readonly lostPercent: number },
): readonly Series[] {
  const counts = [...query.matchAll(/(label_replace\()?count\(up (@|offset) ([\d.]+)s?\)/g)];
  return counts.flatMap(([, isLabeled, form, number]): readonly Series[] => {
    const seconds = Number(number);
    const atMs = form === '@' ? seconds * 1000 - SIMULATION_START_MS : nowMs - seconds * 1000;
    if (server.sinceMs > atMs) return [];
    const labels = isLabeled === undefined ? {} : { at: 'before' };
    return [{ labels, value: TARGETS - Math.ceil((TARGETS * lostPercent) / 100) }];
  });
}

function seriesOf(
  { kind, perReplica, windowSeconds }: MetricPlan,
  workload: Workload,
  given: { readonly server: SourceServer; readonly nowMs: number; readonly lostPercent: number },
): readonly Series[] {
  const { server, nowMs, lostPercent } = given;
  const isLeft = ([pod]: readonly [string, number]): boolean => !isAmong(pod, lostPercent);
  const share = 1 - lostPercent / 100;
  const { namespace, name } = workload.plan;
  const scrapes = server.scrapes.get(name);
  if (scrapes === undefined) return [];
  switch (kind) {
    case 'cpu':
      return [...scrapes.rates('cpuSeconds', nowMs, windowSeconds)].filter(isLeft).map(([pod, value]) => ({
        labels: { namespace, pod, container: 'app' },
        value,
      }));
    case 'pod-rate':
      return [...scrapes.rates('requests', nowMs, windowSeconds)].filter(isLeft).map(([pod, value]) => ({
        labels: { pod },
        value,
      }));
    case 'total-rate': {
      const value = scrapes.exporterRate(nowMs, windowSeconds);
      return value === null ? [] : [{ labels: {}, value: value * share }];
    }
    case 'served': {
      const rates = [...scrapes.rates('requests', nowMs, windowSeconds)].filter(isLeft);
      if (rates.length === 0) return [];
      return [{ labels: {}, value: rates.reduce((sum, [, rate]) => sum + rate, 0) }];
    }
    case 'backlog':
    case 'capacity': {
      if (scrapes.exporterValue(nowMs) === null) return [];
      return [{ labels: {}, value: kind === 'backlog' ? workload.waiting() : perReplica }];
    }
    case 'gauge': {
      const value = scrapes.exporterValue(nowMs);
      return value === null ? [] : [{ labels: {}, value: value * share }];
    }
    default:
      return kind satisfies never;
  }
}
