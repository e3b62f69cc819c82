import { expect, it } from '@jest/globals';
import { digestOf } from './random-snapshots.js';

/**
 * The decisions of the version before the fields `backlog`, `capacity`, `saturation` and `podStart`, except that a bound
 * is listed as the limit, and no longer another limit, where both lead to the same count, and that limits have other
 * ends.
 */
it('decisions, states and records of 100,000 random documents without new fields have not changed', () => {
  expect(digestOf(100_000)).toBe('298bd5ec81af3c14c18c73a676a5d3ffcac4f4405e96669ab898045145a95020');
}, 3_600_000);
