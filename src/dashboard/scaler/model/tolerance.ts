import { isPlainObject } from '../../../scaler/plain-json.js';
import { BUILT_IN } from '../../../scaler/schema/presets.js';
import { toleranceNumber } from '../../../units/quantity.js';
import type { Tolerances } from '../../../decision/proposals/arithmetic.js';

/** Returns the tolerance of each direction: from `behavior`, otherwise from `spec.tolerance`, otherwise the default. */
export function readTolerances(document: Readonly<Record<string, unknown>>): Tolerances {
  const spec = memberOf(document, 'spec');
  const all = readTolerance(spec?.['tolerance']) ?? BUILT_IN.tolerance;
  const behavior = memberOf(spec, 'behavior');
  const of = (direction: string): number =>
    readTolerance(memberOf(behavior, direction)?.['tolerance']) ?? all;
  return { down: of('scaleDown'), up: of('scaleUp') };
}

/** Returns the values around a target for which the count does not change. */
export function toleranceBand(
  target: number,
  { down, up }: Tolerances,
): { readonly low: number; readonly high: number } {
  return { low: Math.max(0, target * (1 - down)), high: target * (1 + up) };
}

function readTolerance(value: unknown): number | null {
  return typeof value === 'number' || typeof value === 'string' ? toleranceNumber(value) : null;
}

function memberOf(value: unknown, key: string): Readonly<Record<string, unknown>> | null {
  if (!isPlainObject(value) || !Object.hasOwn(value, key)) return null;
  const member = value[key];
  return isPlainObject(member) ? member : null;
}
