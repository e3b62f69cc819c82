import type { Overview, OverviewRow } from '../../api/answers.js';

/** All scalers, as of the last answer. */
export interface Fleet {
  readonly facts: Omit<Overview, 'rows' | 'removed' | 'isComplete'>;
  /** The rows, sorted by namespace and name. A row that has not changed is the same object as before. */
  readonly rows: readonly OverviewRow[];
  /**
   * The rows that are new in the last answer, or have other replicas or another state; empty after an answer with all
   * rows.
   */
  readonly news: readonly OverviewRow[];
}

export function keyOf({ namespace, name }: Pick<OverviewRow, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

/** Applies an answer, which contains either all rows or the rows that have changed since `before`. */
export function mergeOverview(before: Fleet | null, answer: Overview): Fleet {
  const { rows, removed, isComplete, ...facts } = answer;
  if (isComplete || before === null) return { facts, rows, news: [] };
  if (rows.length === 0 && removed.length === 0) return { facts, rows: before.rows, news: [] };
  const byKey = new Map(before.rows.map((row) => [keyOf(row), row]));
  for (const key of removed) byKey.delete(key);
  const news: OverviewRow[] = [];
  let isAdded = false;
  for (const row of rows) {
    const key = keyOf(row);
    const old = byKey.get(key);
    isAdded ||= old === undefined;
    if (old === undefined || isNews(old, row)) news.push(row);
    byKey.set(key, row);
  }
  const merged = [...byKey.values()];
  if (isAdded) merged.sort(byNamespaceAndName);
  return { facts, rows: merged, news };
}

function isNews(old: OverviewRow, row: OverviewRow): boolean {
  return old.current !== row.current || old.desired !== row.desired || old.state.name !== row.state.name;
}

function byNamespaceAndName(a: OverviewRow, b: OverviewRow): number {
  return compare(a.namespace, b.namespace) || compare(a.name, b.name);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
