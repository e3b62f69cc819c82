import { expect, it } from '@jest/globals';
import { digestOf } from './random-snapshots.js';

/**
 * The decisions of the version before the fields `backlog`, `capacity`, `saturation` and `podStart`, except that a limit
 * that leads to the same count as a bound is no longer listed next to it.
 */
it('decisions, states and records of 100,000 random documents without new fields have not changed', () => {
  expect(digestOf(100_000)).toBe('69f160ad31fa85ec93d6202d49b112d59dccf6dc40bd69367e9758ed5851e77d');
}, 3_600_000);
