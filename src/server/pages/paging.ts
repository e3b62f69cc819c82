import { cleanText } from '../../units/clean-text.js';
import { BadRequest, readText } from './query.js';
import type { Query } from './query.js';

/** Start of the next page. Encoded in `continue`, which is opaque to clients and valid for one list only. */
interface ContinueToken {
  readonly list: string;
  readonly behind: string;
}

export function writeToken({ list, behind }: ContinueToken): string {
  return Buffer.from(`${list}:${behind}`, 'utf8').toString('base64url');
}

/** Returns the last row before the page, or null if `continue` is unset. Throws `BadRequest` for an invalid token. */
export function readToken(query: Query, list: string): string | null {
  const text = readText(query, 'continue');
  if (text === null) return null;
  const read = Buffer.from(text, 'base64url').toString('utf8');
  const behind = read.slice(list.length + 1);
  // A token that encodes differently was truncated, changed, or not issued by this API.
  if (text !== '' && writeToken({ list, behind }) === text) return behind;
  throw new BadRequest('continue must be the value of `continue` of the previous page');
}

/** Maximum size of the JSON, except for a single larger row. */
const MAX_BYTES = 1024 * 1024;

interface Page<Row> {
  readonly items: readonly string[];
  /** Last row of this page if more rows follow; null: last page. */
  readonly moreBehind: Row | null;
}

/** Returns at least one row, and at most as many as `limit` and a response of 1 MiB allow. */
export function fillPage<Row>(
  rows: readonly Row[],
  { limit, view }: { readonly limit: number; readonly view: (row: Row) => unknown },
): Page<Row> {
  const items: string[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, limit)) {
    const json = cleanText(JSON.stringify(view(row)));
    bytes += Buffer.byteLength(json) + 1;
    if (items.length > 0 && bytes > MAX_BYTES) break;
    items.push(json);
  }
  return { items, moreBehind: rows.length > items.length ? (rows[items.length - 1] ?? null) : null };
}

export function writePage(
  { items }: Page<unknown>,
  fields: Readonly<Record<string, string | boolean | null | readonly (object | string)[]>>,
): string {
  const others = Object.entries(fields).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  return `{${[...others, `"items":[${items.join(',')}]`].join(',')}}`;
}
