import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readScalers } from '../src/scaler/read/read-scalers.js';
import { folderOf, runCli } from './cli/fake-io.js';
import { codeBlocksOf } from './docs/code-blocks.js';
import { scalerYaml } from './support/scaler-yaml.js';

const DOCUMENTS = new Map(
  codeBlocksOf('docs/guides/models-on-gpus.md')
    .filter(({ text }) => /^kind: Scaler$/m.test(text))
    .map(({ text }) => [readScalers(text, 'page').scalers[0]?.name ?? '', text]),
);

/** A load that one minute later is several times as large, and after 30 minutes as before; pods start in 3 minutes. */
const step = (metric: string, before: number, after: number): string =>
  `    podStart: 3m\n    series: [{ metric: ${metric}, values: ${before} ${after}x29 ${before}x60 }]\n`;

/** The tests of each document, from the line after its name. */
const TESTS: Readonly<Record<string, string>> = {
  vllm: `    replicas: 2
    podStart: 3m
    series:
      - { metric: requests-in-progress, values: 75 400x29 75x60 }
      - { metric: kv-cache, values: 0.7x29 0.2x60 }
    expect:
      - { at: 0s, replicas: 2 }
      - { at: 2m, replicas: 10 } # 400/40, which starting pods do not change
      - { at: 29m, replicas: 10 }
      - { at: 39m, replicas: 10, limits: [stabilization] }
      - { at: 41m, replicas: 3 } # 10 x 0.2/0.8, the cache
      - { at: 52m, replicas: 2 }
`,
  sglang: `    replicas: 2
${step('requests-in-progress', 75, 400)}    expect: [{ at: 0s, replicas: 2 }, { at: 2m, replicas: 10 }, { at: 29m, replicas: 10 }, { at: 41m, replicas: 2 }]
`,
  tgi: `    replicas: 2
${step('requests-in-progress', 40, 160)}    expect: [{ at: 0s, replicas: 2 }, { at: 2m, replicas: 8 }, { at: 29m, replicas: 8 }, { at: 41m, replicas: 2 }]
`,
  triton: `    replicas: 2
${step('requests-in-progress', 16, 60)}    expect: [{ at: 0s, replicas: 2 }, { at: 2m, replicas: 8 }, { at: 29m, replicas: 8 }, { at: 36m, replicas: 2 }]
`,
  'sglang-agg-decode': `    replicas: 2
${step('requests-in-progress', 60, 170)}    expect: [{ at: 0s, replicas: 2 }, { at: 2m, replicas: 6 }, { at: 29m, replicas: 6 }, { at: 41m, replicas: 2 }]
`,
  llama: `    replicas: 2
${step('running', 80, 400)}    expect: [{ at: 0s, replicas: 2 }, { at: 2m, replicas: 10 }, { at: 29m, replicas: 10 }, { at: 41m, replicas: 2 }]
`,
  gemma: `    replicas: 8
    podStart: 2m
    series:
      - { metric: requests, values: 64x60 }
      - { metric: requests, part: backlog, values: 0 4800x9 0x50 }
    expect:
      - { at: 0s, replicas: 8 }
      - { at: 2m, replicas: 12 } # (64 + 4800/180)/8
      - { at: 9m, replicas: 12 }
      - { at: 16m, replicas: 8 }
`,
  mistral: `    replicas: 0
    podStart: 3m
    series:
      - { metric: waiting-in-gateway, values: 0x2 5x3 0x90 }
      - { metric: running, values: 0x5 12x9 0x90 }
    expect:
      - { at: 2m45s, replicas: 0 }
      - { at: 3m, replicas: 1 } # the first request in the gateway
      - { at: 10m, replicas: 1 }
      - { at: 44m, replicas: 1 } # the cooldown of 30 minutes
      - { at: 52m, replicas: 0 }
`,
  qwen: `    replicas: 1
${step('requests-in-progress', 30, 240)}    expect: [{ at: 0s, replicas: 1 }, { at: 2m, replicas: 6 }, { at: 29m, replicas: 6 }, { at: 41m, replicas: 1 }]
`,
  'ray-chat': `    replicas: 1
${step('requests-in-progress', 16, 64)}    expect: [{ at: 0s, replicas: 1 }, { at: 2m, replicas: 4 }, { at: 29m, replicas: 4 }, { at: 41m, replicas: 1 }]
`,
  detector: `    replicas: 2
    podStart: 1m
    series: [{ metric: gpu-active, shared: true, values: 1.2 2.4x29 1.2x30 }]
    expect:
      - { at: 0s, replicas: 2 }
      - { at: 29m, replicas: 4 }
      - { at: 36m, replicas: 2 }
`,
  deepseek: `    replicas: 1
${step('requests-in-progress', 60, 250)}    expect: [{ at: 0s, replicas: 1 }, { at: 2m, replicas: 4 }, { at: 29m, replicas: 4 }, { at: 61m, replicas: 1 }]
`,
};

interface BackTest {
  /** Requests in progress that a pod has at its target. */
  readonly target: number;
  /** Pods that the load needs before and after the step, and from 2 to 6 h. */
  readonly low?: number;
  readonly high: number;
  /** Pods at most; default: one and a half times those that the target asks for. */
  readonly most?: number;
  /** Default: 3m. */
  readonly podStart?: string;
  /** What each metric measures. */
  readonly metrics: Readonly<Record<string, string>>;
}

const IN_PROGRESS = { 'requests-in-progress': 'served * 10 + depth' };

const BACKTESTS: Readonly<Record<string, BackTest>> = {
  vllm: {
    ...{ target: 40, high: 6 },
    metrics: { ...IN_PROGRESS, 'kv-cache': 'clamp_max(served * 10 / 60 / ready, 1)' },
  },
  sglang: { target: 40, high: 6, metrics: IN_PROGRESS },
  tgi: { target: 20, high: 6, metrics: IN_PROGRESS },
  triton: { target: 8, high: 6, metrics: IN_PROGRESS },
  'sglang-agg-decode': { target: 30, high: 5, metrics: IN_PROGRESS },
  llama: { target: 40, high: 6, metrics: { running: 'served * 10' } },
  gemma: { target: 80, high: 6, podStart: '2m', metrics: { requests: 'load' } },
  mistral: {
    ...{ target: 40, low: 0, high: 2 },
    metrics: { 'waiting-in-gateway': 'depth', running: 'served * 10' },
  },
  qwen: { target: 40, high: 4, metrics: IN_PROGRESS },
  'ray-chat': { target: 16, high: 4, metrics: IN_PROGRESS },
  detector: {
    // It shows at most 1 until the backlog is gone, as if the load were that high.
    ...{ target: 48, high: 6, podStart: '1m', most: 15 },
    metrics: { 'gpu-active': 'served / 6' },
  },
  deepseek: { target: 64, low: 0.7, high: 2, metrics: IN_PROGRESS },
};

/** A document with only this metric for each row of the table "Which metric", and a warning that names the row. */
const ROWS: readonly (readonly [row: string, metrics: readonly string[], code: string])[] = [
  [
    'GPU utilization (`DCGM_FI_DEV_GPU_UTIL`, `DCGM_FI_PROF_GR_ENGINE_ACTIVE`)',
    [
      'object: { metric: { name: m }, query: avg(DCGM_FI_DEV_GPU_UTIL), target: { value: 80 } }',
      'object: { metric: { name: m }, query: avg(DCGM_FI_PROF_GR_ENGINE_ACTIVE), target: { value: 800m } }',
      'object: { metric: { name: m }, query: avg(nv_gpu_utilization), target: { value: 800m } }',
      `pods: { metric: { name: m }, query: 'avg by (pod) (DCGM_FI_DEV_GPU_UTIL{namespace="$namespace"})', target: { averageValue: 80 } }`,
      `pods: { metric: { name: m }, query: 'avg by (pod) (DCGM_FI_PROF_GR_ENGINE_ACTIVE{namespace="$namespace"})', target: { averageValue: 800m } }`,
    ],
    'gpu-utilization',
  ],
  [
    'waiting requests alone',
    ['external: { metric: { name: m }, query: sum(vllm:num_requests_waiting), target: { averageValue: 5 } }'],
    'queue-without-load',
  ],
  [
    'use of the KV cache, with `averageValue`',
    ['object: { metric: { name: m }, query: avg(vllm:kv_cache_usage_perc), target: { averageValue: 800m } }'],
    'average-as-total',
  ],
  [
    'a latency',
    [
      'object: { metric: { name: m }, query: "histogram_quantile(0.95, sum by (le) (rate(d_seconds_bucket[2m])))", target: { value: 500m } }',
      'object: { metric: { name: m }, query: "histogram_quantile(0.95, sum by (le) (rate(d_seconds_bucket[2m])))", target: { averageValue: 500m } }',
    ],
    'latency-target',
  ],
];

describe('the metrics that go wrong with models on GPUs', () => {
  it('are the rows of the page', () => {
    const page = readFileSync('docs/guides/models-on-gpus.md', 'utf8');
    const [, table = ''] = page.split('| metric | what goes wrong |\n| --- | --- |\n');
    const rows = (table.split('\n\n')[0] ?? '').split('\n').map((row) => row.split(' | ')[0]?.slice(2));

    expect(rows).toEqual(ROWS.map(([row]) => row));
  });

  it.each(ROWS.flatMap(([row, metrics, code]) => metrics.map((metric) => [row, metric, code] as const)))(
    'are named by validate: %s, %s',
    (_, metric, code) => {
      const { problems } = readScalers(scalerYaml({ metrics: [metric] }), 'web.yaml');

      expect(problems.map((problem) => problem.code)).toEqual([code]);
    },
  );

  it('but not GPU utilization next to the requests in progress', () => {
    const metrics = [
      'external: { metric: { name: a }, query: sum(vllm:num_requests_running), target: { averageValue: 5 } }',
      'object: { metric: { name: m }, query: avg(DCGM_FI_DEV_GPU_UTIL), target: { value: 80 } }',
    ];

    expect(readScalers(scalerYaml({ metrics }), 'web.yaml').problems).toEqual([]);
  });
});

/** Returns the problem codes in an output; an error without a code is itself. */
function codesIn(stderr: string): readonly string[] {
  const codes = [...stderr.matchAll(/ \[([a-z-]+)\]$/gm)].map(([, code = '']) => code);
  return codes.length === 0 && stderr !== '' ? [stderr] : codes;
}

describe('the documents for models on GPUs', () => {
  it('all have a test and a back-test', () => {
    expect([...DOCUMENTS.keys()].sort()).toEqual(Object.keys(TESTS).sort());
    expect(Object.keys(BACKTESTS).sort()).toEqual(Object.keys(TESTS).sort());
  });

  it('have at most 25 lines', () => {
    const long = [...DOCUMENTS].filter(([, text]) => text.trim().split('\n').length > 25);

    expect(long.map(([name]) => name)).toEqual([]);
  });

  it.each(Object.entries(TESTS))('follow a step of the load: %s', async (name, test) => {
    const cwd = folderOf({
      'document.yaml': DOCUMENTS.get(name) ?? '',
      'document.test.yaml': `scalers: [document.yaml]\ntests:\n  - name: a step\n${test}`,
    });

    const { stdout, stderr } = await runCli(['test', 'document.test.yaml'], { cwd });

    expect(stdout).toBe('ok    document.test.yaml: a step\n1 passed, 0 failed\n');
    expect(codesIn(stderr)).toEqual(name === 'detector' ? ['gpu-utilization'] : []);
  });

  it.each(Object.entries(BACKTESTS))('serve a step of the load in a back-test: %s', async (name, test) => {
    const {
      target,
      low = 1.5,
      high,
      podStart = '3m',
      most = Math.ceil(1.5 * Math.ceil(high * 1.25)),
      metrics,
    } = test;
    // A request takes 10 s, and a pod serves a quarter more of them at once than its target is.
    const capacity = (1.25 * target) / 10;
    const pods = (hour: number): number => (hour >= 2 && hour < 6 ? high : low);
    const rows = Array.from({ length: 720 }, (_, minute) => `${minute * 60},${pods(minute / 60) * capacity}`);
    const cwd = folderOf({
      'document.yaml': DOCUMENTS.get(name) ?? '',
      'load.csv': `t_seconds,value\n${rows.join('\n')}\n`,
    });
    const options = ['--capacity', String(capacity), '--pod-start', podStart, '--queue', 'unbounded'];
    const measures = Object.entries(metrics).flatMap(([metric, value]) => ['--metric', `${metric}=${value}`]);

    const { stdout, stderr } = await runCli(
      [
        ...['backtest', '--scaler', 'document.yaml', '--trace', 'load.csv', ...options, ...measures],
        ...['-o', 'json'],
      ],
      { cwd },
    );

    expect(codesIn(stderr)).toEqual(name === 'detector' ? ['gpu-utilization'] : []);
    const { variants } = JSON.parse(stdout) as { variants: readonly { figures: Record<string, number> }[] };
    const figures = variants[0]?.figures ?? {};
    // The target leaves a fifth of each pod free, and a backlog is worked off by half as many pods more.
    expect(figures['peak_pods']).toBeGreaterThanOrEqual(Math.ceil(high));
    expect(figures['peak_pods']).toBeLessThanOrEqual(most);
    expect(figures['at_maximum']).toBeLessThan(10);
    expect(figures['lost']).toBe(0);
    expect(figures['end_depth']).toBe(0);
    expect(figures['pod_hours']).toBeLessThan(12 * high);
  });
});
