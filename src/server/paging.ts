import { BadRequest, readText } from './query.js';
import type { Query } from './query.js';

/** Where a page begins or goes on, as it stands in `continue`: opaque to clients, of one list only. */
export interface ContinueToken {
  /** Which list; a token of another one is refused. */
  readonly list: string;
  /** The last row of the page before. */
  readonly behind: string;
}

/** The text of a token. */
export function writeToken({ list, behind }: ContinueToken): string {
  return Buffer.from(`${list}:${behind}`, 'utf8').toString('base64url');
}

/** The row that `continue` goes on behind; null where it is left out. Throws `BadRequest` for what is no token of the list. */
export function readToken(query: Query, list: string): string | null {
  const text = readText(query, 'continue');
  if (text === null) return null;
  const read = Buffer.from(text, 'base64url').toString('utf8');
  const behind = read.slice(list.length + 1);
  // What does not read back as written was cut, changed or never ours.
  if (text !== '' && writeToken({ list, behind }) === text) return behind;
  throw new BadRequest('continue must be what the page before gave');
}

/** The JSON of an answer of about so many bytes at most, whatever its rows hold. */
const MAX_BYTES = 1024 * 1024;

export interface Page<Row> {
  /** JSON of each row. */
  readonly items: readonly string[];
  /** The last row, where more follow; null: this is the end. */
  readonly moreBehind: Row | null;
}

/** As many rows as `limit` and an answer of 1 MiB allow, at least one. */
export function fillPage<Row>(
  rows: readonly Row[],
  { limit, view }: { readonly limit: number; readonly view: (row: Row) => unknown },
): Page<Row> {
  const items: string[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, limit)) {
    const json = JSON.stringify(view(row));
    bytes += Buffer.byteLength(json) + 1;
    if (items.length > 0 && bytes > MAX_BYTES) break;
    items.push(json);
  }
  return { items, moreBehind: rows.length > items.length ? (rows[items.length - 1] ?? null) : null };
}

/** The JSON of a page with the fields that stand beside its rows. */
export function writePage(
  { items }: Page<unknown>,
  fields: Readonly<Record<string, string | boolean | null | readonly object[]>>,
): string {
  const others = Object.entries(fields).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  return `{${[...others, `"items":[${items.join(',')}]`].join(',')}}`;
}
