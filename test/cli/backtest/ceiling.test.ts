import { afterAll, describe, expect, it } from '@jest/globals';
import { type FakeServer, startServer } from '../../prometheus/fakes.js';
import { folderOf, type Ran, runCli } from '../fake-io.js';
import { scalerYaml } from '../../support/scaler-yaml.js';

const CEILING = '  maxReplicasFrom: { query: sum(free_gpus) }\n';
/** A peak of 15 minutes. */
const PEAK = Array.from(
  { length: 60 },
  (_, minute) => `${minute * 60},${minute >= 20 && minute < 35 ? 100 : 20}`,
);
const cwd = folderOf({
  'web.yaml': `${scalerYaml()}${CEILING}`,
  'plain.yaml': scalerYaml(),
  'peak.csv': `t_seconds,value\n${PEAK.join('\n')}\n`,
});

interface Report {
  readonly assumptions: readonly string[];
  readonly variants: readonly { readonly figures: Readonly<Record<string, unknown>> }[];
}

function peakOf({ stdout, stderr }: Ran): readonly [unknown, unknown, readonly string[]] {
  expect(stderr).toBe('');
  const { assumptions, variants } = JSON.parse(stdout) as Report;
  const { peak_pods: peak, by_limit: byLimit } = variants[0]?.figures ?? {};
  const lines = assumptions.filter((line) => line.includes('maxReplicasFrom'));
  return [peak, (byLimit as Readonly<Record<string, number>>)['max_replicas_from'], lines];
}

describe('maxReplicasFrom in a back-test on a load trace', () => {
  const backtest = (document: string, ...more: readonly string[]): Promise<Ran> =>
    runCli(
      ['backtest', '--scaler', document, '--trace', 'peak.csv', '--capacity', '10', '-o', 'json', ...more],
      { cwd },
    );

  it('is left out, and the assumptions say so', async () => {
    expect(peakOf(await backtest('web.yaml'))).toEqual([
      13,
      undefined,
      [
        'maxReplicasFrom is omitted, because a load trace contains no value for this field (set a value with --max-replicas-from)',
      ],
    ]);
    expect(peakOf(await backtest('plain.yaml'))).toEqual([13, undefined, []]);
  });

  it('has the value of --max-replicas-from: 9 pods instead of 13', async () => {
    expect(peakOf(await backtest('web.yaml', '--max-replicas-from', '9'))).toEqual([
      9,
      expect.any(Number),
      ['maxReplicasFrom is 9 (--max-replicas-from)'],
    ]);
  });

  it.each([
    ['plain.yaml', '9', '--max-replicas-from: no document has maxReplicasFrom'],
    ['web.yaml', '-1', '--max-replicas-from is "-1", must be an integer, at least 0'],
  ])('rejects the option for %s with %s', async (document, value, message) => {
    const { exitCode, stderr } = await backtest(document, '--max-replicas-from', value);

    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('maxReplicasFrom in a back-test on a history', () => {
  const END = 1_700_000_000;
  const servers: FakeServer[] = [];
  afterAll(async () => {
    await Promise.all(servers.map(({ close }) => close()));
  });

  /** Total cpu is 0.7 cores, and 3.5 in the last hour. `freeAt`: what the query of the ceiling returns. */
  async function backtest(
    freeAt: (second: number) => number | null,
    ...more: readonly string[]
  ): Promise<Ran> {
    const server = await startServer((response, { url, form }) => {
      const query = form.get('query') ?? '';
      const [start = 0, end = 0, step = 1] = ['start', 'end', 'step'].map((name) => Number(form.get(name)));
      const valueAt = query.startsWith('sum by (promscaler_target)')
        ? (second: number): number => (second > END - 3600 ? 3.5 : 0.7)
        : query === 'sum(sum(free_gpus)\n)'
          ? freeAt
          : (): null => null;
      const values: (readonly [number, string])[] = [];
      for (let second = start; url.includes('query_range') && second <= end; second += step) {
        const value = valueAt(second);
        if (value !== null) values.push([second, String(value)]);
      }
      const result = values.length === 0 ? [] : [{ metric: { promscaler_target: 'yes' }, values }];
      const body = { status: 'success', data: { resultType: 'matrix', result } };
      response.writeHead(200).end(JSON.stringify(body));
    });
    servers.push(server);
    return runCli(
      [
        ...['backtest', '--scaler', 'web.yaml', '--prometheus', server.url, '-o', 'json', '--no-cache'],
        ...['--request', '500m', '--from', '2h', '--to', new Date(END * 1000).toISOString(), ...more],
      ],
      { cwd },
    );
  }
  const recorded = ['the value of maxReplicasFrom is the recorded result of its query (--max-replicas-from)'];

  it('is what its query returned: 6 pods instead of 10', async () => {
    expect(peakOf(await backtest(() => 99))).toEqual([10, undefined, recorded]);
    expect(peakOf(await backtest(() => 6))).toEqual([6, expect.any(Number), recorded]);
  });

  it('keeps its last value in a gap, and --max-replicas-from replaces it', async () => {
    const untilPeak = (second: number): number | null => (second < END - 4000 ? 6 : null);

    expect(peakOf(await backtest(untilPeak))).toEqual([6, expect.any(Number), recorded]);
    expect(peakOf(await backtest(untilPeak, '--max-replicas-from', '8'))[0]).toBe(8);
  });

  it('without values warns that only maxReplicas applies', async () => {
    const { stderr, stdout } = await backtest(() => null);

    expect(stderr).toBe(
      'promscaler: warning: maxReplicasFrom has no values from the data source, so only maxReplicas applies\n',
    );
    expect(peakOf({ stdout, stderr: '', exitCode: 0 })[0]).toBe(10);
  });
});
