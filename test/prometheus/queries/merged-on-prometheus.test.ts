import { expect, it } from '@jest/globals';
import { compareOnPrometheus } from '../../support/merged-on-prometheus.js';

/** Downloading the programs on a fresh machine counts toward the test. */
const START_MS = 240_000;

it(
  'a Prometheus answers 40 random queries for several workloads as those of each, in value and class',
  async () => {
    const { compared, differences } = await compareOnPrometheus(40, 1);

    expect(differences).toEqual([]);
    expect(compared).toBe(40 * 8 * 5);
  },
  START_MS,
);
