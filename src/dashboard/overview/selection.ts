import type { OverviewRow, ScalerState } from '../../api/answers.js';
import { STATES, isState } from '../ui/scaler-states.js';

export const SORT_KEYS = ['name', 'state', 'replicas', 'metric', 'changed'] as const;

export type SortKey = (typeof SORT_KEYS)[number];

/** Filters and order of the viewer. They are in the address. */
export interface Selection {
  readonly search: string;
  /** Null: all namespaces. */
  readonly namespace: string | null;
  /** A row must have at least one of these states; empty: any row. */
  readonly states: readonly ScalerState[];
  readonly sort: SortKey;
  readonly isDescending: boolean;
}

export const EVERYTHING: Selection = {
  search: '',
  namespace: null,
  states: [],
  sort: 'state',
  isDescending: false,
};

/** Ignores unknown parameters, such as those of an older version. */
export function readSelection(parameters: URLSearchParams): Selection {
  const sort = parameters.get('sort') ?? '';
  const states = (parameters.get('state') ?? '').split(',').filter(isState);
  return {
    search: parameters.get('q') ?? '',
    namespace: parameters.get('namespace'),
    states: [...new Set(states)],
    sort: SORT_KEYS.find((key) => key === sort.replace(/^-/, '')) ?? EVERYTHING.sort,
    isDescending: sort.startsWith('-'),
  };
}

/** Omits parameters with default values. */
export function writeSelection(selection: Selection): URLSearchParams {
  const { search, namespace, states, sort, isDescending } = selection;
  const parameters = new URLSearchParams();
  if (search !== '') parameters.set('q', search);
  if (namespace !== null) parameters.set('namespace', namespace);
  if (states.length > 0) parameters.set('state', states.join(','));
  if (sort !== EVERYTHING.sort || isDescending) parameters.set('sort', `${isDescending ? '-' : ''}${sort}`);
  return parameters;
}

/** Returns the rows that match the selection, in its order. */
export function selectRows(rows: readonly OverviewRow[], selection: Selection): readonly OverviewRow[] {
  const words = selection.search.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = new Set(selection.states);
  const found = rows.filter(
    (row) =>
      (selection.namespace === null || row.namespace === selection.namespace) &&
      (wanted.size === 0 || row.states.some((state) => wanted.has(state))) &&
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

/** Does not sort by these states, because they change with the load, and rows would jump. */
const FLEETING: readonly ScalerState[] = ['waiting', 'scaling'];
const URGENT = STATES.filter((state) => !FLEETING.includes(state));

const VALUES: Readonly<Record<Exclude<SortKey, 'name'>, (row: OverviewRow) => number | null>> = {
  state: ({ states: [first] }) => {
    const rank = first === undefined ? -1 : URGENT.indexOf(first);
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

/** Number of rows per state and per namespace. */
export interface Counts {
  readonly states: ReadonlyMap<ScalerState, number>;
  /** Ordered by name. */
  readonly namespaces: readonly (readonly [string, number])[];
}

export function countRows(rows: readonly OverviewRow[]): Counts {
  const states = new Map<ScalerState, number>();
  const namespaces = new Map<string, number>();
  for (const row of rows) {
    namespaces.set(row.namespace, (namespaces.get(row.namespace) ?? 0) + 1);
    for (const state of row.states) states.set(state, (states.get(state) ?? 0) + 1);
  }
  return { states, namespaces: [...namespaces].sort(([a], [b]) => (a < b ? -1 : 1)) };
}
