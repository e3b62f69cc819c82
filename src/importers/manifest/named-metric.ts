import { PLACEHOLDER } from '../../scaler/read/parse-scaler.js';
import { listVariables } from '../../promql/variables.js';
import { metricNames } from '../../promql/vector-selectors.js';
import type { PlainObject } from '../../scaler/plain-json.js';
import { formatValue, type Path } from '../../scaler/problems/finding.js';
import { type DraftItem, defined, type RemarkLog } from '../draft/draft.js';
import type { LabelMatchers } from './label-matchers.js';

const API_NAMES = { pods: 'Pods', object: 'Object', external: 'External' } as const;

const RESULTS = {
  pods: 'one series per pod, with the label pod',
  object: 'exactly one series',
  external: 'one series, or several, which are added up',
} as const;

interface Placed {
  readonly metric: NamedMetric;
  readonly target: PlainObject;
  readonly describedObject?: PlainObject | undefined;
  readonly from: Path;
  readonly log: RemarkLog;
}

/** Returns a metric whose query is looked up by its name. If no query is found, the metric has a placeholder. */
export function namedMetricItem(
  { metric, target, describedObject, from, log }: Placed,
  queries: MetricQueries,
): DraftItem {
  const { member, name, selector } = metric;
  const { matchers } = selector;
  for (const { path, message } of selector.problems) log.lose(path, message);
  const found = withSelector(queries(metric), metric);
  const build = (query: string): PlainObject => ({
    [member]: defined({ describedObject, metric: { name }, query, target }),
  });
  if (found.query !== null) {
    for (const note of found.notes) log.note(from, note);
    return { value: build(found.query), from, isOff: false, matchers };
  }
  const what = `${API_NAMES[member]} metric ${formatValue(name)}`;
  const { candidates = [] } = found;
  const example =
    candidates.length > 0
      ? candidates
      : [`The query must return ${RESULTS[member]}, such as:`, `  ${exampleQuery(metric)}`];
  const lines = [`FILL IN the query of this ${what}: ${found.reason}`, ...example];
  log.lose(from, lines.join('\n'));
  return { value: build(PLACEHOLDER), from, isOff: true, matchers };
}

/** Rejects the found query if a part of the selector cannot be converted: the query would select too many series. */
function withSelector(found: FoundQuery, { selector }: NamedMetric): FoundQuery {
  const isPartial = found.query !== null && selector.problems.length > 0;
  return isPartial ? { query: null, reason: 'the selector of the metric cannot be converted' } : found;
}

/**
 * Returns a metric with a query of the manifest. If a dollar sign in the query would start a variable of promscaler,
 * the metric is commented out.
 */
export function queryItem(
  member: 'object' | 'external',
  body: PlainObject & { readonly query: string },
  { from, log }: Pick<Placed, 'from' | 'log'>,
): DraftItem {
  const [variable] = listVariables(body.query);
  if (variable === undefined) return { value: { [member]: body }, from, isOff: false };
  const message = `the query contains $${variable.name}, which would be a variable of promscaler: write the query without this text`;
  log.lose(from, message);
  return { value: { [member]: body }, from, isOff: true };
}

const QUERIED = ['pods', 'object', 'external'] as const;

/** Adds a number to names that occur several times within a type, which Kubernetes allows. Omits default names. */
export function withUniqueNames(items: readonly DraftItem[]): readonly DraftItem[] {
  const taken = new Set<string>();
  return items.map((item) => {
    const member = QUERIED.find((one) => item.value[one] !== undefined);
    const body = member === undefined ? null : (item.value[member] as NamedBody);
    if (member === undefined || body === null || item.isOff) return item;
    const name = unusedName(body.metric.name, member, taken);
    taken.add(`${member} ${name}`);
    const isImplied = metricNames(body.query)[0] === name;
    const members = Object.entries({ ...body, metric: { name } });
    const kept = members.filter(([key]) => key !== 'metric' || !isImplied);
    return { ...item, value: { [member]: Object.fromEntries(kept) } };
  });
}

interface NamedBody extends PlainObject {
  readonly metric: { readonly name: string };
  readonly query: string;
}

function unusedName(name: string, member: string, taken: ReadonlySet<string>): string {
  let unique = name;
  for (let count = 2; taken.has(`${member} ${unique}`); count += 1) unique = `${name}-${count}`;
  return unique;
}

/** A metric of the custom metrics API (Pods, Object) or of the external metrics API. */
export interface NamedMetric {
  readonly member: 'pods' | 'object' | 'external';
  readonly name: string;
  readonly selector: LabelMatchers;
  /** Null: the metric has no object. */
  readonly objectKind: string | null;
  /** API group of the object; empty: the core group. */
  readonly objectGroup: string | null;
}

/** The query of a metric, or why it is not known. */
export type FoundQuery =
  | { readonly query: string; readonly notes: readonly string[] }
  | {
      readonly query: null;
      readonly reason: string;
      /** Queries from which the user must choose. */
      readonly candidates?: readonly string[];
    };

export type MetricQueries = (metric: NamedMetric) => FoundQuery;

/**
 * Used if there are no rules of prometheus-adapter. No query is known, because a metrics API does not report its
 * queries.
 */
export const NO_QUERIES: MetricQueries = ({ name }) => ({ query: null, reason: originOf(name) });

function originOf(name: string): string {
  if (/^s\d+-/.test(name)) return 'the metric seems to come from KEDA: import its ScaledObject instead';
  if (name.startsWith('datadogmetric@')) return 'the metric comes from Datadog, not from Prometheus';
  if (name.includes('|')) return 'the metric seems to come from Google Cloud Monitoring, not from Prometheus';
  return 'pass the rules of prometheus-adapter with --adapter-config';
}

function exampleQuery({ member, name, selector, objectKind }: NamedMetric): string {
  const series = /^[A-Za-z_:][\w:]*$/.test(name) ? name : 'METRIC';
  // Assumes that the label for the object is named after the kind, as in the default of prometheus-adapter.
  const kind = (objectKind ?? '').toLowerCase();
  const scope = {
    pods: ['namespace="$namespace"', 'pod=~"$pods"'],
    object:
      kind === 'namespace'
        ? ['namespace="$object"']
        : ['namespace="$namespace"', ...(kind === '' ? [] : [`${kind}="$object"`])],
    external: [],
  }[member];
  const labels = [...scope, ...selector.matchers].join(', ');
  const selected = labels === '' ? series : `${series}{${labels}}`;
  return member === 'pods' ? `sum by (pod) (${selected})` : `sum(${selected})`;
}
