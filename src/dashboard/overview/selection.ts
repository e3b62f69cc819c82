import type { OverviewRow, ScalerState } from '../../api/answers.js';
import { isSeverity } from '../ui/severities.js';

type Severity = ScalerState['severity'];

export const SORT_KEYS = ['name', 'state', 'replicas', 'metric', 'changed'] as const;

export type SortKey = (typeof SORT_KEYS)[number];

/** Filters and order of the viewer. They are in the address. */
export interface Selection {
  readonly search: string;
  /** Null: all namespaces. */
  readonly namespace: string | null;
  /** Empty: any row. */
  readonly severities: readonly Severity[];
  readonly sort: SortKey;
  readonly isDescending: boolean;
}

export const EVERYTHING: Selection = {
  search: '',
  namespace: null,
  severities: [],
  sort: 'state',
  isDescending: false,
};

/** Ignores unknown parameters, such as those of an older version. */
export function readSelection(parameters: URLSearchParams): Selection {
  const sort = parameters.get('sort') ?? '';
  const severities = (parameters.get('severity') ?? '').split(',').filter(isSeverity);
  return {
    search: parameters.get('q') ?? '',
    namespace: parameters.get('namespace'),
    severities: [...new Set(severities)],
    sort: SORT_KEYS.find((key) => key === sort.replace(/^-/, '')) ?? EVERYTHING.sort,
    isDescending: sort.startsWith('-'),
  };
}

/** Omits parameters with default values. */
export function writeSelection(selection: Selection): URLSearchParams {
  const { search, namespace, severities, sort, isDescending } = selection;
  const parameters = new URLSearchParams();
  if (search !== '') parameters.set('q', search);
  if (namespace !== null) parameters.set('namespace', namespace);
  if (severities.length > 0) parameters.set('severity', severities.join(','));
  if (sort !== EVERYTHING.sort || isDescending) parameters.set('sort', `${isDescending ? '-' : ''}${sort}`);
  return parameters;
}

/** Returns the rows that match the selection, in its order. */
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
    text = `${row.namespace}/${row.name} ${row.kind}/${row.target} ${row.metric?.name ?? ''}`.toLowerCase();
    texts.set(row, text);
  }
  return words.every((word) => text.includes(word));
}

/** Sorting is stable: equal rows stay ordered by namespace and name. Rows without a value are last in both directions. */
function sortRows(rows: readonly OverviewRow[], { sort, isDescending }: Selection): readonly OverviewRow[] {
  if (sort === 'name') return isDescending ? rows.toReversed() : rows;
  const value = VALUES[sort];
  const sign = isDescending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, value: value(row) }));
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
    return sign * (a.value - b.value);
  });
  return keyed.map(({ row }) => row);
}

/** The others change with the load: rows sorted by them would jump. */
const URGENT: readonly Severity[] = ['cannot-follow', 'held'];

const VALUES: Readonly<Record<Exclude<SortKey, 'name'>, (row: OverviewRow) => number | null>> = {
  state: ({ state: { severity } }) => {
    const rank = URGENT.indexOf(severity);
    return rank === -1 ? URGENT.length : rank;
  },
  replicas: ({ current }) => current,
  metric: ({ metric }) => ratioOf(metric),
  // The oldest change has the smallest key.
  changed: ({ changedAt }) => (changedAt === null ? null : Date.parse(changedAt)),
};

/** Returns value divided by target; null: unknown. */
export function ratioOf(metric: OverviewRow['metric']): number | null {
  if (metric === null || metric.value === null || metric.target <= 0) return null;
  return metric.value / metric.target;
}

/** Number of rows per severity and per namespace. */
export interface Counts {
  readonly severities: ReadonlyMap<Severity, number>;
  /** Ordered by name. */
  readonly namespaces: readonly (readonly [string, number])[];
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
