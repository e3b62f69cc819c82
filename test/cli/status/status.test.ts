import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { VERSION } from '../../../src/cli/output/version.js';
import type { Problem } from '../../../src/scaler/problems/problem.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { rejectionsOf } from '../../../src/telemetry/rejections.js';
import { at } from '../../support/builders.js';
import { runCli } from '../fake-io.js';
import { appOf, cpuSnapshot, recordOf } from '../live-service.js';
import { CLOCK_AT_20_S, fourScalers, serve, serveApp } from './status-fixture.js';

const REPLICA_BOUNDS: Problem = {
  code: 'replica-bounds',
  severity: 'error',
  message: 'minReplicas is 9',
  file: 'web.yaml',
  place: null,
  path: 'spec.minReplicas',
  sourceLine: null,
  scaler: 'animals/zoo',
};

describe('status', () => {
  it('prints 4 scalers by namespace and name, as kubectl get hpa does', async () => {
    const url = await serve(fourScalers());

    const { exitCode, stdout } = await runCli(['status', ...url], { clock: CLOCK_AT_20_S() });

    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      [
        'NAMESPACE  NAME  METRICS             MIN  MAX  REPLICAS  STATE        SINCE  CAUSE',
        'animals    zoo   cpu: 60%/60%        2    10   4         DryRun       20s    would keep 4 replicas',
        'shop       api   cpu: 30%/60%        2    10   4         Stabilizing  20s    2 recommended, 4 was recommended at Dec 31, 23:59:00 and counts for 300 s (3m40s left)',
        'shop       dead  cpu: <unknown>/60%  2    10   4         NoData       20s    cpu: gone',
        'shop       web   cpu: 83%/60%        2    10   4->6      OK           20s    scaled from 4 to 6',
        '',
      ].join('\n'),
    );
  });

  it.each(['status', 'explain'])('%s does not print that less than a second is left', async (command) => {
    const url = await serve(fourScalers());
    const clock = CLOCK_AT_20_S();
    const name = command === 'status' ? [] : ['shop/api'];
    clock.advance(219_000);
    const before = await runCli([command, ...name, ...url], { clock });
    clock.advance(600);
    const after = await runCli([command, ...name, ...url], { clock });

    expect(before.stdout).toContain('1s left');
    expect(after.stdout).toContain('Stabilizing');
    expect(after.stdout).not.toContain(' left');
  });

  it('prints more with -o wide, untruncated', async () => {
    const url = await serve(fourScalers());

    const { stdout } = await runCli(['status', '-o=wide', ...url], { clock: CLOCK_AT_20_S() });

    expect(stdout).toBe(
      [
        'NAMESPACE  NAME  TARGET           METRICS             MIN  MAX  REPLICAS  DESIRED  CHANGED  STATE        SINCE  CAUSE',
        'animals    zoo   Deployment/zoo   cpu: 60%/60%        2    10   4         4        <none>   DryRun       20s    would keep 4 replicas',
        'shop       api   Deployment/api   cpu: 30%/60%        2    10   4         4        <none>   Stabilizing  20s    2 recommended, 4 was recommended at Dec 31, 23:59:00 and counts for 300 s (3m40s left)',
        'shop       dead  Deployment/dead  cpu: <unknown>/60%  2    10   4         4        <none>   NoData       20s    cpu: gone',
        'shop       web   Deployment/web   cpu: 83%/60%        2    10   4         6        20s      OK           20s    scaled from 4 to 6',
        '',
      ].join('\n'),
    );
  });

  it('shows a rejected version of a document in the row of the one in effect', async () => {
    const ledger = createLedger();
    ledger.add(recordOf(cpuSnapshot(60, { name: 'zoo', namespace: 'animals' })));
    ledger.setRejections(rejectionsOf([REPLICA_BOUNDS]), at(5));
    const url = await serveApp(appOf(ledger, {}, { problems: () => [REPLICA_BOUNDS] }));

    const { stdout } = await runCli(['status', '--url', url], { clock: CLOCK_AT_20_S() });

    expect(stdout).toMatch(/ Rejected {2}15s {4}spec\.minReplicas: minReplicas is 9\n$/);
  });

  it('prints only one namespace, and reports if that has none', async () => {
    const url = await serve(fourScalers());

    const some = await runCli(['status', '-n', 'animals', ...url]);
    const none = await runCli(['status', '-n', 'nowhere', ...url]);

    expect(some.stdout.split('\n')).toHaveLength(3);
    expect([none.exitCode, none.stdout]).toEqual([0, '']);
    expect(none.stderr).toContain('has no scalers in namespace nowhere');
  });

  it('colors rows that cannot follow or are held on a terminal only, and not with NO_COLOR', async () => {
    const url = await serve(fourScalers());

    const piped = await runCli(['status', ...url]);
    const terminal = await runCli(['status', ...url], { isTerminal: true });
    const plain = await runCli(['status', ...url], { isTerminal: true, env: { NO_COLOR: '1' } });

    const colored = ({ stdout }: { stdout: string }): string[] =>
      stdout.split('\n').filter((line) => line.includes('\u001b['));
    // eslint-disable-next-line no-control-regex
    const texts = colored(terminal).map((line) => line.replace(/\u001b\[\d+m/g, ''));
    expect(texts.map((text) => text.replace(/^\w+ +(\w+).*/, '$1'))).toEqual([
      'zoo',
      '    would keep 4 replicas',
      'dead',
      '    cpu: gone',
    ]);
    expect([colored(piped), colored(plain)]).toEqual([[], []]);
  });

  it('follows all pages of 1,001 scalers, and prints them as JSON', async () => {
    const ledger = createLedger();
    for (let index = 0; index < 1001; index += 1)
      ledger.add(recordOf(cpuSnapshot(60, { name: `s${index}` })));
    const url = await serve(ledger);

    const { stdout } = await runCli(['status', '-o', 'json', ...url]);

    const { items, ...rest } = JSON.parse(stdout) as { items: { name: string }[] };
    expect(rest).toMatchObject({ version: VERSION, leader: true, problems: [] });
    expect(new Set(items.map(({ name }) => name)).size).toBe(1001);
  });
});

describe('status -o', () => {
  it('name prints what explain and pause accept, and -A overrides -n', async () => {
    const url = await serve(fourScalers());

    const all = await runCli(['status', '-o', 'name', '-n', 'shop', '-A', ...url]);
    const shop = await runCli(['status', '-oname', '-n=shop', ...url]);

    expect(all.stdout).toBe('animals/zoo\nshop/api\nshop/dead\nshop/web\n');
    expect(shop.stdout).toBe('shop/api\nshop/dead\nshop/web\n');
  });

  it('yaml has the fields of json', async () => {
    const url = await serve(fourScalers());

    const [yaml, json] = await Promise.all(
      ['yaml', 'json'].map((format) => runCli(['status', '-o', format, ...url])),
    );

    expect(parse(yaml?.stdout ?? '')).toEqual(JSON.parse(json?.stdout ?? ''));
  });
});

describe('status, with invalid documents', () => {
  const problem = (index: number, severity: 'error' | 'warning' = 'error'): Problem => ({
    code: 'replica-bounds',
    severity,
    message: `minReplicas is ${index}\u001b[2J`,
    file: `scalers/${index}.yaml`,
    place: { line: 4, column: 1 },
    path: 'spec.minReplicas',
    sourceLine: null,
  });

  it('names the first 5 of 7 after a warning, and how to list the others', async () => {
    const problems = [problem(0, 'warning'), ...[1, 2, 3, 4, 5, 6, 7].map((index) => problem(index))];
    const url = await serveApp(appOf(fourScalers(), {}, { problems: () => problems }));

    const { exitCode, stderr } = await runCli(['status', '--url', url]);

    expect(exitCode).toBe(0);
    expect(stderr.split('\n')).toEqual([
      ...[1, 2, 3, 4, 5].map(
        (index) => `promscaler: document rejected: scalers/${index}.yaml:4: minReplicas is ${index}\ufffd[2J`,
      ),
      'promscaler: and 2 more problems of documents; see promscaler status -o json',
      '',
    ]);
  });

  it.each([
    ['shop/web', ['web.yaml', 'broken.yaml']],
    ['shop/other', ['broken.yaml']],
  ])('names only those of the named scaler, and those without a name: %s', async (name, files) => {
    const problems = [
      { ...problem(1), file: 'web.yaml', scaler: 'shop/web' },
      { ...problem(2), file: 'api.yaml', scaler: 'shop/api' },
      { ...problem(3), file: 'broken.yaml' },
    ];
    const url = await serveApp(appOf(fourScalers(), {}, { problems: () => problems }));

    const { stderr } = await runCli(['status', name, '--url', url]);

    expect(stderr.match(/\w+\.yaml/g)).toEqual(files);
  });

  it('lists them all in JSON, errors first', async () => {
    const problems = [problem(0, 'warning'), problem(1)];
    const url = await serveApp(appOf(createLedger(), {}, { problems: () => problems }));

    const { stdout } = await runCli(['status', '-o', 'json', '--url', url]);

    expect(JSON.parse(stdout)).toMatchObject({
      problems: [
        {
          severity: 'error',
          code: 'replica-bounds',
          file: 'scalers/1.yaml',
          line: 4,
          path: 'spec.minReplicas',
        },
        { severity: 'warning', file: 'scalers/0.yaml' },
      ],
    });
  });
});

/** The members that a row has in every version, except those that may be null and lists. */
const OLD_ROW = {
  namespace: 'shop',
  name: 'web',
  target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
  at: '2026-01-01T00:00:00Z',
  state: { name: 'OK', severity: 'ok' },
  outcome: { kind: 'none', message: '' },
  paused: false,
  dryRun: false,
};

describe('status of a replica', () => {
  it('that does not lead reports that next to its last 4 rows', async () => {
    const url = await serveApp(appOf(fourScalers(), {}, { isLeading: () => false }));

    const { exitCode, stdout, stderr } = await runCli(['status', '--url', url]);

    expect([exitCode, stdout.split('\n').length]).toEqual([0, 6]);
    expect(stderr).toBe('promscaler: a standby replica answered, so these rows may be outdated\n');
  });

  it('that does not lead and has no rows reports that another one decides', async () => {
    const url = await serveApp(appOf(createLedger(), {}, { isLeading: () => false }));

    const { exitCode, stdout, stderr } = await runCli(['status', '--url', url]);

    expect([exitCode, stdout]).toEqual([0, '']);
    expect(stderr).toContain('a standby replica answered; it has no scalers\n');
  });

  it('of an older version has only the values that it reports', async () => {
    const items = [OLD_ROW];
    const url = await serveApp((_request, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ version: '0.0.9', leader: true, items }));
    });

    const { exitCode, stdout, stderr } = await runCli(['status', '--url', url]);

    expect([exitCode, stdout.includes('<unknown>')]).toEqual([0, true]);
    expect(stderr).toContain('has version 0.0.9, this command has ');
  });

  it('of a newer version has names that this command does not know, and in JSON all that it reports', async () => {
    const state = { name: 'Moonlit', severity: 'tidal', phase: 4 };
    const list = { version: '9.0.0', leader: true, items: [{ ...OLD_ROW, state, tide: 'high' }], extra: 1 };
    const url = await serveApp((_request, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(list));
    });

    const [text, json] = await Promise.all(
      ['text', 'json'].map((format) => runCli(['status', '--url', url, '-o', format])),
    );

    expect([text?.exitCode, text?.stdout]).toEqual([0, expect.stringContaining('Moonlit')]);
    expect(JSON.parse(json?.stdout ?? '')).toMatchObject({ items: [{ state, tide: 'high' }] });
  });

  it('reports it in JSON only as fields', async () => {
    const url = await serveApp(appOf(createLedger(), {}, { isLeading: () => false }));

    const { stdout } = await runCli(['status', '-o', 'json', '--url', url]);

    expect(JSON.parse(stdout)).toMatchObject({ version: VERSION, leader: false, problems: [], items: [] });
  });
});
