import type { ScalerSpec } from '../../scaler/spec.js';

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
