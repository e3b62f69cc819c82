import { MAX_REPLICAS } from '../../units/replicas.js';

/**
 * Returns `ceil(value)` as a count, at most 2^31-1. No epsilon, as in the HPA: 28 % over a target of 100 with 25 pods
 * is 0.28 * 25 = 7.000000000000001 in binary, so 8 pods.
 */
export function ceilCount(value: number): number {
  // `|| 0` turns a negative zero into 0.
  return Math.min(MAX_REPLICAS, Math.ceil(value)) || 0;
}
