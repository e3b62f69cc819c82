import { expect, it } from '@jest/globals';
import { digestOf } from './random-snapshots.js';

/** The decisions of the version before the fields `backlog`, `capacity`, `saturation` and `podStart`. */
it('decisions, states and records of 600 random documents without new fields have not changed', () => {
  expect(digestOf(600)).toBe('0202c232f294114a1e5af3ce2b0406732354dbb2f6627c9869430ebe909ad645');
});
