import { describe, expect, it } from '@jest/globals';
import { readScalers } from '../src/scaler/read/read-scalers.js';
import { folderOf, runCli } from './cli/fake-io.js';
import { codeBlocksOf } from './docs/code-blocks.js';

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

describe('the documents for models on GPUs', () => {
  it('all have a test', () => {
    expect([...DOCUMENTS.keys()].sort()).toEqual(Object.keys(TESTS).sort());
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

    expect(`${stdout}${stderr}`).toBe('ok    document.test.yaml: a step\n1 passed, 0 failed\n');
  });
});
