import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { folderOf, runCli } from '../fake-io.js';
import { type Listening, listen } from '../live-service.js';

const REFUSED = 'http://127.0.0.1:1';
let service: Listening;

/** The members of a row that are neither null nor a list. */
const rowOf = (namespace: string, name: string): object => ({
  namespace,
  name,
  target: { apiVersion: 'apps/v1', kind: 'Deployment', name },
  at: '2026-01-01T00:00:00Z',
  state: { name: 'OK', severity: 'ok' },
  outcome: { kind: 'none', message: '' },
  paused: false,
  dryRun: false,
});

beforeAll(async () => {
  service = await listen((_request, response) => {
    const items = [rowOf('shop', 'search'), rowOf('shop', 'checkout'), rowOf('default', 'web')];
    const list = { version: '0.1.0', leader: true, items };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(list));
  });
});

afterAll(() => service.close());

/** Returns the suggestions for the last word, without descriptions, and the directive. */
async function suggest(...words: readonly string[]): Promise<readonly string[]> {
  const { exitCode, stdout, stderr } = await runCli(['__complete', ...words], {
    env: { HOME: folderOf({}) },
  });
  expect([exitCode, stderr]).toEqual([0, '']);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '');
}

describe('__complete', () => {
  it.each([
    [['sta'], ['status', ':4']],
    [
      ['status', '--al'],
      ['--all-namespaces', ':4'],
    ],
    [
      ['status', '-o', ''],
      ['text', 'wide', 'json', 'yaml', 'name', ':4'],
    ],
    [
      ['status', '--output', 'y'],
      ['yaml', ':4'],
    ],
    [
      ['--no-color', 'pause', '--dir'],
      ['--direction', ':4'],
    ],
    [
      ['pause', '--direction', 'scale-d'],
      ['scale-down', ':4'],
    ],
    [['pause', 'web', '--reason', ''], [':4']],
    [
      ['completion', 'f'],
      ['fish', ':4'],
    ],
    [
      ['help', 'exp'],
      ['explain', ':4'],
    ],
    [['nothing', 'x'], [':4']],
  ])('completes commands, options and allowed values: %j', async (words, expected) => {
    expect(await suggest(...words)).toEqual(expected);
  });

  it('prints descriptions', async () => {
    const { stdout } = await runCli(['__complete', 'resum']);

    expect(stdout).toBe('resume\tResume the scaling of a paused workload\n:4\n');
  });

  it('completes a value after an equals sign, as one word or as the three words of bash', async () => {
    expect(await suggest('status', '--output=y')).toEqual(['--output=yaml', ':4']);
    expect(await suggest('status', '--output', '=', 'y')).toEqual(['yaml', ':4']);
    expect(await suggest('status', '--output', '=')).toContain('wide');
  });

  it.each([
    [['validate', 'we']],
    [['validate', 'one.yaml', '']],
    [['status', '--kubeconfig', '']],
    [['run', '--config=x']],
    [['demo', '--trace', '']],
  ])('leaves file names to the shell: %j', async (words) => {
    expect(await suggest(...words)).toEqual([':0']);
  });

  it('has no suggestion for an argument too many', async () => {
    expect(await suggest('show', 'one.yaml', '')).toEqual([':4']);
  });

  it('completes scalers of the service, with their namespace unless it is the present one', async () => {
    const url = ['--url', service.url];

    expect(await suggest('explain', ...url, '')).toEqual(['shop/checkout', 'shop/search', 'web', ':4']);
    expect(await suggest('pause', ...url, '-n', 'shop', 'c')).toEqual(['checkout', ':4']);
    expect(await suggest('resume', ...url, 'shop/s')).toEqual(['shop/search', ':4']);
    expect(await suggest('status', ...url, '--namespace', '')).toEqual(['default', 'shop', ':4']);
  });

  it('suggests nothing if the service does not answer', async () => {
    expect(await suggest('explain', '--url', REFUSED, '')).toEqual([':4']);
    expect(await suggest('doctor', '--kubeconfig', '/nowhere', '')).toEqual([':4']);
  });
});
