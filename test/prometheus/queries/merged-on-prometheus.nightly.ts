import { expect, it } from '@jest/globals';
import { compareOnPrometheus } from '../../support/merged-on-prometheus.js';

/* Another seed in each run: `npm run nightly -- test/prometheus`. The first prometheus on the PATH is used. */

const RUNS = 2000;

it(`a Prometheus answers ${RUNS} random queries for several workloads as those of each, in value and class`, async () => {
  const seed = Date.now() % 2 ** 31;
  const { differences, ...figures } = await compareOnPrometheus(RUNS, seed);
  process.stdout.write(`${JSON.stringify({ seed, ...figures, differences: differences.length })}\n`);

  expect(differences).toEqual([]);
}, 3_600_000);
