import { expect, it } from '@jest/globals';
import type { Problem } from '../../src/scaler/problems/problem.js';
import { readScalers } from '../../src/scaler/read/read-scalers.js';

const problemsOf = (queries: readonly string[], spec: object = { minReplicas: 0 }): readonly Problem[] => {
  const metrics = queries.map((query, index) => ({
    external: { metric: { name: `m${index}` }, query, target: { averageValue: 5 } },
  }));
  const document = {
    apiVersion: 'promscaler.dev/v1',
    kind: 'Scaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { scaleTargetRef: { name: 'web' }, maxReplicas: 10, metrics, ...spec },
  };
  return readScalers(JSON.stringify(document), 'x').problems.filter(({ code }) => code === 'never-wakes-up');
};

it.each([
  ['the pods by a variable', ['sum(rate(x{namespace="$namespace", pod=~"$pods"}[2m]))'], true],
  ['the pods by the name of the workload', ['sum(rate(x{namespace="shop", pod=~"web-.*"}[2m]))'], true],
  ['the same in two metrics', ['sum(x{pod=~"web-.+"})', 'sum(x{pod=~"$pods"})'], true],
  ['the pods of another workload', ['sum(rate(x{namespace="shop", pod=~"web-api-.*"}[2m]))'], false],
  ['pods, and a queue', ['sum(x{pod=~"web-.*"}) + sum(queue)'], false],
  ['pods, and a queue in another metric', ['sum(x{pod=~"web-.*"})', 'sum(queue)'], false],
])('knows whether a workload at 0 starts again with a query of %s', (_, queries, isReported) => {
  expect(problemsOf(queries).length > 0).toBe(isReported);
});

const day = { name: 'day', start: '0 6 * * *', end: '0 20 * * *', timeZone: 'UTC' };
const night = { name: 'night', start: '0 22 * * *', end: '0 5 * * *', timeZone: 'UTC' };

it.each([
  ['the workload never starts again', { minReplicas: 0 }],
  ['the workload never starts again', { minReplicas: 0, schedules: [{ ...night, maxReplicas: 5 }] }],
  [
    'only spec.schedules[1] starts the workload again',
    {
      minReplicas: 0,
      schedules: [
        { ...night, minReplicas: 0 },
        { ...day, minReplicas: 2 },
      ],
    },
  ],
  [
    'the workload does not start again before the period of spec.schedules[1] ends',
    {
      minReplicas: 1,
      schedules: [
        { ...day, minReplicas: 2 },
        { ...night, minReplicas: 0 },
      ],
    },
  ],
])('says that %s with %j', (end, spec) => {
  const found = problemsOf(['sum(x{pod=~"$pods"})'], spec);

  expect(found).toHaveLength(1);
  expect(found[0]?.message).toContain(` is 0: from 0 replicas, ${end}. Query `);
});
