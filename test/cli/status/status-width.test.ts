import { describe, expect, it } from '@jest/globals';
import type { Problem } from '../../../src/scaler/problems/problem.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { runCli } from '../fake-io.js';
import { appOf, cpuSnapshot, recordOf, scalerDocument } from '../live-service.js';
import { CLOCK_AT_20_S, fourScalers, serve, serveApp } from './status-fixture.js';

describe('the table of status', () => {
  const INVALID: Problem = {
    code: 'replica-bounds',
    severity: 'error',
    message: 'minReplicas is 9',
    file: 'x.yaml',
    place: null,
    path: 'spec.minReplicas',
    sourceLine: null,
    scaler: 'shop/x',
  };

  it.each([
    [
      80,
      ['    2 recommended, 4 was recommended at Dec 31, 23:59:00 and counts for 300 s', '    (3m40s left)'],
    ],
    [119, ['    2 recommended, 4 was recommended at Dec 31, 23:59:00 and counts for 300 s (3m40s left)']],
  ])(
    'prints the time in the state, and the whole cause below the row, in %i characters',
    async (columns, cause) => {
      const url = await serveApp(appOf(fourScalers(), {}, { problems: () => [INVALID] }));

      const { stdout } = await runCli(['status', '--url', url], {
        clock: CLOCK_AT_20_S(),
        env: { COLUMNS: String(columns) },
      });

      expect(stdout.split('\n')).toEqual([
        'NAMESPACE  NAME  METRICS             REPLICAS     STATE        SINCE',
        'animals    zoo   cpu: 60%/60%        4 (2-10)     DryRun       20s',
        '    would keep 4 replicas',
        'shop       api   cpu: 30%/60%        4 (2-10)     Stabilizing  20s',
        ...cause,
        'shop       dead  cpu: <unknown>/60%  4 (2-10)     NoData       20s',
        '    cpu: gone',
        'shop       web   cpu: 83%/60%        4->6 (2-10)  OK           20s',
        '    scaled from 4 to 6',
        'shop       x                         <unknown>    Invalid      <unknown>',
        '    spec.minReplicas: minReplicas is 9',
        '',
      ]);
    },
  );

  it('prints all metrics, memory in binary units, and in a narrow terminal one and the count of others', async () => {
    const averages = { cpu: '500m', memory: '1Gi', other: 5 };
    const metrics = Object.entries(averages).map(([name, averageValue]) =>
      name === 'other'
        ? { external: { metric: { name }, query: 'x', target: { value: averageValue } } }
        : { resource: { name, target: { averageValue } } },
    );
    const containers = (value: number): object => ({ a: { app: value }, b: { app: value } });
    const at = '2026-01-01T00:00:00Z';
    const ledger = createLedger();
    ledger.add(
      recordOf(
        cpuSnapshot(0, {
          scaler: scalerDocument({ metrics }),
          samples: [
            { at, containers: containers(0.25) },
            { at, containers: containers(900 * 1024 ** 2) },
            { at, values: [1] },
          ],
        }),
      ),
    );
    const url = await serve(ledger);

    const wide = await runCli(['status', '-o', 'wide', ...url]);
    const piped = await runCli(['status', ...url]);
    const narrow = await runCli(['status', ...url], { isTerminal: true, columns: 119 });

    for (const { stdout } of [wide, piped])
      expect(stdout).toContain('  cpu: 0.25/0.5 (avg), memory: 900Mi/1Gi (avg), ');
    expect(narrow.stdout).toContain('  cpu: 0.25/0.5 (avg) + 2 more  ');
  });

  /** A scaler with a long metric, a long window and a failing query. */
  async function serveLongRow(): Promise<readonly string[]> {
    const ledger = fourScalers();
    const metric = { name: 'a-very-long-name-of-a-metric-that-nobody-reads' };
    const metrics = [
      { external: { metric, query: 'x', target: { averageValue: 30 } } },
      { external: { metric: { name: 'gone' }, query: 'y', target: { averageValue: 30 } } },
    ];
    const scaler = scalerDocument({ name: 'recommendation-engine', namespace: 'storefront', metrics });
    const samples = [
      { at: '2026-01-01T00:00:00Z', values: [123_456.789] },
      { error: 'gone', kind: 'missing' },
    ];
    const state = { recommendations: [{ at: '2025-12-31T23:59:00Z', replicas: 6000 }] };
    ledger.add(recordOf(cpuSnapshot(0, { scaler, samples, state })));
    return serve(ledger);
  }

  const WHOLE =
    /^storefront +recommendation-engine +a-very-long-name-of-a-metric-that-nobody-reads: 30864\.198\/30 \(avg\), gone: <unknown>\/30 \(avg\) .* NoData {7}20s {4}gone: gone$/m;

  it.each([
    ['in a pipe', {}],
    ['on a terminal of 280 characters', { isTerminal: true, columns: 280 }],
    ['with COLUMNS=280 in a pipe', { env: { COLUMNS: '280' } }],
    ['with COLUMNS=280 on a terminal of 80', { isTerminal: true, columns: 80, env: { COLUMNS: '280' } }],
  ])('text is complete %s', async (_case, surroundings) => {
    const url = await serveLongRow();

    const { stdout } = await runCli(['status', ...url], {
      clock: CLOCK_AT_20_S(),
      ...surroundings,
      env: { NO_COLOR: '1', ...('env' in surroundings ? surroundings.env : {}) },
    });

    expect(stdout).toMatch(WHOLE);
    expect(stdout).not.toContain('...');
  });

  it.each([
    [80, { isTerminal: true, columns: 80 }, '  30864.198/30   '],
    [119, { isTerminal: true, columns: 119 }, '  a-very-long-name-of...: 30864.198/30 (avg) + 1 more  '],
    [119, { env: { COLUMNS: '119' } }, '  a-very-long-name-of...: 30864.198/30 (avg) + 1 more  '],
    [140, { isTerminal: true, columns: 140 }, '(avg)  '],
  ])('text fits %i characters, names of scalers and values complete: %j', async (columns, given, metrics) => {
    const url = await serveLongRow();

    const { stdout } = await runCli(['status', ...url], {
      clock: CLOCK_AT_20_S(),
      ...given,
      env: { NO_COLOR: '1', ...('env' in given ? given.env : {}) },
    });

    const lines = stdout.trimEnd().split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    expect(stdout).toContain('storefront  recommendation-engine  ');
    expect(stdout).toContain(metrics);
  });

  it('text has the same form of metrics on a terminal of 80 characters, whatever the values are', async () => {
    const ledger = createLedger();
    ledger.add(recordOf(cpuSnapshot(60)));
    const url = await serve(ledger);
    const terminal = { clock: CLOCK_AT_20_S(), isTerminal: true, columns: 80, env: { NO_COLOR: '1' } };

    const first = await runCli(['status', ...url], terminal);
    const state = { recommendations: [{ at: '2025-12-31T23:59:00Z', replicas: 4 }] };
    ledger.add(recordOf(cpuSnapshot(30, { name: 'a-scaler-of-20-chars', state })));
    const second = await runCli(['status', ...url], terminal);

    expect([first, second].map(({ stdout }) => stdout.includes('  cpu: 60%/60%  '))).toEqual([true, true]);
    expect(second.stdout).toContain('  cpu: 30%/60%  ');
  });
});
