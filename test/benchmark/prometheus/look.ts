import { readFileSync } from 'node:fs';
import { readPage, sumOf } from '../exposition.js';

/** What a Prometheus has done until an instant, and holds then. */
export interface Look {
  /** Monotonic. */
  readonly atMs: number;
  /** Of the process. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly queries: number;
  /** Of them, those with another status than 200. */
  readonly failedQueries: number;
  /** In the engine, without the time in its queue. */
  readonly engineSeconds: number;
  readonly queueSeconds: number;
  readonly appendedSamples: number;
  /** In the head block. */
  readonly series: number;
}

/** What happened between two looks. */
export interface Cost {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly queries: number;
  readonly failedQueries: number;
  readonly engineSeconds: number;
  readonly queueSeconds: number;
  readonly appendedSamples: number;
}

export async function lookAt({ pid, url }: { readonly pid: number; readonly url: string }): Promise<Look> {
  const atMs = performance.now();
  const cpuSeconds = cpuSecondsIn(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const residentBytes = residentBytesIn(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return { atMs, cpuSeconds, residentBytes, ...countsOn(await readPage(`${url}/metrics`)) };
}

const QUERIES = 'prometheus_http_requests_total';
const ENGINE = 'prometheus_engine_query_duration_seconds_sum';

/** `page`: of a Prometheus without rules, so that the engine runs nothing but queries of the API. */
export function countsOn(page: string): Omit<Look, 'atMs' | 'cpuSeconds' | 'residentBytes'> {
  const queries = sumOf(page, QUERIES, 'handler="/api/v1/query"');
  const slice = (name: string): number => sumOf(page, ENGINE, `slice="${name}"`);
  return {
    queries,
    failedQueries: queries - sumOf(page, QUERIES, 'code="200",handler="/api/v1/query"'),
    engineSeconds: slice('prepare_time') + slice('inner_eval') + slice('result_sort'),
    queueSeconds: slice('queue_time'),
    appendedSamples: sumOf(page, 'prometheus_tsdb_head_samples_appended_total'),
    series: sumOf(page, 'prometheus_tsdb_head_series'),
  };
}

export function costBetween(before: Look, after: Look): Cost {
  return {
    seconds: (after.atMs - before.atMs) / 1000,
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    queries: after.queries - before.queries,
    failedQueries: after.failedQueries - before.failedQueries,
    engineSeconds: after.engineSeconds - before.engineSeconds,
    queueSeconds: after.queueSeconds - before.queueSeconds,
    appendedSamples: after.appendedSamples - before.appendedSamples,
  };
}

/** `USER_HZ`, which is 100 on every platform that Node.js supports. */
const TICKS_PER_SECOND = 100;

/** `stat`: of `/proc/PID/stat`. */
export function cpuSecondsIn(stat: string): number {
  // The name of the program, in parentheses, may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [fields[11], fields[12]].map(Number);
  return ((user ?? NaN) + (system ?? NaN)) / TICKS_PER_SECOND;
}

/** `status`: of `/proc/PID/status`. */
export function residentBytesIn(status: string): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
