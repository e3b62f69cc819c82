import * as z from 'zod';
import { parseQuantity } from '../../units/quantity.js';
import type { Path } from '../problems/finding.js';

/** A longer string is not a misspelled number. */
const LONGEST = 40;

const NUMBER = /^[+-]?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?$/;

/**
 * Returns how to fix a string where a number is required. The text ends a message: `: remove the quotes`, `: write 300`
 * for `5m` in a field of seconds, `: write 60` for `60%` in a field of percent. Empty without a suggestion.
 */
export function numberHint(value: unknown, path: Path, field: z.core.$ZodType | undefined): string {
  if (typeof value !== 'string' || value.length > LONGEST || field === undefined) return '';
  const text = value.trim();
  if (NUMBER.test(text)) return fittingHint(Number(text), field, 'remove the quotes');
  const meant = isOfSeconds(path) ? secondsIn(text) : isOfPercent(path) ? percentIn(text) : null;
  if (meant === null) return '';
  const unit = isOfSeconds(path) ? 'seconds' : 'percent';
  return fittingHint(meant, field, `write ${meant}`, `${text} is ${meant} ${unit}`);
}

/** Returns the fix if the field accepts the number; otherwise the bound that the number violates. */
function fittingHint(meant: number, field: z.core.$ZodType, step: string, fact?: string): string {
  const result = z.safeParse(field, meant);
  if (result.success) return `: ${step}`;
  // The bound of the field follows the bound of all integers.
  const issue = result.error.issues.findLast((one) => boundOf(one) !== null);
  if (issue === undefined) return '';
  const bound = `${issue.code === 'too_small' ? 'at least' : 'at most'} ${boundOf(issue)}`;
  return fact === undefined ? ` that is ${bound}: ${step}` : ` that is ${bound}: ${fact}`;
}

/** Returns the violated bound of a number; null for another issue. */
export function boundOf(issue: z.core.$ZodIssue): number | null {
  if (issue.code === 'too_small') return Number(issue.minimum);
  return issue.code === 'too_big' ? Number(issue.maximum) : null;
}

export function isOfSeconds(path: Path): boolean {
  return /seconds$/i.test(String(path.at(-1)));
}

function isOfPercent(path: Path): boolean {
  return /percent|utilization/i.test(String(path.at(-1))) || path.includes('policies');
}

const SECONDS_OF: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3600, m: 60, s: 1 };
const UNITS = /^(?:weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)$/i;

/** Parses a duration as in Go, Prometheus or prose: `5m`, `1h30m`, `90 s`, `2 days`. */
function secondsIn(text: string): number | null {
  const parts = [...text.matchAll(/\s{0,9}(\d{1,15}(?:\.\d{1,9})?)\s{0,9}([a-z]{1,9})/gi)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return null;
  let total = 0;
  for (const [, amount = '', unit = ''] of parts) {
    const length = UNITS.test(unit) ? SECONDS_OF[unit.slice(0, 1).toLowerCase()] : undefined;
    if (length === undefined) return null;
    total += Number(amount) * length;
  }
  return Number.isInteger(total) ? total : null;
}

function percentIn(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*(?:%|percent)$/i.exec(text);
  return match === null ? null : Number(match[1]);
}

/**
 * Returns how to fix a string that is not a quantity. The text ends a message: `: write 500M (powers of 1000) or 500Mi
 * (powers of 1024)` for `500MB`. Empty without a suggestion.
 */
export function quantityHint(value: unknown, path: Path): string {
  if (typeof value !== 'string' || value.length > LONGEST) return '';
  const share = percentIn(value.trim());
  if (share !== null && path.at(-1) === 'tolerance') return `: write ${share / 100}`;
  const match = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))\s*([a-z]*)$/i.exec(value.trim());
  if (match === null) return '';
  const [, amount = '', unit = ''] = match;
  const spellings = unitsMeant(unit).map((suffix) => `${amount}${suffix}`);
  const [first, second] = spellings.filter((text) => (parseQuantity(text) ?? 0n) > 0n && text !== value);
  if (first === undefined) return '';
  return second === undefined
    ? `: write ${first}`
    : `: write ${first} (powers of 1000) or ${second} (powers of 1024)`;
}

/** Returns the Kubernetes suffixes that a unit may mean: M and Mi for `MB` or `mb`, Gi for `gi` or `GiB`. */
function unitsMeant(unit: string): readonly string[] {
  // The suffix is valid; only the space before it is not.
  if (parseQuantity(`1${unit}`) !== null) return [unit];
  const match = /^([kmgtpe]?)(i?)(b|bytes?)?$/i.exec(unit);
  if (match === null) return [];
  const [, letter = '', binary = ''] = match;
  if (letter === '') return binary === '' ? [''] : [];
  const large = letter.toUpperCase();
  const ofThousands = large === 'K' ? 'k' : large;
  return binary === '' ? [ofThousands, `${large}i`] : [`${large}i`];
}
