import { expect, it } from '@jest/globals';
import { digestOf } from './random-snapshots.js';

/** The decisions of the version before the fields `backlog`, `capacity`, `saturation` and `podStart`. */
it('decisions, states and records of 100,000 random documents without new fields have not changed', () => {
  expect(digestOf(100_000)).toBe('FILL-100000');
});
