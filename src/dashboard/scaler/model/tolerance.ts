import { isPlainObject } from '../../../scaler/plain-json.js';
import { milliToNumber, parseQuantity } from '../../../units/quantity.js';

/** Tolerances as fractions of the target. */
export interface Tolerances {
  readonly down: number;
  readonly up: number;
}

export const DEFAULT_TOLERANCE = 0.1;

/** Reads the tolerances of a document: of `behavior`, of the spec, or the default. */
export function readTolerances(document: Readonly<Record<string, unknown>>): Tolerances {
  const spec = memberOf(document, 'spec');
  const all = readTolerance(spec?.['tolerance']) ?? DEFAULT_TOLERANCE;
  const behavior = memberOf(spec, 'behavior');
  const of = (direction: string): number =>
    readTolerance(memberOf(behavior, direction)?.['tolerance']) ?? all;
  return { down: of('scaleDown'), up: of('scaleUp') };
}

/** Returns the band around a target in which the count does not change. */
export function toleranceBand(
  target: number,
  { down, up }: Tolerances,
): { readonly low: number; readonly high: number } {
  return { low: Math.max(0, target * (1 - down)), high: target * (1 + up) };
}

/** Returns null if the value is unset or not a tolerance. Quantities with a suffix are exact to the milli-unit. */
function readTolerance(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return null;
  const number = Number(value);
  if (value.trim() !== '' && Number.isFinite(number)) return number;
  const milli = parseQuantity(value);
  return milli === null ? null : milliToNumber(milli);
}

function memberOf(value: unknown, key: string): Readonly<Record<string, unknown>> | null {
  if (!isPlainObject(value) || !Object.hasOwn(value, key)) return null;
  const member = value[key];
  return isPlainObject(member) ? member : null;
}
