import { fillPage, writePage, writeToken } from '../pages/paging.js';

interface Row {
  readonly namespace: string;
  readonly name: string;
}

/** A page of `/api/v1/scalers`. */
export interface ScalerPage {
  readonly version: string;
  readonly problems: readonly object[];
  readonly items: readonly Row[];
  readonly continue: string | null;
}

/** Parses the page of another replica; null: invalid. */
export function readPeerPage(body: Buffer): ScalerPage | null {
  try {
    const page: unknown = JSON.parse(body.toString('utf8'));
    return isPage(page) ? page : null;
  } catch {
    return null;
  }
}

function isPage(page: unknown): page is ScalerPage {
  if (typeof page !== 'object' || page === null || !('items' in page) || !('continue' in page)) return false;
  const { items, continue: token } = page;
  if (!Array.isArray(items) || (token !== null && typeof token !== 'string')) return false;
  return items.every(
    (item: unknown) =>
      typeof item === 'object' &&
      item !== null &&
      'namespace' in item &&
      'name' in item &&
      typeof item.namespace === 'string' &&
      typeof item.name === 'string',
  );
}

function keyOf({ namespace, name }: Row): string {
  return `${namespace}/${name}`;
}

/**
 * Merges the pages of all replicas, with the own page first. If a page has a next page, rows that sort after
 * its last row are left for the next merged page, because that replica may have rows before them. A scaler
 * that is being taken over may be on two pages; the first one is used. If `unreachable` is above 0, `leader`
 * is false, and the scalers of these replicas are missing.
 */
export function mergePages(
  pages: readonly [ScalerPage, ...ScalerPage[]],
  { limit, unreachable }: { readonly limit: number; readonly unreachable: readonly string[] },
): string {
  const [own] = pages;
  const ends = pages.flatMap(({ items, continue: token }) => {
    const last = items.at(-1);
    return token === null || last === undefined ? [] : [keyOf(last)];
  });
  const end = ends.sort()[0] ?? null;
  const rows = new Map<string, Row>();
  for (const row of pages.flatMap(({ items }) => items)) {
    const key = keyOf(row);
    if ((end === null || key <= end) && !rows.has(key)) rows.set(key, row);
  }
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
  const page = fillPage(sorted, { limit, view: ([, row]) => row });
  const behind = page.moreBehind?.[0] ?? end;
  return writePage(page, {
    version: own.version,
    leader: unreachable.length === 0,
    unreachable,
    problems: own.problems,
    continue: behind === null ? null : writeToken({ list: 'scalers', behind }),
  });
}
