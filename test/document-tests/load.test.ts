import { describe, expect, it } from '@jest/globals';
import { folderOf, runCli } from '../cli/fake-io.js';
import { scalerYaml } from '../support/scaler-yaml.js';

const EXTERNAL = 'external: { metric: { name: depth }, query: sum(queue), target: { averageValue: 8 } }';

async function outputOf(load: string, expectation: string, more = ''): Promise<string> {
  const test = `scalers: [web.yaml]
tests:
  - name: one
    replicas: 1
    podStart: median=60s,p95=120s
${load === '' ? '' : `    load: ${load}\n`}    expect: [${expectation}]
`;
  const cwd = folderOf({
    'web.yaml': `${scalerYaml({ metrics: [EXTERNAL], syncPeriodSeconds: 60 })}${more}`,
    'web.test.yaml': test,
  });
  const { stdout, stderr } = await runCli(['test', 'web.test.yaml'], { cwd });
  return stdout + stderr;
}

describe('the load of a test', () => {
  it('is what a metric without a series measures: 64 per second need 8 pods of 8', async () => {
    expect(await outputOf('{ values: 8x2 64x30, capacity: 8 }', '{ at: 10m, replicas: 8 }')).toContain(
      '1 passed',
    );
  });

  it('is no history: a minute before the load of each day, a forecast adds nothing on the fifth day', async () => {
    const days = Array.from({ length: 5 }, () => '8x539 64x479 8x419').join(' ');

    const output = await outputOf(
      `{ values: ${days}, capacity: 8 }`,
      '{ at: 104h58m, replicas: 1 }, { at: 104h59m, replicas: 1 }, { at: 105h10m, replicas: 8 }',
      '  forecast: { mode: Raise }\n',
    );

    expect(output).toContain('1 passed');
  });

  it('waits in a queue, whose depth, waits and loss are compared', async () => {
    const load = '{ values: 8x2 64x30, capacity: 8, queue: timeout=30s }';

    expect(await outputOf(load, '{ at: 20m, maxDepth: 5000, maxWait: 70s, maxLostPercent: 50 }')).toContain(
      '1 passed',
    );
    expect(await outputOf(load, '{ at: 20m, maxDepth: 1, maxWait: 2s, maxLostPercent: 0 }')).toMatch(
      /- maxDepth: 1\n +\+ maxDepth: \d+.*\n.*- maxWait: 2s\n +\+ maxWait: [23]\d\.?\d*s\n.*- maxLostPercent: 0\n/,
    );
  });

  it.each([
    [
      '{ values: 8x2, capacity: -1 }',
      '{ at: 1m, replicas: 1 }',
      'tests[0].load.capacity is -1, must be at least 0.000001',
    ],
    [
      '{ values: -5, capacity: 8 }',
      '{ at: 1m, replicas: 1 }',
      'tests[0].load.values has -5, must be from 0 to',
    ],
    ['{ values: Inf, capacity: 8 }', '{ at: 1m, replicas: 1 }', 'tests[0].load.values has Infinity'],
    [
      '{ values: 8, capacity: 8, queue: short }',
      '{ at: 1m, replicas: 1 }',
      'tests[0].load.queue is "short", must be',
    ],
    [
      '{ values: 8, capacity: 8, metrics: { dept: depth } }',
      '{ at: 1m, replicas: 1 }',
      'tests[0].load.metrics.dept is not a metric of the document with a query; did you mean',
    ],
    [
      '{ values: 8, capacity: 8, metrics: { depth: cpu } }',
      '{ at: 1m, replicas: 1 }',
      'tests[0].load.metrics.depth has "cpu", must be arithmetic',
    ],
    [
      '',
      '{ at: 1m, maxDepth: 5 }',
      'tests[0].expect[0].maxDepth needs a load with the field `queue` or `metrics`',
    ],
  ])('is rejected: %s', async (load, expectation, message) => {
    expect(await outputOf(load, expectation)).toContain(message);
  });
});
