import { describe, expect, it } from '@jest/globals';
import { folderOf, runCli } from '../fake-io.js';
import { scalerYaml } from '../../support/scaler-yaml.js';

/** Six hours of a wave with peaks of 6 minutes. */
const DAY = Array.from(
  { length: 360 },
  (_, minute) =>
    `${minute * 60},${Math.round(60 + 50 * Math.sin(minute / 25) + (minute % 97 < 6 ? 120 : 0))}`,
);
const cwd = folderOf({
  'web.yaml': scalerYaml(),
  'queue.yaml': scalerYaml({
    metrics: ['external: { metric: { name: depth }, query: sum(queue), target: { averageValue: 7 } }'],
  }),
  'slow.yaml': scalerYaml({
    metrics: [
      "external: { metric: { name: load }, query: sum(load), target: { averageValue: 7 }, backlog: { query: sum(queue), drainSeconds: 60 }, capacity: { auto: { mode: Use, served: { query: 'sum(rate(served[2m]))' } } } }",
    ],
  }),
  'observed.yaml': scalerYaml({
    metrics: [
      "external: { metric: { name: load }, query: sum(load), target: { averageValue: 7 }, capacity: { auto: { served: { query: 'sum(rate(served[2m]))' } } } }",
    ],
  }),
  'plain.yaml': scalerYaml({
    metrics: ['external: { metric: { name: load }, query: sum(load), target: { averageValue: 7 } }'],
  }),
  'three.yaml': scalerYaml({
    metrics: [
      'external: { metric: { name: requests }, query: sum(requests), target: { averageValue: 10 } }',
      'pods: { metric: { name: gpu }, query: "gpu{$pods}", target: { averageValue: 80 } }',
      'external: { metric: { name: waiting }, query: sum(waiting), target: { averageValue: 7 } }',
    ],
  }),
  'stated.yaml': scalerYaml({ podStart: '{ seconds: 90 }' }),
  'day.csv': `t_seconds,value\n${DAY.join('\n')}\n`,
});

/** Of the version before `--queue`. */
const GOLDEN = {
  theta_U: 2.5242242078626513,
  theta_O: 50.11715658042411,
  tau_U: 5.277777777777778,
  tau_O: 85.48611111111111,
  instability: 7.4357192494788045,
  deviation: 86.6387821808179,
  unserved: 5.334920878783223,
  average_pods: 10.390972222222222,
  peak_pods: 20,
  pod_hours: 62.34583333333333,
  cost: null,
  changes: 60,
  flaps: 3,
  at_maximum: 6.041666666666667,
  by_limit: { max_replicas: 6.041666666666667, stabilization: 36.18055555555556 },
};

const backtest = (document: string, ...more: readonly string[]): ReturnType<typeof runCli> =>
  runCli(['backtest', '--scaler', document, '--trace', 'day.csv', '--capacity', '10', ...more], { cwd });

async function figuresOf(document: string, ...more: readonly string[]): Promise<Record<string, number>> {
  const { stdout } = await backtest(document, ...more, '-o', 'json');
  const { variants } = JSON.parse(stdout) as { variants: readonly { figures: Record<string, number> }[] };
  return variants[0]?.figures ?? {};
}

it('states the backlog and the capacity that the simulation knows', async () => {
  const linesWith = async (...more: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await backtest('slow.yaml', ...more);
    return stdout.split('\n').filter((line) => /^ {2}the (backlog|measured capacity)/.test(line));
  };

  expect(await linesWith()).toEqual([
    '  the backlog is 0, because load waits only with --queue',
    '  the measured capacity of a pod is simulated only with --queue: the target is averageValue',
  ]);
  expect(await linesWith('--queue', 'unbounded')).toEqual([
    '  the measured capacity of a pod is the load that it serves (--capacity), from the first decision on',
  ]);
});

it('states that a capacity with mode Observe is only reported, with the figures of a document without it', async () => {
  for (const queue of [[], ['--queue', 'unbounded']]) {
    const { stdout } = await backtest('observed.yaml', ...queue);

    expect(stdout.split('\n').filter((line) => /measured capacity|capacity\.auto/.test(line))).toEqual([
      '  capacity.auto with mode Observe changes no decision: the target is averageValue',
    ]);
    expect(await figuresOf('observed.yaml', ...queue)).toEqual(await figuresOf('plain.yaml', ...queue));
  }
});

it('names the metrics that measure the one load of a trace, and the options for others', async () => {
  const lineOf = async (document: string, ...more: readonly string[]): Promise<string | undefined> =>
    (await backtest(document, ...more)).stdout.split('\n').find((line) => /load of the trace \(/.test(line));

  expect(await lineOf('three.yaml')).toBe(
    '  the metrics requests, gpu and waiting measure the load of the trace (set another measure with --queue and --metric)',
  );
  expect(await lineOf('three.yaml', '--queue', 'unbounded', '--metric', 'waiting=depth')).toBe(
    '  the metrics requests and gpu measure the load of the trace (set another measure with --queue and --metric)',
  );
  expect(await lineOf('plain.yaml')).toBeUndefined();
});

describe('without --queue', () => {
  it('the figures of a day are those of the version before it', async () => {
    expect(await figuresOf('web.yaml', '--pod-start', '90s')).toEqual(GOLDEN);
  });

  it('pods start as the document says, unless --pod-start is given, and the report names which', async () => {
    const lineOf = async (...more: readonly string[]): Promise<string | undefined> =>
      (await backtest('stated.yaml', ...more)).stdout.split('\n').find((line) => /a pod is ready/.test(line));

    expect((await figuresOf('stated.yaml'))['theta_U']).toBe(GOLDEN.theta_U);
    expect(await lineOf()).toBe(
      '  a pod is ready 90 s after its creation (podStart.seconds of the document; --pod-start overrides it)',
    );
    expect((await figuresOf('stated.yaml', '--pod-start', '30s'))['theta_U']).toBe(
      (await figuresOf('web.yaml', '--pod-start', '30s'))['theta_U'],
    );
    expect(await lineOf('--pod-start', '30s')).toBe('  a pod is ready 30 s after its creation (--pod-start)');
  });

  it.each([
    [['--metric', 'depth=depth'], '--metric needs --queue'],
    [['--fail-if', 'mean_wait>5'], '--fail-if mean_wait needs --queue'],
    [['--recommend', 'lost<=1'], '--recommend lost needs --queue'],
  ])('%j is rejected', async (options, message) => {
    const { exitCode, stderr } = await backtest('queue.yaml', ...options);

    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('--queue', () => {
  it('adds waits, loss and depth to the table, of the document and of a static fleet', async () => {
    const { stdout } = await backtest(
      'web.yaml',
      '--queue',
      'timeout=60s',
      '--pod-start',
      'median=60s,p95=3m',
    );

    expect(stdout).toMatch(/mean wait s +p95 wait s +max wait s +lost % +peak depth +end depth/);
    expect(stdout).toMatch(/^static fleet at the peak demand .* 0\.0 +0\.0 +0\.0 +0\.00 +0 +0$/m);
    expect(stdout).toContain(
      '  one pod serves a load of 10 per second (--capacity); load that the pods cannot serve at once waits in a queue without limit, and is lost after 60 s (--queue)\n  a pod is ready 60 s (median) or 180 s (p95) after its creation (--pod-start)\n',
    );
  });

  it('loses nothing that can wait, and more with a shorter time-out', async () => {
    const [all, some] = [
      await figuresOf('web.yaml', '--queue', 'unbounded'),
      await figuresOf('web.yaml', '--queue', 'max=100,timeout=5s'),
    ];

    expect([all['lost'], (all['max_wait'] ?? 0) > 10]).toEqual([0, true]);
    expect(some['lost']).toBeGreaterThan(0.1);
    expect(some['peak_depth']).toBeLessThan(101);
    expect(some['max_wait']).toBeLessThan(6);
  });

  it('gives the metrics what they measure: the depth asks for other replicas than the load', async () => {
    const [load, depth] = [
      await figuresOf('queue.yaml', '--queue', 'unbounded'),
      await figuresOf('queue.yaml', '--queue', 'unbounded', '--metric', 'depth=depth'),
    ];

    expect((depth['mean_wait'] ?? 0) > 2 * (load['mean_wait'] ?? 0)).toBe(true);
    expect(
      (await backtest('queue.yaml', '--queue', 'unbounded', '--metric', 'depth=load + depth / 60')).stdout,
    ).toContain('  metric depth measures load + depth / 60 (--metric)\n');
  });

  it('exits with 1 if a wait is too long', async () => {
    const { exitCode, stderr } = await backtest(
      'web.yaml',
      '--queue',
      'unbounded',
      '--fail-if',
      'max_wait>1',
    );

    expect([exitCode, stderr]).toEqual([1, 'promscaler: web.yaml: max_wait > 1\n']);
  });

  it.each([
    [['--queue', 'bounded'], '--queue is "bounded", must be unbounded'],
    [['--queue', 'max=-1'], '--queue has max="-1", must be a number above 0'],
    [['--queue', 'unbounded', '--pod-start', '521w'], '--pod-start is "521w", must be at most 1d'],
    [
      ['--queue', 'unbounded', '--metric', 'rps=load'],
      '--metric "rps=load": must begin with the name of a metric (depth), followed by =',
    ],
    [
      ['--queue', 'unbounded', '--metric', 'depth=cpu'],
      '--metric "depth=cpu": depth has "cpu", must be arithmetic',
    ],
    [
      ['--queue', 'unbounded', '--metric', 'depth=load', '--metric', 'depth=depth'],
      'depth already has a value from another --metric',
    ],
  ])('%j is rejected', async (options, message) => {
    const { exitCode, stderr } = await backtest('queue.yaml', ...options);

    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
