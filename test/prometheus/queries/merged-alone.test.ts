import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { classifyAnswer } from '../../../src/prometheus/answers/classify.js';
import { isByPod } from '../../../src/promql/by-pod.js';
import { compareWithAlone } from '../../support/merged-and-alone.js';
import { evaluate } from '../../support/pod-engine.js';
import { randomRuns } from '../../support/random-runs.js';
import { podQuery, randomWorkloads, writeQuery } from '../../support/pod-queries.js';

const SEED = 28;
const RUNS = randomRuns(SEED, 2000);
const WORKLOADS = randomWorkloads(120, SEED);

describe('a query for several workloads', () => {
  it('gives each of 8 the value and the class of its own query, for random queries and series', async () => {
    const classes = new Map<string, number>();
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(
        podQuery.filter((query) => isByPod(writeQuery(query))),
        fc.subarray(Array.from(WORKLOADS.keys()), { minLength: 8, maxLength: 8 }),
        async (query, indices) => {
          const workloads = indices.flatMap((index) => WORKLOADS[index] ?? []);
          const series = workloads.flatMap((one) => one.series);
          const comparison = await compareWithAlone(writeQuery(query), workloads, (text) => {
            const pattern = /pod=~"([^"]*)"/.exec(text)?.[1] ?? '';
            return Promise.resolve(classifyAnswer(evaluate(query, series, pattern)));
          });
          compared += comparison.compared;
          for (const one of comparison.classes) classes.set(one, (classes.get(one) ?? 0) + 1);
          expect(comparison.differences).toEqual([]);
          expect(comparison.sent.at(-1)).toBeLessThanOrEqual(8);
        },
      ),
      RUNS,
    );

    expect(compared).toBe(RUNS.numRuns * 8 * 5);
    for (const kind of ['value', 'partial', ' missing', ' invalid', 'execution failed'])
      expect([kind, (classes.get(kind) ?? 0) > 20]).toEqual([kind, true]);
  });
});
