import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderOf, runCli } from '../fake-io.js';

const VECTORS = join(import.meta.dirname, '../../vectors/chpa.json');
const [{ snapshot: FOUR_OF_TEN }] = JSON.parse(readFileSync(VECTORS, 'utf8')) as [{ snapshot: object }];

function lastJson(text: string): unknown {
  return JSON.parse(text.trim().split('\n').at(-1) ?? '');
}

describe('decide', () => {
  it('prints the decision for one snapshot from a file, indented: 10 wanted, 4 applied', async () => {
    const cwd = folderOf({ 'snapshot.json': JSON.stringify(FOUR_OF_TEN, null, 2) });

    const { exitCode, stdout } = await runCli(['decide', 'snapshot.json'], { cwd });

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ recommendedReplicas: 10, desiredReplicas: 4 });
    expect(stdout.split('\n').length).toBeGreaterThan(20);
  });

  it('ends when it is interrupted within 3,000 lines, which it has not all decided then', async () => {
    const cwd = folderOf({ 'many.ndjson': `${JSON.stringify(FOUR_OF_TEN)}\n`.repeat(3000) });
    const stop = new AbortController();
    const written = { stdout: '', stderr: '' };
    const running = runCli(['decide', 'many.ndjson'], { cwd, signal: stop.signal, written });
    while (written.stdout === '') await new Promise((resolve) => setImmediate(resolve));

    stop.abort();
    const { exitCode, stdout, stderr } = await running;

    expect(exitCode).toBe(1);
    expect(stdout.trim().split('\n').length).toBeLessThan(3000);
    expect(stderr).toMatch(/^promscaler: deciding on many\.ndjson: interrupted in line \d+\n$/);
  });

  it('prints a compact decision for each non-empty line, and an error with its line number for an invalid one', async () => {
    const line = JSON.stringify(FOUR_OF_TEN);
    const stdin = `${line}\n\n{"now": 3}\nnot json\n${line}\n`;

    const { exitCode, stdout } = await runCli(['decide', '-'], { stdin });

    const answers = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as Record<string, unknown>);
    expect(exitCode).toBe(1);
    expect(answers.map(({ desiredReplicas, line: number }) => desiredReplicas ?? number)).toEqual([
      4, 3, 4, 4,
    ]);
    expect(answers[2]?.['error']).toContain('not JSON');
  });

  it('accepts 1,000 lines', async () => {
    const stdin = `${JSON.stringify(FOUR_OF_TEN)}\n`.repeat(1000);

    const { exitCode, stdout } = await runCli(['decide', '-'], { stdin });

    expect([exitCode, stdout.trim().split('\n').length]).toEqual([0, 1000]);
  });

  it.each([
    ['', 'the input is empty'],
    ['  \n \n', 'the input is empty'],
    ['{', 'not JSON'],
    ['[]', 'the snapshot is a list, must be an object. To pass several snapshots, put each on its own line'],
    ['null', 'the snapshot is null, must be an object'],
    ['{\n  "now": 1,\n  "pods": [\n    "x"\n', 'not JSON'],
    [
      '{}',
      'standard input is not a snapshot: the object is empty. A snapshot is the JSON input of one decision',
    ],
    ['{"scalar": 1}', 'scalar is 1, must be omitted: the known fields are scaler, now, target'],
  ])('reports what is invalid in %j', async (stdin, sentence) => {
    const { exitCode, stderr, stdout } = await runCli(['decide', '-'], { stdin });

    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toContain('    at ');
  });

  it.each([
    [{ now: 'yesterday' }, 'now is "yesterday", must be an RFC 3339 time'],
    [{ target: {} }, 'target.specReplicas is missing, must be an integer from 0 to 2147483647'],
    [{ target: { specReplicas: 2 ** 31 } }, 'target.specReplicas is 2147483648, must be an integer from 0'],
    [{ samples: [{ values: [1] }] }, 'samples[0].at is missing, must be an RFC 3339 time'],
    [
      { samples: [{ at: '2026-01-01T00:00:00Z' }] },
      'must be an object with exactly one of containers, pods, values and error',
    ],
    [
      { samples: [{ error: 'x' }, { error: 'x' }] },
      'samples has 2 entries, must have at most one for each of the 1 metrics',
    ],
    [
      { pods: [{ name: 'a', phase: 'Runing' }] },
      'pods[0].phase is "Runing", must be one of Pending, Running',
    ],
    [{ state: { recomendations: [] } }, 'state.recomendations is [], must be omitted'],
  ])('reports field, value and rule: %j', async (change, sentence) => {
    const stdin = JSON.stringify({ ...FOUR_OF_TEN, ...change });

    const { exitCode, stderr } = await runCli(['decide', '-'], { stdin });

    expect(exitCode).toBe(1);
    expect(stderr).toContain(sentence);
  });

  it('rejects 1e999 as an invalid value, rather than scaling to the maximum', async () => {
    const stdin = JSON.stringify(FOUR_OF_TEN).replace('"values":[10]', '"values":[1e999]');

    const { stdout } = await runCli(['decide', '-'], { stdin });

    expect(lastJson(stdout.replaceAll('\n', ' '))).toMatchObject({
      desiredReplicas: 1,
      recommendedReplicas: null,
    });
  });
});

describe('decide with input that is not a snapshot', () => {
  const DOCUMENT = {
    apiVersion: 'promscaler.dev/v1',
    kind: 'Scaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { scaleTargetRef: { name: 'web' }, maxReplicas: 3 },
  };
  const YAML = `# a comment\n---\nkind: Scaler\nspec: { maxReplicas: 3 }\n---\nkind: Scaler\n`;

  it.each([
    [
      'web.json',
      JSON.stringify(DOCUMENT),
      'web.json is a scaler document, not a snapshot. promscaler show web.json',
    ],
    ['web.yaml', YAML, 'web.yaml is a scaler document, not a snapshot. promscaler show web.yaml prints'],
    ['hpa.yaml', 'kind: HorizontalPodAutoscaler\n', 'hpa.yaml is a HorizontalPodAutoscaler, not a snapshot.'],
    [
      'out.json',
      '{"decision": {}, "snapshot": {}, "status": {}}',
      'the output of explain -o json. Extract the field',
    ],
    ['was.json', '{"desiredReplicas": 3, "reason": ""}', 'was.json is a decision, not a snapshot.'],
    ['cut.json', '{"scaler": {"kind": "Scaler"}, "now": ', 'cut.json is not a snapshot: it is not JSON: '],
    ['deep.json', '['.repeat(50_000), 'deep.json is not a snapshot: it is not JSON: '],
    ['tag.yaml', '!x kind: *y\n', 'tag.yaml is not a snapshot: it is not JSON: '],
  ])('reports what %s is, as does explain --snapshot', async (name, text, sentence) => {
    const cwd = folderOf({ [name]: text });

    for (const argv of [
      ['decide', name],
      ['explain', '--snapshot', name],
    ]) {
      const { exitCode, stderr, stdout } = await runCli(argv, { cwd });

      expect([exitCode, stdout]).toEqual([1, '']);
      expect(stderr).toContain(`promscaler: ${name}`);
      expect(stderr).toContain(sentence);
    }
  });

  it('reports the line number among several', async () => {
    const { stdout } = await runCli(['decide', '-'], { stdin: '{}\n{"kind":"Scaler"}\n' });

    expect(stdout).toContain('"error":"this line is not a snapshot: the object is empty.');
    expect(stdout).toContain('"error":"this line is a scaler document, not a snapshot.');
  });
});

describe('wrong usage', () => {
  it.each([
    [['decid', 'x'], 'Did you mean decide?'],
    [['decide'], "missing required argument 'file'"],
    [['decide', 'a', 'b'], 'too many arguments'],
    [['decide', '--fast', 'a'], "unknown option '--fast'"],
    [['validate'], "missing required argument 'path'"],
  ])('%j ends with exit code 2 and a hint', async (argv, sentence) => {
    const { exitCode, stderr, stdout } = await runCli(argv);

    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(sentence);
  });

  it('prints the help with exit code 0 if requested, and with 2 without input', async () => {
    const asked = await runCli(['--help']);
    const none = await runCli([]);

    expect(asked.exitCode).toBe(0);
    expect(asked.stdout).toContain('validate [options] <path...>');
    expect(none.exitCode).toBe(2);
  });
});
