import { addsUp, groupedBy } from '../../promql/adds-up.js';
import { stringLiteral } from '../../promql/quoting.js';
import { type VectorSelector, vectorSelectors } from '../../promql/vector-selectors.js';
import { listSome } from '../../units/format.js';
import { groupBy } from '../../units/maps.js';
import type { Answer, RunQuery } from '../answers/answer.js';
import { labelOf, type Series } from '../answers/columns.js';

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
