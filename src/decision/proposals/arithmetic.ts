import type { ScalerSpec } from '../../scaler/spec.js';
import { addMilli, type Milli, milliFromNumber } from '../../units/quantity.js';
import { MAX_REPLICAS } from '../../units/bounds.js';

/**
 * Returns `ceil(value)` as a count, at most 2^31-1. As in the HPA, no rounding error is corrected: with 25 pods and a
 * ratio of 0.28, `0.28 * 25` is 7.000000000000001 in binary floating point, which gives 8 pods.
 */
export function ceilCount(value: number): number {
  // `|| 0` turns a negative zero into 0.
  return Math.min(MAX_REPLICAS, Math.ceil(value)) || 0;
}

/** How far usage may differ from its target before the count changes. Fractions of the target, at least 0. */
export interface Tolerances {
  readonly down: number;
  readonly up: number;
}

export function tolerancesOf(spec: ScalerSpec): Tolerances {
  if (spec.behavior === null) return { down: spec.tolerance, up: spec.tolerance };
  return { down: spec.behavior.scaleDown.tolerance, up: spec.behavior.scaleUp.tolerance };
}

/**
 * Returns `1 - down <= ratio && ratio <= 1 + up`. `|1 - ratio| <= 0.1` would give another result for 1.1, because of
 * rounding. NaN and Infinity are outside. Source: replica_calculator.go, Tolerances.isWithin.
 */
export function isWithinTolerance(ratio: number, tolerances: Tolerances): boolean {
  return 1 - tolerances.down <= ratio && ratio <= 1 + tolerances.up;
}

/**
 * The sum of numbers from Prometheus in milli-units, each rounded as in `milliFromNumber`. For speed and memory,
 * numbers are added as doubles. A number that would make that sum inexact is added as bigint.
 */
export class MilliSum {
  #exact = 0;
  #rest: Milli = 0n;

  readonly add = (value: number): void => {
    const milli = Number.isSafeInteger(value) ? value * 1000 : Math.round(value * 1000);
    const sum = this.#exact + (milli === 0 && value > 0 ? 1 : milli);
    if (milli >= 0 && sum <= Number.MAX_SAFE_INTEGER) this.#exact = sum;
    else this.#rest = addMilli(this.#rest, milliFromNumber(value));
  };

  /** The sum, at most 2^63-1. */
  get total(): Milli {
    const exact = BigInt(this.#exact);
    return this.#rest === 0n ? exact : addMilli(exact, this.#rest);
  }
}
