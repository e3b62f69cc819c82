import type { Viewer } from '../access/viewer.js';
import { parseJson } from './ask-peer.js';
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

/** Parses the page of another replica, without rows that the viewer may not see; null: invalid. */
export function readPeerPage(body: Buffer, viewer: Viewer): ScalerPage | null {
  const page = parseJson(body.toString('utf8'));
  return isPage(page) ? { ...page, items: page.items.filter((row) => viewer.sees(row.namespace)) } : null;
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
 * Merges the pages of all replicas, starting with the page of this replica. The merged page must not extend beyond the
 * last row of a page that continues, because the next rows of that replica are unknown. A scaler that changes its
 * replica may be on two pages; the first page is used. If a replica is `unreachable`, `leader` is false and its scalers
 * are missing.
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
