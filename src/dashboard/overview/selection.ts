import type { OverviewRow, ScalerState } from '../../api/answers.js';
import { SEVERITIES, SEVERITY_STYLES, isSeverity } from '../ui/severities.js';
import { keyOf } from './merge-overview.js';
import { groupBy } from '../../units/maps.js';

type Severity = ScalerState['severity'];

export const SORT_KEYS = ['name', 'state', 'replicas', 'metric', 'since', 'changed'] as const;

export type SortKey = (typeof SORT_KEYS)[number];

/**
 * Returns whether an order starts with the largest value by default: viewers look for high counts and recent changes.
 */
export function isLargestFirst(sort: SortKey): boolean {
  return sort !== 'name' && sort !== 'state';
}

/** Columns that the viewer can hide. The name and the state are always shown. */
export const COLUMN_NAMES = ['replicas', 'trend', 'metric', 'reason', 'since', 'changed'] as const;

export type ColumnName = (typeof COLUMN_NAMES)[number];

/** `label`: rows are grouped by the label that the service config sets. */
export type Group = 'namespace' | 'label';

export function readGroup(text: string | null): Group | null {
  return text === 'namespace' || text === 'label' ? text : null;
}

/** What the viewer has selected: filters, order and layout. The address of the page contains it. */
export interface Selection {
  readonly search: string;
  /** The namespace of the shown rows; null: all namespaces. */
  readonly namespace: string | null;
  /** Severities of the shown rows; empty: all. */
  readonly severities: readonly Severity[];
  readonly sort: SortKey;
  readonly isDescending: boolean;
  /** How rows are grouped. Null: by severity if they are sorted by state, otherwise not at all. */
  readonly group: Group | null;
  /** Keys of the collapsed sections. */
  readonly closed: readonly string[];
  readonly columns: readonly ColumnName[];
}

export const EVERYTHING: Selection = {
  search: '',
  namespace: null,
  severities: [],
  sort: 'state',
  isDescending: false,
  group: null,
  closed: [],
  columns: COLUMN_NAMES.filter((name) => name !== 'changed'),
};

/** Reads the selection from the address. Unknown parameters, for example of an older version, are ignored. */
export function readSelection(parameters: URLSearchParams): Selection {
  const sort = parameters.get('sort') ?? '';
  const severities = listIn(parameters, 'severity').filter(isSeverity);
  const columns = parameters.has('columns') ? listIn(parameters, 'columns') : EVERYTHING.columns;
  return {
    search: parameters.get('q') ?? '',
    namespace: parameters.get('namespace'),
    severities: [...new Set(severities)],
    sort: SORT_KEYS.find((key) => key === sort.replace(/^-/, '')) ?? EVERYTHING.sort,
    isDescending: sort.startsWith('-'),
    group: readGroup(parameters.get('group')),
    closed: [...new Set(listIn(parameters, 'closed'))],
    columns: COLUMN_NAMES.filter((name) => columns.includes(name)),
  };
}

function listIn(parameters: URLSearchParams, name: string): readonly string[] {
  return (parameters.get(name) ?? '').split(',').filter((part) => part !== '');
}

/** Returns the selection as parameters of the address. Defaults are omitted. */
export function writeSelection(selection: Selection): URLSearchParams {
  const { search, namespace, severities, sort, isDescending, group, closed, columns } = selection;
  const parameters = new URLSearchParams();
  if (search !== '') parameters.set('q', search);
  if (namespace !== null) parameters.set('namespace', namespace);
  if (severities.length > 0) parameters.set('severity', severities.join(','));
  if (sort !== EVERYTHING.sort || isDescending) parameters.set('sort', `${isDescending ? '-' : ''}${sort}`);
  if (group !== null) parameters.set('group', group);
  if (closed.length > 0) parameters.set('closed', closed.join(','));
  if (columns.join() !== EVERYTHING.columns.join()) parameters.set('columns', columns.join(','));
  return parameters;
}

/** Returns the rows that match the selection, in the selected order. */
export function selectRows(rows: readonly OverviewRow[], selection: Selection): readonly OverviewRow[] {
  const words = selection.search.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = new Set(selection.severities);
  const found = rows.filter(
    (row) =>
      (selection.namespace === null || row.namespace === selection.namespace) &&
      (wanted.size === 0 || wanted.has(row.state.severity)) &&
      (words.length === 0 || hasWords(row, words)),
  );
  return sortRows(found, selection);
}

const texts = new WeakMap<OverviewRow, string>();

function hasWords(row: OverviewRow, words: readonly string[]): boolean {
  let text = texts.get(row);
  if (text === undefined) {
    const { namespace, name, kind, target, metric, state, group } = row;
    text =
      `${namespace}/${name} ${kind ?? ''}/${target ?? ''} ${metric?.name ?? ''} ${state.name} ${group ?? ''}`.toLowerCase();
    texts.set(row, text);
  }
  return words.every((word) => text.includes(word));
}

/**
 * Sorts rows. Rows with equal values stay in the order of namespace and name. Rows without a value are last in both
 * directions.
 */
function sortRows(rows: readonly OverviewRow[], { sort, isDescending }: Selection): readonly OverviewRow[] {
  const sign = isDescending ? -1 : 1;
  if (sort === 'name') return isDescending ? rows.toReversed() : rows;
  if (sort === 'state') return rows.toSorted((a, b) => sign * byUrgency(a, b));
  const value = VALUES[sort];
  const keyed = rows.map((row) => ({ row, value: value(row) }));
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
    return sign * (a.value - b.value);
  });
  return keyed.map(({ row }) => row);
}

/** Returns the rows of scalers that cannot follow their load, the worst first. */
export function worstFirst(rows: readonly OverviewRow[]): readonly OverviewRow[] {
  return rows.filter(({ state }) => state.severity === 'cannot-follow').sort(byUrgency);
}

/**
 * Compares two rows by severity. Rows of scalers that cannot follow their load are compared by load in percent of the
 * target (higher first), rounded as the rows show it, and then by the start of the state (earlier first). An unknown
 * load counts as `UNKNOWN_PERCENT`. Within other severities, the load is not compared, because rows would jump.
 */
function byUrgency(a: OverviewRow, b: OverviewRow): number {
  const { severity } = a.state;
  const difference = SEVERITIES.indexOf(severity) - SEVERITIES.indexOf(b.state.severity);
  if (difference !== 0 || severity !== 'cannot-follow') return difference;
  return overloadOf(b) - overloadOf(a) || timeOf(a.state.since) - timeOf(b.state.since);
}

/**
 * Returns the load in percent of the target, at least 100. The unknown load of a missing workload is higher than other
 * unknown loads, because the workload serves nothing.
 */
export function overloadOf({ metric, state }: OverviewRow): number {
  const percent = percentOf(metric);
  if (percent === null) return UNKNOWN_PERCENT + Number(state.name === 'NoTarget');
  return Math.max(100, percent);
}

/**
 * The assumed percentage of an unknown load: above a load that the pods can still serve, below a load that they cannot
 * serve.
 */
export const UNKNOWN_PERCENT = 130;

function timeOf(text: string | null): number {
  return text === null ? 0 : Date.parse(text);
}

const VALUES: Readonly<Record<Exclude<SortKey, 'name' | 'state'>, (row: OverviewRow) => number | null>> = {
  replicas: ({ current }) => current,
  metric: ({ metric }) => ratioOf(metric),
  // The start of the state: the state that has lasted longest has the smallest value.
  since: ({ state: { since } }) => (since === null ? null : Date.parse(since)),
  changed: ({ changedAt }) => (changedAt === null ? null : Date.parse(changedAt)),
};

/** Returns value divided by target; null: unknown. */
function ratioOf(metric: OverviewRow['metric']): number | null {
  if (metric === null || metric.value === null || metric.target <= 0) return null;
  return metric.value / metric.target;
}

/** Returns the value in percent of the target, as the rows show it; null: unknown. */
export function percentOf(metric: OverviewRow['metric']): number | null {
  const ratio = ratioOf(metric);
  return ratio === null ? null : Math.round(ratio * 100);
}

export interface SectionLine {
  readonly key: string;
  /** The severity of the rows in the section; null: the section is for a namespace or a label value. */
  readonly severity: Severity | null;
  readonly title: string;
  readonly rows: number;
  readonly isClosed: boolean;
}

/** A line of the list: either the heading of a section or a scaler. */
export type Line = { readonly section: SectionLine } | { readonly row: OverviewRow };

/** Divides sorted rows into sections. Sections are in the order of their first rows. */
export function linesOf(rows: readonly OverviewRow[], selection: Selection): readonly Line[] {
  const { group, sort, closed } = selection;
  if (group === null && sort !== 'state') return rows.map((row) => ({ row }));
  const sections = groupBy(rows, (row) =>
    group === null ? row.state.severity : group === 'label' ? (row.group ?? NO_LABEL) : row.namespace,
  );
  return [...sections].flatMap(([key, members]): readonly Line[] => {
    const severity = group === null && isSeverity(key) ? key : null;
    const title = severity === null ? key : SEVERITY_STYLES[severity].text;
    const isClosed = closed.includes(key);
    const section = { key, severity, title, rows: members.length, isClosed };
    return [{ section }, ...(isClosed ? [] : members.map((row) => ({ row })))];
  });
}

/**
 * The section of rows without the label. It cannot be mistaken for a label value, because label values contain no
 * spaces.
 */
const NO_LABEL = 'no label';

export function lineKey(line: Line): string {
  return 'row' in line ? keyOf(line.row) : line.section.key;
}

/** The number of rows of each severity and of each namespace. */
export interface Counts {
  readonly severities: ReadonlyMap<Severity, number>;
  /** Pairs of namespace and number of rows, sorted by name. */
  readonly namespaces: readonly (readonly [string, number])[];
}

export interface FilterProps {
  readonly selection: Selection;
  readonly onChange: (change: Partial<Selection>) => void;
  readonly counts: Counts;
  /** The label by which rows can be grouped; undefined: there is none. */
  readonly groupLabel: string | undefined;
}

export function countRows(rows: readonly OverviewRow[]): Counts {
  const severities = new Map<Severity, number>();
  const namespaces = new Map<string, number>();
  for (const row of rows) {
    namespaces.set(row.namespace, (namespaces.get(row.namespace) ?? 0) + 1);
    const { severity } = row.state;
    severities.set(severity, (severities.get(severity) ?? 0) + 1);
  }
  return { severities, namespaces: [...namespaces].sort(([a], [b]) => (a < b ? -1 : 1)) };
}
