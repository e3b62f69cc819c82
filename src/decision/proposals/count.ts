import { MAX_REPLICAS } from '../../units/replicas.js';

/**
 * `ceil(value)` as a count, saturated at 2^31-1. No epsilon: 28 % over a target of 100 with 25 pods is
 * 0.28 * 25 = 7.000000000000001 in binary, so 8 pods, as the HPA has it.
 */
export function ceilCount(value: number): number {
  // `|| 0` keeps a negative zero out of what is printed.
  return Math.min(MAX_REPLICAS, Math.ceil(value)) || 0;
}
