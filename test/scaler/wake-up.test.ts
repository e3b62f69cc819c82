import { expect, it } from '@jest/globals';
import { readScalers } from '../../src/scaler/read/read-scalers.js';

const codesOf = (...queries: readonly string[]): readonly string[] => {
  const metrics = queries.map((query, index) => ({
    external: { metric: { name: `m${index}` }, query, target: { averageValue: 5 } },
  }));
  const document = {
    apiVersion: 'promscaler.dev/v1',
    kind: 'Scaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { scaleTargetRef: { name: 'web' }, minReplicas: 0, maxReplicas: 10, metrics },
  };
  return readScalers(JSON.stringify(document), 'x').problems.map(({ code }) => code);
};

it.each([
  ['the pods by a variable', ['sum(rate(x{namespace="$namespace", pod=~"$pods"}[2m]))'], true],
  ['the pods by the name of the workload', ['sum(rate(x{namespace="shop", pod=~"web-.*"}[2m]))'], true],
  ['the same in two metrics', ['sum(x{pod=~"web-.+"})', 'sum(x{pod=~"$pods"})'], true],
  ['the pods of another workload', ['sum(rate(x{namespace="shop", pod=~"web-api-.*"}[2m]))'], false],
  ['pods, and a queue', ['sum(x{pod=~"web-.*"}) + sum(queue)'], false],
  ['pods, and a queue in another metric', ['sum(x{pod=~"web-.*"})', 'sum(queue)'], false],
])('knows whether a workload at 0 starts again with a query of %s', (_, queries, isReported) => {
  expect(codesOf(...queries).includes('never-wakes-up')).toBe(isReported);
});
