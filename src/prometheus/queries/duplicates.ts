import { addsUp, groupedBy } from '../../promql/adds-up.js';
import { stringLiteral } from '../../promql/quoting.js';
import { substitute } from '../../promql/variables.js';
import { type VectorSelector, vectorSelectors } from '../../promql/vector-selectors.js';
import type { MetricSpec } from '../../scaler/spec.js';
import type { Clock } from '../../units/clock.js';
import { listSome } from '../../units/format.js';
import { groupBy } from '../../units/maps.js';
import type { Answer, RunQuery } from '../answers/answer.js';
import { labelOf, type Series } from '../answers/columns.js';
import { resourceQuery } from '../data-source/resource-queries.js';
import type { SourceConfig } from '../data-source/source-config.js';
import type { CompiledQuery } from './compile-queries.js';

/** A query that is checked for duplicates. Queries with the same key are checked only once. */
export type DuplicateCandidate =
  /** The query of a resource, whose name is the key. */
  | { readonly kind: 'resource'; readonly key: string; readonly namespaces: readonly string[] }
  | {
      readonly kind: 'query';
      readonly key: string;
      readonly query: Exclude<CompiledQuery, { readonly kind: 'byNamespace' }>;
      readonly type: MetricSpec['type'];
    };

export function resourceCandidate(resource: string, namespaces: Iterable<string>): DuplicateCandidate {
  return { kind: 'resource', key: resource, namespaces: [...namespaces] };
}

export interface DuplicateWatch {
  /** If a check is due, checks one of the candidates in the background. */
  readonly checkOne: (candidates: readonly DuplicateCandidate[], runQuery: RunQuery) => void;
  /**
   * Starts the first check of a resource; null: it was already checked. The caller waits for the end of the check,
   * because duplicates would cause an immediate scale-up.
   */
  readonly firstCheck: (candidate: DuplicateCandidate, runQuery: RunQuery) => Promise<void> | null;
  /** Returns the config in which the queries of resources with duplicates count each container once. */
  readonly adaptConfig: (config: SourceConfig) => SourceConfig;
  /** Returns a sentence about duplicates in a namespace or query; '': there are none now; null: there never were. */
  readonly describe: (query: CompiledQuery, namespace: string) => string | null;
  /** Returns the highest number of copies of one series; 1: there are no duplicates. */
  readonly highestCount: () => number;
}

/** Interval between two checks of a source. The queries of 100 documents are all checked within about half an hour. */
const APART_MS = 20_000;
const AGAIN_MS = 600_000;
/** A finding that no document has used for this time is dropped. */
const FORGET_MS = 7_200_000;
/**
 * Limits the query of a check, because it contains each namespace twice, and VictoriaMetrics rejects queries above 16
 * KiB.
 */
const MAX_NAMESPACES = 100;

/** The last check of a query. */
interface Check {
  atMs: number;
  /** When a plan last contained the query. */
  seenMs: number;
  found: Duplicates | null;
  wasFound: boolean;
}

/** Creates a watch that never throws. A check that fails with an internal error calls `onFault` and has no result. */
export function createDuplicateWatch(parts: {
  readonly config: () => SourceConfig;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}): DuplicateWatch {
  const { config, clock, onFault } = parts;
  const checks = new Map<string, Check>();
  const running = new Map<string, Promise<void>>();
  let nextMs = -Infinity;

  const check = (candidate: DuplicateCandidate, runQuery: RunQuery): Promise<void> => {
    const { key } = candidate;
    const nowMs = clock.monotonicMs();
    const entry: Check = checks.get(key) ?? { atMs: nowMs, seenMs: nowMs, found: null, wasFound: false };
    entry.atMs = nowMs;
    checks.set(key, entry);
    const run = async (): Promise<void> => {
      entry.found = await find(config(), candidate, runQuery);
      entry.wasFound ||= entry.found !== null;
    };
    const done = run()
      .catch(onFault)
      .finally(() => {
        running.delete(key);
        nextMs = clock.monotonicMs() + APART_MS;
      });
    running.set(key, done);
    return done;
  };

  return {
    checkOne: (candidates, runQuery) => {
      const nowMs = clock.monotonicMs();
      for (const candidate of candidates) {
        const known = checks.get(candidate.key);
        if (known !== undefined) known.seenMs = nowMs;
      }
      for (const [key, { seenMs }] of checks) if (nowMs - seenMs > FORGET_MS) checks.delete(key);
      if (running.size > 0 || nowMs < nextMs) return;
      let oldest: DuplicateCandidate | null = null;
      let oldestMs = Infinity;
      for (const candidate of candidates) {
        const atMs = checks.get(candidate.key)?.atMs ?? -Infinity;
        if (atMs >= oldestMs) continue;
        oldest = candidate;
        oldestMs = atMs;
      }
      if (oldest !== null && nowMs - oldestMs >= AGAIN_MS) void check(oldest, runQuery);
    },
    firstCheck: (candidate, runQuery) => {
      const { key } = candidate;
      return checks.has(key) ? (running.get(key) ?? null) : check(candidate, runQuery);
    },
    adaptConfig: (given) => {
      const resources = Object.entries(given.onceQueries).filter(
        ([resource]) => checks.get(resource)?.found != null,
      );
      if (resources.length === 0) return given;
      return { ...given, resourceQueries: { ...given.resourceQueries, ...Object.fromEntries(resources) } };
    },
    describe: (query, namespace) => {
      const isResource = query.kind === 'byNamespace';
      const known = checks.get(isResource ? query.resource : query.key);
      if (known?.wasFound !== true) return null;
      const { found } = known;
      if (found === null || (isResource && !found.namespaces.includes(namespace))) return '';
      const { times, isAdded } = found;
      if (!isResource)
        return `each series of the query has ${times} copies, which differ in ${describeLabels(found)}: the value is counted ${times} times`;
      const isOnce = !isAdded || Object.hasOwn(config().onceQueries, query.resource);
      const counted = isOnce ? 'only the largest is counted' : `the usage is counted up to ${times} times`;
      return `${describeContainerDuplicates(found, query.resource)}: ${counted}`;
    },
    highestCount: () =>
      [...checks.values()].reduce((most, { found }) => Math.max(most, found?.times ?? 1), 1),
  };
}

async function find(
  config: SourceConfig,
  candidate: DuplicateCandidate,
  runQuery: RunQuery,
): Promise<Duplicates | null> {
  if (candidate.kind === 'query') {
    const { query, type } = candidate;
    const text = query.kind === 'alone' ? query.text : substitute(query.text, { pods: query.pods });
    return findQueryDuplicates(runQuery, text, { asWhole: type === 'External' });
  }
  const query = resourceQuery(config, candidate.key, candidate.namespaces.slice(0, MAX_NAMESPACES));
  return query === null ? null : findContainerDuplicates(runQuery, query);
}

export interface Duplicates {
  /** The highest number of series for one container (resource query), or for one series (query of a document). */
  readonly times: number;
  /** Labels in which the series differ, the likeliest cause first, each with some values. '': the label is absent. */
  readonly labels: readonly { readonly name: string; readonly values: readonly string[] }[];
  /** Namespaces of the affected containers; empty for a query that a document contains. */
  readonly namespaces: readonly string[];
  readonly isAdded: boolean;
}

/** Returns for example `job (cadvisor, kubelet) and endpoint`. */
export function describeLabels({ labels }: Duplicates): string {
  const [first, ...rest] = labels;
  if (first === undefined) return 'no label';
  const values = first.values.map((value) => (value === '' ? '""' : value));
  const also =
    rest.length === 0
      ? ''
      : ` and ${rest
          .map(({ name }) => name)
          .slice(0, SHOWN)
          .join(' and ')}`;
  return `${first.name} (${listSome(values, SHOWN)})${also}`;
}

/** Returns for example `containers have up to 2 cpu series each, which differ in job (cadvisor, kubelet)`. */
export function describeContainerDuplicates(found: Duplicates, resource: string): string {
  return `containers have up to ${found.times} ${resource} series each, which differ in ${describeLabels(found)}`;
}

const SHOWN = 5;

/**
 * Returns whether a label identifies a replica of Prometheus or of a Thanos receiver. A single replica may be down, so
 * a query must not select one.
 */
export function isReplicaLabel(name: string): boolean {
  return /replica|^(?:receive|prometheus)$/.test(name);
}

/** Labels in which series of one container may differ without being duplicates: after a restart, or per CPU. */
const OF_A_RUN = ['id', 'name', 'image', 'cpu'];
const CONTAINER = ['namespace', 'pod', 'container'];

/**
 * Labels that may be the cause of duplicates, because they distinguish scrape jobs or Prometheus replicas. The
 * likeliest causes, labels of replicas and clusters, come first.
 */
const CAUSES = [
  /replica/,
  /^(?:receive|prometheus)$/,
  /cluster/,
  /^metrics_path$/,
  /^job$/,
  /^service$/,
  /^endpoint$/,
  /^instance$/,
];

/**
 * The only labels that are checked in a query that a document contains. Series that differ in another label may be
 * meant to be counted separately.
 */
const OF_A_SCRAPE = /replica|^(?:receive|prometheus|metrics_path|job|service|endpoint)$/;

const SAMPLE_SIZE = 100;
const MAX_SELECTORS = 3;
/** Values count as equal up to this relative difference: two Prometheus servers scrape a counter at different times. */
const SAME_WITHIN = 0.02;

/**
 * Returns the containers for which a resource query finds several series, whatever the labels. Null: there are none, or
 * the query failed. Sends one query with a small answer; if there are duplicates, it sends two more.
 */
export async function findContainerDuplicates(runQuery: RunQuery, query: string): Promise<Duplicates | null> {
  const selector = vectorSelectors(query)[0];
  if (selector === undefined || selector.metric === null) return null;
  const identity = groupedBy(query, selector.text) ?? CONTAINER;
  const [namespace = 'namespace'] = identity.filter((label) => label.includes('namespace'));
  const counted = `count by (${identity.join(', ')}) (${eachOnce(selector)})`;
  const byNamespace = seriesOf(await runQuery(`max by (${namespace}) (${counted}) > 1`));
  if (byNamespace.length === 0) return null;
  const [example] = seriesOf(await runQuery(`topk(1, ${counted})`));
  if (example === undefined) return null;
  const matchers = identity.map((label) => `${label}=${stringLiteral(labelOf(example, label) ?? '')}`);
  const labels = differing(
    seriesOf(await runQuery(`topk(${SAMPLE_SIZE}, ${withMatchers(selector, matchers)})`)),
  );
  const namespaces = byNamespace.map((one) => labelOf(one, namespace) ?? '').filter((name) => name !== '');
  const times = Math.max(...byNamespace.map(({ value }) => value));
  const cause = labels[0]?.name ?? '';
  const isAdded = addsUp(query, selector.text, { label: cause, asWhole: false });
  return { times, labels, namespaces: namespaces.sort(), isAdded };
}

/** Returns a query for one series per container and metrics path, however often the container restarted. */
function eachOnce(selector: VectorSelector): string {
  const without = `group without (${OF_A_RUN.join(', ')})`;
  // Series of cAdvisor have the label `id`, series of /metrics/resource do not. No other label is certain to
  // distinguish them.
  const ofCAdvisor = `label_replace(${without} (${withMatchers(selector, ['id!=""'])}), "id", "set", "", "")`;
  return `${ofCAdvisor} or ${without} (${withMatchers(selector, ['id=""'])})`;
}

/**
 * Returns the labels in which duplicate series of a document's query differ: labels of Prometheus replicas, or of two
 * scrape jobs for the same target. Null: there are no duplicates. Series count as duplicates only if their values are
 * also equal, because a query may be meant to count series by such a label. Sends one query for each selector; its
 * answer is limited to `SAMPLE_SIZE` series.
 */
export async function findQueryDuplicates(
  runQuery: RunQuery,
  query: string,
  { asWhole }: { readonly asWhole: boolean },
): Promise<Duplicates | null> {
  for (const { text } of vectorSelectors(query).slice(0, MAX_SELECTORS)) {
    const sample = seriesOf(await runQuery(`topk(${SAMPLE_SIZE}, ${text})`));
    const names = new Set(sample.flatMap(({ labels }) => Object.keys(labels)));
    for (const name of [...names].filter((one) => OF_A_SCRAPE.test(one)).sort(byCause)) {
      if (!addsUp(query, text, { label: name, asWhole })) continue;
      const times = timesBy(sample, name);
      if (times > 1) {
        const labels = [{ name, values: valuesOf(sample, name) }];
        return { times, labels, namespaces: [], isAdded: true };
      }
    }
  }
  return null;
}

/** Returns how many copies of a series differ only in this label; 1 unless all series have copies with equal values. */
function timesBy(sample: readonly Series[], name: string): number {
  if (sample.some(({ labels }) => !Object.hasOwn(labels, name))) return 1;
  const groups = groupBy(sample, ({ labels }) =>
    JSON.stringify(
      Object.entries(labels)
        .filter(([label]) => label !== name)
        .sort(),
    ),
  );
  const all = Array.from(groups.values(), (copies) => copies.map(({ value }) => value));
  // If the answer reached the limit of the sample, some copies of its last series may be missing.
  const complete = sample.length === SAMPLE_SIZE ? all.slice(0, -1) : all;
  const isTwice = complete.length > 0 && complete.every((values) => values.length > 1 && areSame(values));
  return isTwice ? Math.max(...complete.map((values) => values.length)) : 1;
}

/** Zeros prove nothing: different counters of an idle workload are all 0. */
function areSame(values: readonly number[]): boolean {
  const most = Math.max(...values);
  return most > 0 && Math.min(...values) >= most * (1 - SAME_WITHIN);
}

function differing(series: readonly Series[]): Duplicates['labels'] {
  const names = new Set(series.flatMap(({ labels }) => Object.keys(labels)));
  const all = [...names]
    .map((name) => ({ name, values: valuesOf(series, name) }))
    .filter(({ name, values }) => name !== '__name__' && values.length > 1)
    .sort((one, other) => byCause(one.name, other.name));
  const causes = all.filter(({ name }) => !OF_A_RUN.includes(name));
  if (causes.length > 0) return causes;
  // Otherwise only `id` can differ, because series of /metrics/resource have only the labels of the container.
  return all.filter(({ name }) => name === 'id');
}

function valuesOf(series: readonly Series[], name: string): readonly string[] {
  return [...new Set(series.map((one) => labelOf(one, name) ?? ''))].sort();
}

function byCause(one: string, other: string): number {
  const rank = (name: string): number => {
    const index = CAUSES.findIndex((cause) => cause.test(name));
    return index === -1 ? CAUSES.length : index;
  };
  return rank(one) - rank(other) || (one < other ? -1 : 1);
}

function withMatchers({ metric, matchers }: VectorSelector, more: readonly string[]): string {
  return `${metric ?? ''}{${[...matchers.map(({ text }) => text), ...more].join(', ')}}`;
}

function seriesOf(answer: Answer): readonly Series[] {
  return answer.class === 'value' || answer.class === 'partial' ? answer.series : [];
}
