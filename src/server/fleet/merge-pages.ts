import { z } from 'zod';
import { scalerListSchema, scalerSchema } from '../../api/answer-schemas.js';
import type { Answer, ScalerList } from '../../api/answers.js';
import { readAnswerOrNull } from '../../api/read-answer.js';
import type { Viewer } from '../access/viewer.js';
import { parseJson } from './ask-peer.js';
import { fillPage, writePage, writeToken } from '../pages/paging.js';

/** What the merge needs of a page of `/api/v1/scalers`. Rows pass as they are. */
const pageSchema = scalerListSchema
  .pick({ version: true, continue: true })
  .extend({ items: z.array(scalerSchema.pick({ namespace: true, name: true })) });

export type ScalerPage = Answer<typeof pageSchema>;

type Row = ScalerPage['items'][number];

/** Parses the page of another replica, without rows that the viewer may not see; null: invalid. */
export function readPeerPage(body: Buffer, viewer: Viewer): ScalerPage | null {
  const page = readAnswerOrNull(pageSchema, parseJson(body.toString('utf8')));
  return page === null ? null : { ...page, items: page.items.filter((row) => viewer.sees(row.namespace)) };
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
  pages: readonly [ScalerPage & Pick<ScalerList, 'problems'>, ...ScalerPage[]],
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
