import type { Request } from 'express';
import { cleanText } from '../../units/clean-text.js';
import { type Instant, parseInstant } from '../../units/time.js';

export type Query = Request['query'];

export class BadRequest extends Error {
  override name = 'BadRequest';
}

interface Bounds<Standard> {
  readonly standard: Standard;
  readonly least: number;
  readonly most: number;
}

export function readInteger<Standard>(
  query: Query,
  name: string,
  { standard, least, most }: Bounds<Standard>,
): number | Standard {
  const text = readText(query, name);
  if (text === null) return standard;
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new BadRequest(`${name} must be an integer from ${least} to ${most}`);
}

export function readFlag(query: Query, name: string): boolean {
  const text = readText(query, name);
  if (text === null || text === 'false') return false;
  if (text === 'true') return true;
  throw new BadRequest(`${name} must be true or false`);
}

export function readTime(query: Query, name: string): Instant | null {
  const text = readText(query, name);
  if (text === null) return null;
  // A plus sign in a query string was decoded as a space, so 10:00:00+02:00 would be invalid.
  const instant = parseInstant(text.replace(' ', '+'));
  if (instant !== null) return instant;
  throw new BadRequest(`${name} must be an RFC 3339 time, such as 2026-01-01T10:42:30Z`);
}

/** Returns a parameter; null: it is unset. Throws `BadRequest` if it is set more than once. */
export function readText(query: Query, name: string): string | null {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value ?? null;
  throw new BadRequest(`${name} is given more than once`);
}

/** Where the next page starts. Clients get it encoded as `continue`; it is valid for one list only. */
interface ContinueToken {
  readonly list: string;
  readonly behind: string;
}

export function writeToken({ list, behind }: ContinueToken): string {
  return Buffer.from(`${list}:${behind}`, 'utf8').toString('base64url');
}

/** Returns the last row of the previous page; null: `continue` is unset. Throws `BadRequest` if it is invalid. */
export function readToken(query: Query, list: string): string | null {
  const text = readText(query, 'continue');
  if (text === null) return null;
  const read = Buffer.from(text, 'base64url').toString('utf8');
  const behind = read.slice(list.length + 1);
  // If encoding `behind` again gives another string, the token was truncated or changed, or is not from this API.
  if (text !== '' && writeToken({ list, behind }) === text) return behind;
  throw new BadRequest('continue must be the value of `continue` in the previous page');
}

/** Maximum size of the rows of a page as JSON. A single larger row is a separate page. */
const MAX_BYTES = 1024 * 1024;

interface Page<Row> {
  readonly items: readonly string[];
  /** The last row of this page if there are more rows; null: this is the last page. */
  readonly moreBehind: Row | null;
}

/** Returns as many rows as `limit` and a response of 1 MiB allow, but at least one. */
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
