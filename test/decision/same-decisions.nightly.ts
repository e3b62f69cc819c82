import { expect, it } from '@jest/globals';
import { digestOf } from './random-snapshots.js';

/** The decisions of the version before the fields `backlog`, `capacity`, `saturation` and `podStart`. */
it('decisions, states and records of 100,000 random documents without new fields have not changed', () => {
  expect(digestOf(100_000)).toBe('d471a9b83af0474ba7aa3ac162e827697fc3e671df3ad49d244afcc20ec73b5e');
}, 3_600_000);
