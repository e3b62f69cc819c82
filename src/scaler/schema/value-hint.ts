import * as z from 'zod';
import { parseQuantity } from '../../units/quantity.js';
import { formatValue, type Path } from '../problems/finding.js';

/** Longest string that may be a misspelled number. */
const LONGEST = 40;

const PERCENT_FIELD = /percent|utilization/i;

const NUMBER = /^[+-]?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?$/;

/**
 * Returns how to fix a value where a number is required, as the end of a message: `: remove the quotes`, `: write 300`
 * for `5m` in a field of seconds, `: write 60` for `60%` or 0.6 in a field of percent. Empty: there is no suggestion.
 */
export function numberHint(value: unknown, path: Path, field: z.core.$ZodType | undefined): string {
  if (typeof value === 'number' && field !== undefined) return shareHint(value, path, field);
  if (typeof value !== 'string' || value.length > LONGEST || field === undefined) return '';
  const text = value.trim();
  if (NUMBER.test(text)) return fittingHint(Number(text), field, 'remove the quotes');
  const meant = isOfSeconds(path) ? secondsIn(text) : isOfPercent(path) ? percentIn(text) : null;
  if (meant === null) return '';
  const unit = isOfSeconds(path) ? 'seconds' : 'percent';
  return fittingHint(meant, field, `write ${meant}`, `${text} is ${meant} ${unit}`);
}

function shareHint(value: number, path: Path, field: z.core.$ZodType): string {
  const percent = Number((value * 100).toPrecision(12));
  const isShare = value > 0 && value < 1 && PERCENT_FIELD.test(String(path.at(-1)));
  return isShare && z.safeParse(field, percent).success ? `: write ${percent}` : '';
}

/**
 * Returns how to fix a value where an object is required, as the end of a message: `: write podStart: { seconds: 60 }`
 * for `60s`, or the required fields: ` with query, drainSeconds`. If no field is required, the first fields are named.
 */
export function objectHint(value: unknown, path: Path, field: z.core.$ZodType | undefined): string {
  if (!(field instanceof z.ZodObject)) return '';
  const fields = fieldsOf(field);
  const required = fields.filter(([, { isOptional }]) => !isOptional);
  const key = typeof path.at(-1) === 'string' ? `${path.at(-1)}: ` : '';
  const named = fields.find(([name]) => name === value);
  if (named !== undefined) return `: write ${key}{ ${named[0]}: ${outline(named[1].schema)} }`;
  const [only, second] = required.length > 0 ? required : fields;
  if (only === undefined) return '';
  const written = second === undefined ? valueFor(value, [...path, only[0]], only[1].schema) : null;
  if (written !== null) return `: write ${key}{ ${only[0]}: ${written} }`;
  if (required.length > 0) return ` with ${required.map(([name]) => name).join(', ')}`;
  const plain = fields.filter(([, { schema }]) => !(schema instanceof z.ZodEnum)).map(([name]) => name);
  return plain.length === 0 ? '' : ` with fields such as ${plain.slice(0, 3).join(', ')}`;
}

function fieldsOf(
  object: z.ZodObject,
): readonly (readonly [string, { readonly schema: z.core.$ZodType; readonly isOptional: boolean }])[] {
  const shape: Readonly<Record<string, z.core.$ZodType>> = object.shape;
  return Object.entries(shape).map(([name, schema]) => [
    name,
    {
      schema: unwrap(schema) ?? schema,
      isOptional: schema instanceof z.ZodOptional || schema instanceof z.ZodDefault,
    },
  ]);
}

/** Returns an object of a schema with its required fields, such as `{ served: { query: ... } }`. */
function outline(schema: z.core.$ZodType): string {
  if (!(schema instanceof z.ZodObject)) return '...';
  const required = fieldsOf(schema).filter(([, { isOptional }]) => !isOptional);
  const inner = required.map(([name, field]) => `${name}: ${outline(field.schema)}`);
  return inner.length === 0 ? '{ ... }' : `{ ${inner.join(', ')} }`;
}

/** Returns the value in YAML as the field accepts it, with durations in seconds; null: the field does not accept it. */
function valueFor(value: unknown, path: Path, field: z.core.$ZodType): string | null {
  const meant = typeof value === 'string' && isOfSeconds(path) ? secondsIn(value.trim()) : value;
  if (meant === null || typeof meant === 'object' || !z.safeParse(field, meant).success) return null;
  return formatValue(meant);
}

/** Returns the schema without the wrappers of optional fields and defaults. */
export function unwrap(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let current = schema;
  while (
    current instanceof z.ZodOptional ||
    current instanceof z.ZodDefault ||
    current instanceof z.ZodPrefault
  ) {
    current = current.unwrap();
  }
  return current;
}

/**
 * Returns `step`, which fixes the value, if the field accepts the number; otherwise the bound that the number violates.
 */
function fittingHint(meant: number, field: z.core.$ZodType, step: string, fact?: string): string {
  const result = z.safeParse(field, meant);
  if (result.success) return `: ${step}`;
  // The last issue, because Zod reports the bound of all integers before the bound of the field.
  const issue = result.error.issues.findLast((one) => boundOf(one) !== null);
  if (issue === undefined) return '';
  const bound = `${issue.code === 'too_small' ? 'at least' : 'at most'} ${boundOf(issue)}`;
  return fact === undefined ? ` that is ${bound}: ${step}` : ` that is ${bound}: ${fact}`;
}

/** Returns the bound that a number violates; null: the issue is not about a bound. */
export function boundOf(issue: z.core.$ZodIssue): number | null {
  if (issue.code === 'too_small') return Number(issue.minimum);
  return issue.code === 'too_big' ? Number(issue.maximum) : null;
}

export function isOfSeconds(path: Path): boolean {
  return /seconds$/i.test(String(path.at(-1)));
}

function isOfPercent(path: Path): boolean {
  return PERCENT_FIELD.test(String(path.at(-1))) || path.includes('policies');
}

const SECONDS_OF: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3600, m: 60, s: 1 };
const UNITS = /^(?:weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)$/i;

/**
 * Returns the seconds of a duration as in Go, Prometheus or prose: `5m`, `1h30m`, `90 s`, `2 days`; null: the text is
 * not a duration.
 */
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
 * Returns how to fix a string that is not a quantity, as the end of a message: `: write 500M (powers of 1000) or 500Mi
 * (powers of 1024)` for `500MB`. Empty: there is no suggestion.
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
  // The suffix itself is valid; only the space before it is invalid.
  if (parseQuantity(`1${unit}`) !== null) return [unit];
  const match = /^([kmgtpe]?)(i?)(b|bytes?)?$/i.exec(unit);
  if (match === null) return [];
  const [, letter = '', binary = ''] = match;
  if (letter === '') return binary === '' ? [''] : [];
  const large = letter.toUpperCase();
  const ofThousands = large === 'K' ? 'k' : large;
  return binary === '' ? [ofThousands, `${large}i`] : [`${large}i`];
}
