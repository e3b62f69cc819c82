import type { ScalerSpec } from '../../scaler/spec.js';
import { addMilli, type Milli, milliFromNumber } from '../../units/quantity.js';
import { MAX_REPLICAS } from '../../units/replicas.js';

/**
 * Returns `ceil(value)` as a count, at most 2^31-1. No epsilon, as in the HPA: 28 % over a target of 100 with 25 pods
 * is 0.28 * 25 = 7.000000000000001 in binary, so 8 pods.
 */
export function ceilCount(value: number): number {
  // `|| 0` turns a negative zero into 0.
  return Math.min(MAX_REPLICAS, Math.ceil(value)) || 0;
}

/** How far usage may differ from its target, as fractions of the target, before the count changes. Both at least 0. */
export interface Tolerances {
  readonly down: number;
  readonly up: number;
}

export function tolerancesOf(spec: ScalerSpec): Tolerances {
  if (spec.behavior === null) return { down: spec.tolerance, up: spec.tolerance };
  return { down: spec.behavior.scaleDown.tolerance, up: spec.behavior.scaleUp.tolerance };
}

/**
 * Returns whether `1 - down <= ratio <= 1 + up`, inclusive. With these operations 1.1 is within 0.1; with `|1 - ratio|
 * <= 0.1` it would not be. NaN and Infinity are outside. Source: replica_calculator.go, Tolerances.isWithin.
 */
export function isWithinTolerance(ratio: number, tolerances: Tolerances): boolean {
  return 1 - tolerances.down <= ratio && ratio <= 1 + tolerances.up;
}

/**
 * A sum of numbers from Prometheus in milli-units, each rounded as in `milliFromNumber`. The part that is exact as a
 * double is added as one, which takes a fraction of the time and memory of a bigint for each value.
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

  /** Saturates at 2^63-1. */
  get total(): Milli {
    const exact = BigInt(this.#exact);
    return this.#rest === 0n ? exact : addMilli(exact, this.#rest);
  }
}
