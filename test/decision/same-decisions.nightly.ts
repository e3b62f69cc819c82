import { expect, it } from '@jest/globals';
import { digestOf } from './random-snapshots.js';

/**
 * The decisions of the version before the fields `backlog`, `capacity`, `saturation` and `podStart`, except that a bound
 * is listed as the limit, and no longer another limit, where both lead to the same count.
 */
it('decisions, states and records of 100,000 random documents without new fields have not changed', () => {
  expect(digestOf(100_000)).toBe('0afc6eea341050f59ec700a1467fd5ad07445441f8d648fd30d010ee318f392f');
}, 3_600_000);
