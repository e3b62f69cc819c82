import type { Labels, Series } from '../../../src/prometheus/answers/columns.js';
import type { AgeQuery } from '../age-queries.js';
import { SIMULATION_START_MS } from './process.js';
import { hashText } from './random.js';
import type { MetricPlan } from './scenario.js';
import { EXPORTER, type Scrapes } from './scrapes.js';
import type { SourceServer } from './source.js';
import type { Workload } from './workload.js';

export interface AgeParts {
  readonly server: SourceServer;
  /** The name of its data source. */
  readonly source: string;
  readonly workloads: readonly Workload[];
  readonly nowMs: number;
  /** Whether a series is not in a store that is missing. */
  readonly isLeft: (pod: string) => boolean;
  /** The offset of the server's clock. */
  readonly skewSeconds: number;
}

/** What a server knows about one target of a selector, a pod or an exporter. */
interface Scraped {
  readonly scrapes: Scrapes;
  readonly target: string;
  readonly labels: Labels;
}

/** Evaluates a query for the age of samples by the scrapes that the server has. */
export function evaluateAges(query: AgeQuery, parts: AgeParts): readonly Series[] {
  const { nowMs } = parts;
  if (query.kind === 'failing') return failingTargets(query.rangeSeconds, parts);
  const atMs = nowMs - query.offsetSeconds * 1000;
  const targets = targetsOf(query.selector, parts);
  switch (query.kind) {
    case 'interval':
      return intervals(targets, atMs, query.rangeSeconds);
    case 'newest': {
      const { start } = query;
      const newestAt = (ms: number): readonly Series[] =>
        maxBy(query.labels, targets, ({ scrapes, target }) => {
          const sample = scrapes.current(target, ms);
          return sample === null ? null : (SIMULATION_START_MS + sample.atMs) / 1000 + parts.skewSeconds;
        });
      if (start === null) return newestAt(atMs);
      const older = newestAt(nowMs - start.offsetSeconds * 1000);
      const marked = older.map((one) => ({ ...one, labels: { ...one.labels, [start.mark]: '1' } }));
      return [...newestAt(atMs), ...marked];
    }
    case 'seen':
      return maxBy(query.labels, targets, ({ scrapes, target }) =>
        scrapes.wasSeen(target, atMs, query) ? atMs / 1000 : null,
      );
    case 'samples':
      return maxBy(
        query.labels,
        targets,
        ({ scrapes, target }) => scrapes.sampleTimes(target, atMs, query.rangeSeconds).length || null,
      );
    default:
      return query satisfies never;
  }
}

function targetsOf(selector: string, { source, workloads, server, isLeft }: AgeParts): readonly Scraped[] {
  const pattern = podsIn(selector);
  return workloads.flatMap(({ plan }): readonly Scraped[] => {
    const metric = plan.metrics.find((one) => one.source === source && isSelected(one, selector));
    const scrapes = server.scrapes.get(plan.name);
    if (metric === undefined || scrapes === undefined) return [];
    return scrapes
      .targets()
      .filter((target) => target === EXPORTER || (isLeft(target) && pattern.test(target)))
      .map((target) => ({ scrapes, target, labels: labelsOf(metric, plan.name, target) }));
  });
}

function isSelected({ kind, query }: MetricPlan, selector: string): boolean {
  return kind === 'cpu' ? selector.includes(query) : query.includes(selector);
}

/** Returns the pattern of `pod`, in the part of RE2 that JavaScript shares; everything without one. */
function podsIn(selector: string): RegExp {
  const written = /\bpod=~("(?:[^"\\]|\\.)*")/.exec(selector)?.[1];
  return written === undefined ? /^/ : new RegExp(`^(?:${String(JSON.parse(written))})$`);
}

/** Usage of pods is scraped at their node, all else at another port. */
function labelsOf({ kind }: MetricPlan, workload: string, target: string): Labels {
  switch (kind) {
    case 'cpu':
      return { job: 'kubelet', instance: `node-${hashText(target) % 100}`, pod: target };
    case 'pod-rate':
    case 'served':
      return { job: workload, instance: target, pod: target };
    case 'total-rate':
    case 'gauge':
    case 'backlog':
    case 'capacity':
      return { job: workload, instance: 'exporter' };
    default:
      return kind satisfies never;
  }
}

function failingTargets(rangeSeconds: number, { source, workloads, server, nowMs }: AgeParts) {
  const found = workloads.flatMap(({ plan }): readonly Scraped[] => {
    const metric = plan.metrics.find((one) => one.source === source);
    const scrapes = server.scrapes.get(plan.name);
    if (metric === undefined || scrapes === undefined) return [];
    return scrapes
      .failing(nowMs, rangeSeconds)
      .map((target) => ({ scrapes, target, labels: labelsOf(metric, plan.name, target) }));
  });
  return maxBy(['job', 'instance'], found, () => 0);
}

/** Returns the median time between the samples of the targets of each job. */
function intervals(targets: readonly Scraped[], atMs: number, rangeSeconds: number): readonly Series[] {
  const byJob = new Map<string, number[]>();
  for (const { scrapes, target, labels } of targets) {
    const times = scrapes.sampleTimes(target, atMs, rangeSeconds);
    const [first, last] = [times[0], times.at(-1)];
    if (times.length < 2 || first === undefined || last === undefined) continue;
    const job = labels['job'] ?? '';
    byJob.set(job, [...(byJob.get(job) ?? []), (last - first) / 1000 / (times.length - 1)]);
  }
  return Array.from(byJob, ([job, seconds]) => ({ labels: { job }, value: median(seconds) }));
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
}

/** Returns the highest value for each set of these labels, without targets that have none. */
function maxBy(
  names: readonly string[],
  targets: readonly Scraped[],
  valueOf: (target: Scraped) => number | null,
): readonly Series[] {
  const series = new Map<string, Series>();
  for (const target of targets) {
    const value = valueOf(target);
    if (value === null) continue;
    const labels = Object.fromEntries(
      names.flatMap((name) => (target.labels[name] === undefined ? [] : [[name, target.labels[name]]])),
    );
    const key = JSON.stringify(labels);
    if (value > (series.get(key)?.value ?? Number.NEGATIVE_INFINITY)) series.set(key, { labels, value });
  }
  return [...series.values()];
}
