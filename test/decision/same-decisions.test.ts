import { expect, it } from '@jest/globals';
import { digestOf } from './random-snapshots.js';

/** The counts of the version before the fields `backlog`, `capacity`, `saturation` and `podStart`. */
it('decisions, states and records of 600 random documents without new fields have not changed', () => {
  expect(digestOf(600)).toBe('e29b5bb6b15953e384c5fa89a70baca287cc53be0f33cd1dc7ce0363ab40056c');
});
