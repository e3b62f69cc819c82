import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServer, type FakeServer } from '../../prometheus/fakes.js';
import { folderOf, type Ran, runCli } from '../fake-io.js';
import { scalerYaml } from '../../support/scaler-yaml.js';

const documentOf = (query: string): string =>
  scalerYaml({ metrics: [`external: { query: '${query}', target: { averageValue: 1 } }`] });

const END = '2026-01-05T12:00:00Z';

const cwd = folderOf({
  'web.yaml': documentOf('sum(rps)'),
  'other.yaml': documentOf('sum(other)'),
  'text.json': 'no JSON',
  'config.json': '{"prometheus": {}}',
  'step.json':
    '{"format": 1, "from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z", "stepSeconds": 0, "sources": {}, "answers": []}',
  'long.json':
    '{"format": 1, "from": "2020-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z", "stepSeconds": 3600, "sources": {}, "answers": []}',
  'answer.json':
    '{"format": 1, "from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z", "stepSeconds": 15, "sources": {}, "answers": [{}]}',
});

/** It refuses more than 200 points; the load rises from 0 by one per minute, but the query `sum(other)` has none. */
async function serve(): Promise<FakeServer> {
  return startServer((response, { form }) => {
    if (!form.has('step')) {
      response.writeHead(404).end();
      return;
    }
    const [start = 0, end = 0, step = 1] = ['start', 'end', 'step'].map((name) => Number(form.get(name)));
    if ((end - start) / step >= 200) {
      const refusal = { status: 'error', errorType: 'bad_data', error: 'exceeded maximum resolution' };
      response.writeHead(400).end(JSON.stringify(refusal));
      return;
    }
    const values: (readonly [number, string])[] = [];
    for (let second = start; second <= end; second += step)
      values.push([second, String((second - Date.parse(END) / 1000 + 7200) / 60)]);
    const result = form.get('query')?.startsWith('sum(sum(rps)') === true ? [{ metric: {}, values }] : [];
    response
      .writeHead(200)
      .end(JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } }));
  });
}

const backtest = (...more: readonly string[]): Promise<Ran> =>
  runCli(['backtest', '--scaler', 'web.yaml', '--capacity', '1', '-o', 'json', ...more], { cwd });

describe('a saved history', () => {
  let server: FakeServer;
  let first: Ran;

  beforeAll(async () => {
    server = await serve();
    const times = ['--from', '2h', '--to', END, '--no-cache', '--save-history', 'history.json'];
    first = await backtest('--prometheus', server.url, ...times);
    await server.close();
  });
  afterAll(() => server.close());

  it('gives the same report without the server, also after answers in halves', async () => {
    expect([first.stderr, first.exitCode]).toEqual(['', 0]);
    expect(first.stdout).toContain('"peak_pods": 20');

    expect(await backtest('--history', 'history.json')).toEqual(first);
  });

  it('contains neither the address of the server nor credentials', () => {
    expect(readFileSync(join(cwd, 'history.json'), 'utf8')).not.toContain('http');
  });

  it('without the metric of another document is an error that names the metric', async () => {
    const { stderr, exitCode } = await backtest('--history', 'history.json', '--against', 'other.yaml');

    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /the history of metric \S+ from .* the file of --history has no answer to this query; save the history again with all documents/,
    );
  });

  it.each([
    [
      ['--history', 'text.json'],
      1,
      'text.json is not JSON; promscaler backtest --save-history writes a valid file',
    ],
    [['--history', 'config.json'], 1, 'config.json is not a saved history of format 1'],
    [['--history', 'step.json'], 1, 'step.json has no valid stepSeconds'],
    [
      ['--history', 'long.json'],
      1,
      'long.json covers 2193d in steps of 3600 s; at most 400 days and 520000 steps are accepted',
    ],
    [['--history', 'answer.json'], 1, 'answer.json has an invalid answer'],
    [['--history', 'absent.json'], 1, '--history: reading absent.json: '],
    [
      ['--history', 'history.json', '--from', '1h'],
      2,
      '--history already contains the time range: remove --from',
    ],
    [
      ['--history', 'history.json', '--trace', 'day.csv'],
      2,
      '--trace is the only source of the load: remove --history',
    ],
  ])('rejects %j with exit code %d', async (args, code, text) => {
    const { stderr, exitCode } = await backtest(...args);

    expect(stderr).toContain(text);
    expect(exitCode).toBe(code);
  });

  it('is not written to a directory that is missing', async () => {
    const late = await serve();
    const args = ['--from', '1h', '--to', END, '--no-cache', '--save-history', 'none/history.json'];

    const { stderr, exitCode } = await backtest('--prometheus', late.url, ...args);

    await late.close();
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining(
        '--save-history: writing none/history.json: there is no directory none. Create it first',
      ),
    ]);
  });

  it('with a changed character is an error or a report, never a crash', async () => {
    const text = readFileSync(join(cwd, 'history.json'), 'utf8');
    // Another time only takes longer.
    const begin = text.indexOf('"stepSeconds"');
    for (let seed = 1; seed <= 30; seed += 1) {
      const place = begin + ((seed * 7919) % Math.min(text.length - begin, 10_000));
      writeFileSync(
        join(cwd, 'changed.json'),
        `${text.slice(0, place)}${'{}[]",0n'.charAt(seed % 8)}${text.slice(place + 1 + (seed % 3))}`,
      );

      const { exitCode, stderr } = await backtest('--history', 'changed.json');

      expect([exitCode <= 1, stderr.includes('internal')]).toEqual([true, false]);
    }
  });
});
