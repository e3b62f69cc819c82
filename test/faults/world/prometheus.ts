import type { Answer } from '../../../src/prometheus/answers/answer.js';
import type { Series } from '../../../src/prometheus/answers/series.js';
import type { PrometheusClient } from '../../../src/prometheus/client/client.js';
import { addSeconds, instantFromMs, type Instant } from '../../../src/units/time.js';
import type { AnswerClass, LogRecord, QueryRecord } from './log.js';
import { WORLD_START_MS, type SimulatedProcess } from './process.js';
import { hashText, type Random } from './random.js';
import type { MetricPlan } from './scenario.js';
import type { Source, SourceServer } from './source.js';
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

/** Targets that are up, whatever the workloads do. */
const TARGETS = 40;
const NO_ANSWER_MS = 2_147_483_647;

/** Returns the client side of a data source, with the answers of the simulated servers. */
export function createSourceClient(parts: ClientParts): PrometheusClient {
  const { source, random, process } = parts;
  return {
    query: async (query, { timeoutMs, signal }) => {
      const record = begin(query, parts);
      const delayMs = delayOf(source, random);
      await wait(process, Math.min(delayMs, timeoutMs), signal);
      record.answeredMs = parts.timeline.nowMs;
      if (signal?.aborted === true) return failed(record, 'canceled');
      if (delayMs >= timeoutMs) return failed(record, 'timeout');
      return answer(record, parts);
    },
    startTime: async ({ timeoutMs, signal }): Promise<Instant | null> => {
      const delayMs = delayOf(source, random);
      await wait(process, Math.min(delayMs, timeoutMs), signal);
      if (!parts.tellsStart || signal?.aborted === true || delayMs >= timeoutMs || source.isDown) return null;
      return instantFromMs(WORLD_START_MS + source.reach().startedMs);
    },
  };
}

function begin(query: string, { process, source, timeline, log }: ClientParts): QueryRecord {
  const record: QueryRecord = {
    kind: 'query',
    process: process.name,
    source: source.name,
    query: isLook(query) ? 'a look' : query,
    sentMs: timeline.nowMs,
    answeredMs: null,
    answer: 'failed',
    serverStartMs: null,
    storeLostMs: null,
  };
  log(record);
  return record;
}

/** Returns whether a query looks for duplicate data, of which there is none; not a metric of a document. */
function isLook(query: string): boolean {
  return /^(?:max by \(namespace\) \(count by|topk\()/.test(query);
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
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = process.clock.after(ms, done);
    signal?.addEventListener('abort', done);
  });
}

function answer(record: QueryRecord, parts: ClientParts): Answer {
  const { source, timeline } = parts;
  if (source.isDown) return failed(record, 'connection');
  const server = source.reach();
  record.serverStartMs = server.startedMs;
  const lost = parts.tellsStart ? null : source.lostStore;
  record.storeLostMs = lost?.sinceMs ?? null;
  const series = evaluate(record.query, server, { ...parts, lostPercent: lost?.percent ?? 0 });
  const evaluatedAt = instantFromMs(WORLD_START_MS + Math.floor(timeline.nowMs));
  for (const { what } of source.faults) {
    switch (what.mode) {
      case 'failed':
        return failed(record, what.reason);
      case 'missing':
        return classed(record, 'missing', { class: 'missing', message: 'the query found no series' });
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
        return classed(record, Math.abs(what.seconds) > 120 ? 'partial' : 'value', {
          class: 'value',
          series,
          evaluatedAt: addSeconds(evaluatedAt, what.seconds),
        });
      case 'down':
      case 'restarted':
      case 'wiped':
      case 'emptied':
      case 'hang':
      case 'slow':
      case 'unscraped':
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
  query: string,
  server: SourceServer,
  parts: ClientParts & { readonly lostPercent: number },
): readonly Series[] {
  const { lostPercent } = parts;
  if (isLook(query)) return [];
  const counts = [...query.matchAll(/(label_replace\()?count\(up (@|offset) ([\d.]+)s?\)/g)];
  if (counts.length > 0) {
    return counts.flatMap(([, isLabeled, form, number]): readonly Series[] => {
      const seconds = Number(number);
      const { nowMs } = parts.timeline;
      const atMs = form === '@' ? seconds * 1000 - WORLD_START_MS : nowMs - seconds * 1000;
      if (server.sinceMs > atMs) return [];
      return [
        {
          labels: isLabeled === undefined ? {} : { at: 'before' },
          value: TARGETS - Math.ceil((TARGETS * lostPercent) / 100),
        },
      ];
    });
  }
  return parts.workloads.flatMap((workload) =>
    workload.plan.metrics
      .filter((metric) => query.includes(metric.query))
      .flatMap((metric) => seriesOf(metric, workload, { server, nowMs: parts.timeline.nowMs, lostPercent })),
  );
}

function seriesOf(
  { kind, windowSeconds, perReplica }: MetricPlan,
  workload: Workload,
  given: { readonly server: SourceServer; readonly nowMs: number; readonly lostPercent: number },
): readonly Series[] {
  const { server, nowMs, lostPercent } = given;
  const isLeft = ([pod]: readonly [string, number]): boolean => hashText(pod) % 100 >= lostPercent;
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
      const value = scrapes.ingressRate(nowMs, windowSeconds);
      return value === null ? [] : [{ labels: {}, value: value * share }];
    }
    case 'gauge':
      return [{ labels: {}, value: workload.load.at(nowMs) * perReplica * share }];
    default:
      return kind satisfies never;
  }
}
