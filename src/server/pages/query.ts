import type { Request } from 'express';
import { parseInstant } from '../../units/time.js';
import type { Instant } from '../../units/time.js';

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
  // A plus sign in a query string is decoded as a space, which would make 10:00:00+02:00 invalid.
  const instant = parseInstant(text.replace(' ', '+'));
  if (instant !== null) return instant;
  throw new BadRequest(`${name} must be an RFC 3339 time, such as 2026-01-01T10:42:30Z`);
}

/** Returns null if the parameter is unset. Throws `BadRequest` if it is repeated. */
export function readText(query: Query, name: string): string | null {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value ?? null;
  throw new BadRequest(`${name} is given more than once`);
}
