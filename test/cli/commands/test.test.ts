import { describe, expect, it } from '@jest/globals';
import { folderOf, runCli } from '../fake-io.js';
import type { Ran } from '../fake-io.js';
import { cpuMetric, scalerYaml } from '../../support/scaler-yaml.js';

const DOCUMENT = scalerYaml({
  metrics: [
    cpuMetric(50),
    'external: { metric: { name: queue }, query: sum(q), target: { value: 30 } }',
    `pods: { metric: { name: rps }, query: 'sum by (pod) (r{pod=~"$pods"})', target: { averageValue: 10 } }`,
  ],
});

/** Runs a file with one test of this body. */
function run(body: string, ...more: readonly string[]): Promise<Ran> {
  const lines = body.split('\n').map((line) => `    ${line}\n`);
  return runFile(`scalers: [web.yaml]\ntests:\n  - name: it\n${lines.join('')}`, ...more);
}

function runFile(text: string, ...more: readonly string[]): Promise<Ran> {
  const cwd = folderOf({ 'web.yaml': DOCUMENT, 'web.test.yaml': text });
  return runCli(['test', 'web.test.yaml', ...more], { cwd });
}

const RISE = 'replicas: 2\nseries: [{ metric: cpu, values: 50 100 }]';

const PASSING =
  'scalers: [web.yaml]\ntests: [{ name: it, replicas: 2, expect: [{ at: 0s, replicas: 2 }] }]\n';

describe('test', () => {
  it('passes if the decisions are as expected', async () => {
    const body = `${RISE}\nexpect:\n  - { at: 45s, replicas: 2 }\n  - { at: 1m, replicas: 4, recommendedReplicas: 4 }`;

    expect(await run(body)).toEqual({
      exitCode: 0,
      stdout: 'ok    web.test.yaml: it\n1 passed, 0 failed\n',
      stderr: '',
    });
  });

  it('ends with exit code 1 if it is interrupted, and names the test', async () => {
    const cwd = folderOf({ 'web.yaml': DOCUMENT, 'web.test.yaml': PASSING.replace('at: 0s', 'at: 400h') });
    // Another event of the process, such as a signal, gets its turn while the test runs.
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 0);

    const ran = await runCli(['test', 'web.test.yaml'], { cwd, signal: controller.signal });

    expect(ran).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'promscaler: interrupted in web.test.yaml: it\n',
    });
  });

  it('shows what was expected, what was decided, why, and in which round', async () => {
    const { exitCode, stdout } = await run(
      `${RISE}\nexpect:\n  - { at: 70s, replicas: 5, limits: [policy], conditions: { ScalingLimited: TooManyReplicas } }`,
    );

    expect(exitCode).toBe(1);
    expect(stdout).toContain(`FAIL  web.test.yaml: it
      at 70s, in the round at 60s (line 7):
        - replicas: 5
        + replicas: 4
        - limits: [policy]
        + limits: []
        - conditions.ScalingLimited: TooManyReplicas
        + conditions.ScalingLimited: DesiredWithinRange
        reason: cpu`);
    expect(stdout).toContain('0 passed, 1 failed\n');
  });

  it('applies decisions unless carryOut is false, and starts pods after podStart', async () => {
    const series = 'replicas: 2\npodStart: 10m\nseries: [{ metric: rps, shared: true, values: 40x20 }]';
    const expected = 'expect:\n  - { at: 0s, replicas: 4 }\n  - { at: 5m, replicas:';

    const closed = await run(`${series}\n${expected} 4 }`);
    const open = await run(`carryOut: false\n${series}\n${expected} 4, recommendedReplicas: 4 }`);

    expect([closed.exitCode, open.exitCode]).toEqual([0, 0]);
  });

  it.each([
    ['Deployment', 8],
    ['StatefulSet', 6],
  ])(
    'counts the pods of a %s that are ready after 15 s: %i replicas, because those of a StatefulSet start one after the other',
    async (kind, replicas) => {
      const document = scalerYaml({ metrics: [cpuMetric(50)] }).replace(
        '{ name: web }\n  max',
        `{ kind: ${kind}, name: web }\n  max`,
      );
      const body = 'replicas: 2, podStart: 15s, series: [{ metric: cpu, values: 100x5 }]';
      const text = `scalers: [web.yaml]\ntests: [{ name: it, ${body}, expect: [{ at: 0s, replicas: 4 }, { at: 15s, recommendedReplicas: ${replicas} }] }]\n`;

      const { stdout } = await runCli(['test', 'web.test.yaml'], {
        cwd: folderOf({ 'web.yaml': document, 'web.test.yaml': text }),
      });

      expect(stdout).toBe('ok    web.test.yaml: it\n1 passed, 0 failed\n');
    },
  );

  it('takes a series of one pod for this pod only', async () => {
    const series = 'series: [{ metric: rps, values: 10x5 }, { metric: rps, pod: pod-1, values: 40x5 }]';

    const { exitCode, stdout } = await run(`replicas: 3\n${series}\nexpect: [{ at: 0s, replicas: 6 }]`);

    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('1 passed')]);
  });

  it('writes annotations for GitHub, with line breaks, colons and percent signs escaped', async () => {
    const { exitCode, stdout } = await run(`${RISE}\nexpect: [{ at: 1m, replicas: 5 }]`, '-o', 'github');

    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^::error file=web\.test\.yaml,line=6,col=14,title=it::at 1m \(line 6\):%0A {2}- replicas: 5%0A.*100 %25 of/,
    );
  });

  it('writes JUnit XML with a failure and an invalid file', async () => {
    const failed = await run(`${RISE}\nexpect: [{ at: 1m, replicas: 5 }]`, '-o', 'junit');
    const invalid = await runFile('scalers: [web.yaml]\ntests: []\n', '-o', 'junit');

    expect(failed.stdout).toContain('<testsuite name="web.test.yaml" tests="1" failures="1" errors="0">');
    expect(failed.stdout).toContain(
      '<testcase name="it" classname="shop/web"><failure message="at 1m: replicas">',
    );
    expect(invalid.stdout).toContain('<error message="tests');
    expect([failed.exitCode, invalid.exitCode]).toEqual([1, 1]);
  });

  it.each([
    ['an unknown field', 'replica: 2\nexpect: [{ at: 0s, replicas: 2 }]', ':4:5', 'did you mean "replicas"'],
    [
      'an unknown metric',
      'series: [{ metric: cpus, values: 1 }]\nexpect: [{ at: 0s, replicas: 2 }]',
      ':4:24',
      'did you mean "cpu"',
    ],
    [
      'a wrong series',
      'series: [{ metric: cpu, values: 1 2 x }]\nexpect: [{ at: 0s, replicas: 2 }]',
      ':4:41',
      'has "x"',
    ],
    [
      'a huge series',
      'series: [{ metric: cpu, values: 1x99999999 }]\nexpect: [{ at: 0s, replicas: 2 }]',
      ':4:37',
      '100000 values',
    ],
    [
      'an unknown limit',
      'expect: [{ at: 0s, limits: [stabilisation] }]',
      ':4:33',
      'did you mean "stabilization"',
    ],
    [
      'a misspelled reason',
      'expect: [{ at: 0s, conditions: { ScalingLimited: TooManyReplica } }]',
      ':4:54',
      'did you mean "TooManyReplicas"',
    ],
    [
      'a reason of another condition',
      'expect: [{ at: 0s, conditions: { ScalingLimited: ValidMetricFound } }]',
      ':4:54',
      'not a reason of ScalingLimited in a decision, must be one of DesiredWithinRange, TooManyReplicas',
    ],
    ['an unknown condition', 'expect: [{ at: 0s, conditions: { Ready: x } }]', ':4:45', 'AbleToScale'],
    ['nothing expected', 'expect: [{ at: 0s }]', ':4:14', 'is empty, must have replicas'],
    [
      'a contradiction within a round',
      'expect:\n  - { at: 15s, replicas: 2 }\n  - { at: 29s, replicas: 3 }',
      ':6:9',
      'contradicts the expectation at 15s: both apply to the round at 15s',
    ],
    ['a time beyond 100,000 rounds', 'expect: [{ at: 99w, replicas: 2 }]', ':4:20', '100,000 rounds'],
    ['a wrong time', 'expect: [{ at: soon, replicas: 2 }]', ':4:20', 'duration'],
    ['too many pods', 'replicas: 10001\nexpect: [{ at: 0s, replicas: 2 }]', ':4:15', '10000'],
    [
      'a pod of a queue',
      'series: [{ metric: queue, pod: a, values: 1 }]\nexpect: [{ at: 0s, replicas: 2 }]',
      ':4:14',
      'not measured per pod',
    ],
    [
      'another scaler',
      'scaler: shop/wob\nexpect: [{ at: 0s, replicas: 2 }]',
      ':4:13',
      'did you mean "shop/web"',
    ],
  ])('rejects %s with its place', async (_, body, place, message) => {
    const { exitCode, stderr } = await run(body);

    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).toContain(`web.test.yaml${place}: error:`);
  });

  it('skips scaler documents in a directory, but not one that is named', async () => {
    const test = `scalers: [web.yaml]\ntests: [{ name: it, replicas: 2, expect: [{ at: 0s, replicas: 2 }] }]\n`;
    const cwd = folderOf({ 'web.yaml': DOCUMENT, 'web.test.yaml': test });

    const directory = await runCli(['test', '.'], { cwd });
    const named = await runCli(['test', 'web.yaml'], { cwd });

    expect(directory).toEqual({
      exitCode: 0,
      stdout: 'ok    web.test.yaml: it\n1 passed, 0 failed\n',
      stderr: '',
    });
    expect([named.exitCode, named.stderr]).toEqual([1, expect.stringContaining('web.yaml')]);
  });

  it.each([
    ['text', '0 passed, 0 failed; some tests were not run because of 1 error\n'],
    ['github', '::error file=bad.yaml,line=1,col=13,title=wrong-type::'],
  ])('runs nothing with an invalid service config, and names its place with -o %s', async (format, text) => {
    const cwd = folderOf({ 'web.yaml': DOCUMENT, 'bad.yaml': 'prometheus: []\n', 'web.test.yaml': PASSING });

    const ran = await runCli(['test', 'web.test.yaml', '--config', 'bad.yaml', '-o', format], { cwd });

    expect(ran.exitCode).toBe(1);
    expect(ran.stdout).toContain(text);
    expect(format === 'text' ? ran.stderr : ran.stdout).toContain('bad.yaml');
    expect(ran.stdout).not.toContain('ok ');
  });

  it('passes with a valid service config and its defaults', async () => {
    const config = 'defaults: { syncPeriodSeconds: 30 }\n';
    const cwd = folderOf({ 'web.yaml': DOCUMENT, 'promscaler.yaml': config, 'web.test.yaml': PASSING });

    expect(await runCli(['test', 'web.test.yaml', '--config', 'promscaler.yaml'], { cwd })).toEqual({
      exitCode: 0,
      stdout: 'ok    web.test.yaml: it\n1 passed, 0 failed\n',
      stderr: '',
    });
  });

  it('fails if the paths have no test', async () => {
    const cwd = folderOf({ 'web.yaml': DOCUMENT });

    expect(await runCli(['test', '.'], { cwd })).toEqual({
      exitCode: 1,
      stdout: '0 passed, 0 failed; some tests were not run because of 1 error\n',
      stderr: '.: error: no file is a test file; a test file has the fields scalers and tests [unreadable]\n',
    });
  });

  it.each([
    [DOCUMENT, 'this is a manifest of kind "Scaler", must be a test file with the fields scalers and tests'],
    [`kind: Test\n${PASSING}`, ':1:1: error: kind is not a known field; a test file is not a manifest'],
  ])('says what a test file has instead of %j', async (text, message) => {
    const { stdout, stderr } = await runFile(text);

    expect(stderr).toContain(message);
    expect(stderr).not.toContain('service config');
    expect(stdout).toBe('0 passed, 0 failed; some tests were not run because of 1 error\n');
  });

  it.each([
    ['', 'the file is empty'],
    [
      'scalers: [missing.yaml]\ntests: [{ name: a, expect: [{ at: 0s, replicas: 1 }] }]\n',
      'missing.yaml: error: no such file',
    ],
    ['a: 1\n---\nb: 1\n', 'a test file must be one YAML document'],
    ['tests: [\n', 'not YAML'],
  ])('rejects the file %j', async (text, message) => {
    const { exitCode, stderr } = await runFile(text);

    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
  });
});

describe('a series of a part', () => {
  const document = scalerYaml({
    metrics: [
      'external: { metric: { name: jobs }, query: "sum(rate(j[1m]))", target: { averageValue: 8 }, backlog: { query: sum(w), drainSeconds: 60 }, capacity: { query: max(c) } }',
      cpuMetric(50),
    ],
  });
  const runParts = (series: string, replicas: number, scaler = document): Promise<Ran> => {
    const text = `scalers: [web.yaml]\ntests:\n  - { name: it, replicas: 6, series: [${series}, { metric: cpu, values: 10 }], expect: [{ at: 0s, replicas: ${replicas} }] }\n`;
    return runCli(['test', 'web.test.yaml'], {
      cwd: folderOf({ 'web.yaml': scaler, 'web.test.yaml': text }),
    });
  };
  const rate = '{ metric: jobs, values: 64 }';
  const backlog = '{ metric: jobs, part: backlog, values: 480 }';

  it('is a backlog next to the rate, and a capacity that replaces the target', async () => {
    expect((await runParts(`${rate}, ${backlog}`, 9)).stdout).toBe(
      'ok    web.test.yaml: it\n1 passed, 0 failed\n',
    );
    expect(
      await runParts(`${rate}, ${backlog}, { metric: jobs, part: capacity, values: 7 }`, 11),
    ).toMatchObject({
      exitCode: 0,
    });
    expect((await runParts(rate, 6)).exitCode).toBe(0);
  });

  it('of a capacity that is only observed changes no decision: 72 need 9 pods of 8, and not 11 of 7', async () => {
    const observed = document.replace('{ query: max(c) }', '{ auto: { served: { query: sum(s) } } }');
    const used = observed.replace('auto: {', 'auto: { mode: Use,');
    const series = `${rate}, ${backlog}, { metric: jobs, part: capacity, values: 7 }`;

    expect((await runParts(series, 9, observed)).stdout).toContain('1 passed');
    expect((await runParts(series, 11, used)).stdout).toContain('1 passed');
  });

  it('is rejected where the document has no such part, and twice for a capacity', async () => {
    const { stderr } = await runParts(
      `${rate}, { metric: cpu, part: backlog, values: 1 }, { metric: jobs, part: capacity, values: 1 }, { metric: jobs, part: capacity, values: 1 }`,
      6,
    );

    expect(stderr).toContain('is the backlog of cpu, but the document defines no backlog for it');
    expect(stderr).toContain('repeats a series of jobs');
  });
});
