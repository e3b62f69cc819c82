import { afterEach, describe, expect, it } from '@jest/globals';
import { VERSION } from '../../src/cli/version.js';
import type { Problem } from '../../src/scaler/problems/problem.js';
import { createLedger } from '../../src/telemetry/ledger.js';
import type { Ledger } from '../../src/telemetry/ledger.js';
import { parseInstant } from '../../src/units/time.js';
import { ManualClock, eventually } from '../support/manual-clock.js';
import { runCli } from './fake-io.js';
import type { Surroundings } from './fake-io.js';
import { appOf, cpuSnapshot, listen, recordOf, scalerDocument } from './live-service.js';
import type { Listening } from './live-service.js';

let service: Listening | null = null;

afterEach(() => service?.close());

async function serve(ledger: Ledger): Promise<readonly string[]> {
  service = await listen(appOf(ledger));
  return ['--url', service.url];
}

const CLOCK_AT_20_S = (): ManualClock => new ManualClock('2026-01-01T00:00:20Z');

/** Four scalers: one rises, one is held by its window, one has lost its metric, one is elsewhere and in dry run. */
function fourScalers(): Ledger {
  const ledger = createLedger();
  ledger.add(recordOf(cpuSnapshot(83), { outcome: { kind: 'patched', from: 4, to: 6, message: '' } }));
  const state = { recommendations: [{ at: '2025-12-31T23:59:00Z', replicas: 4 }] };
  ledger.add(recordOf(cpuSnapshot(30, { name: 'api', state })));
  ledger.add(recordOf(cpuSnapshot(0, { name: 'dead', samples: [{ error: 'gone', kind: 'missing' }] })));
  const elsewhere = recordOf(cpuSnapshot(60, { name: 'zoo', namespace: 'animals' }));
  const held = { type: 'Held', status: 'True', reason: 'DryRun', message: '' } as const;
  ledger.add({ ...elsewhere, conditions: [...elsewhere.conditions, held] });
  return ledger;
}

describe('status', () => {
  it('shows 4 scalers by namespace and name, as kubectl get hpa does', async () => {
    const url = await serve(fourScalers());

    const { exitCode, stdout } = await runCli(['status', ...url], { clock: CLOCK_AT_20_S() });

    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      [
        'NAMESPACE   NAME   TARGET            METRICS              MIN   MAX   REPLICAS   DESIRED   HELD                      CHANGED',
        'animals     zoo    Deployment/zoo    cpu: 60%/60%         2     10    4          4         DryRun                    <none>',
        'shop        api    Deployment/api    cpu: 30%/60%         2     10    4          4         stabilization 3m40s       <none>',
        'shop        dead   Deployment/dead   cpu: <unknown>/60%   2     10    4          4         FailedGetResourceMetric   <none>',
        'shop        web    Deployment/web    cpu: 83%/60%         2     10    4          6         -                         20s',
        '',
      ].join('\n'),
    );
  });

  it.each([
    [{ direction: 'both', until: parseInstant('2026-01-01T02:00:20Z'), replicas: null }, 'Paused 2h'],
    [{ direction: 'scale-up', until: null, replicas: null }, 'Paused scale-up'],
    [{ direction: 'both', until: null, replicas: 3 }, 'Paused at 3'],
  ] as const)('shows the pause %j as %s', async (pause, text) => {
    const ledger = createLedger();
    const record = recordOf(cpuSnapshot(60), { pause: { by: 'annotation', message: '', ...pause } });
    const held = { type: 'Held', status: 'True', reason: 'Paused', message: '' } as const;
    ledger.add({ ...record, conditions: [...record.conditions, held] });
    const url = await serve(ledger);

    const { stdout } = await runCli(['status', ...url], { clock: CLOCK_AT_20_S() });

    expect(stdout).toContain(` ${text}   `);
  });

  it.each([
    ['Unschedulable', 'Unschedulable'],
    ['Starting', '-'],
  ])('shows in HELD of pods that are short as %s: %s', async (reason, shown) => {
    const ledger = createLedger();
    const cycle = recordOf(cpuSnapshot(60));
    const short = { type: 'TargetReached', status: 'False', reason, message: '' } as const;
    ledger.add({ ...cycle, conditions: [...cycle.conditions, short] });

    const { stdout } = await runCli(['status', ...(await serve(ledger))], { clock: CLOCK_AT_20_S() });

    expect(stdout.split('\n')[1]).toMatch(new RegExp(` ${shown} +<none>$`));
  });

  it.each([
    [2, 'DryRun +2 to HPA'],
    [0, 'DryRun 0 to HPA'],
    [-1, 'DryRun -1 to HPA'],
  ])('shows that a dry run is %i apart from the HPA beside it', async (difference, shown) => {
    const ledger = createLedger();
    const shadow = { beside: 'HorizontalPodAutoscaler shop/web', theirReplicas: 4, difference };
    const cycle = recordOf(cpuSnapshot(60), { shadow, dryRun: true });
    const held = { type: 'Held', status: 'True', reason: 'DryRun', message: '' } as const;
    ledger.add({ ...cycle, conditions: [...cycle.conditions, held] });

    const { stdout } = await runCli(['status', ...(await serve(ledger))], { clock: CLOCK_AT_20_S() });

    expect(stdout).toContain(`   ${shown}   `);
  });

  it('shows in HELD that somebody takes the replicas back', async () => {
    const ledger = createLedger();
    const conflictingWriter = { managers: [], since: '2026-01-01T00:00:00Z', message: 'somebody does it' };
    ledger.add(recordOf(cpuSnapshot(60), { conflictingWriter }));

    const { stdout } = await runCli(['status', ...(await serve(ledger))], { clock: CLOCK_AT_20_S() });

    expect(stdout).toMatch(/ ConflictingWriter +<none>\n$/);
  });

  it('shows 2 of 3 metrics and counts the third, memory in binary units', async () => {
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

    const { stdout } = await runCli(['status', ...url]);

    expect(stdout).toContain('  cpu: 0.25/0.5 (avg), memory: 900Mi/1Gi (avg) + 1 more  ');
  });

  it('keeps to one namespace, and says where there is none in it', async () => {
    const url = await serve(fourScalers());

    const some = await runCli(['status', '-n', 'animals', ...url]);
    const none = await runCli(['status', '-n', 'nowhere', ...url]);

    expect(some.stdout.split('\n')).toHaveLength(3);
    expect([none.exitCode, none.stdout]).toEqual([0, '']);
    expect(none.stderr).toContain('has no scaler in namespace nowhere');
  });

  it('colors the rows that fail or change on a terminal only, and not with NO_COLOR', async () => {
    const url = await serve(fourScalers());

    const piped = await runCli(['status', ...url]);
    const terminal = await runCli(['status', ...url], { isTerminal: true });
    const plain = await runCli(['status', ...url], { isTerminal: true, env: { NO_COLOR: '1' } });

    const colored = ({ stdout }: { stdout: string }): string[] =>
      stdout.split('\n').filter((line) => line.includes('\u001b['));
    expect(colored(terminal).map((line) => /shop +(\w+)/.exec(line)?.[1])).toEqual(['dead', 'web']);
    expect([colored(piped), colored(plain)]).toEqual([[], []]);
  });

  it('follows all pages of 1,001 scalers, and gives them as JSON', async () => {
    const ledger = createLedger();
    for (let index = 0; index < 1001; index += 1)
      ledger.add(recordOf(cpuSnapshot(60, { name: `s${index}` })));
    const url = await serve(ledger);

    const { stdout } = await runCli(['status', '-o', 'json', ...url]);

    const { items, ...rest } = JSON.parse(stdout) as { items: { name: string }[] };
    expect(rest).toEqual({ version: VERSION, leader: true, problems: [] });
    expect(new Set(items.map(({ name }) => name)).size).toBe(1001);
  });
});

describe('status, where documents are refused', () => {
  const problem = (index: number, severity: 'error' | 'warning' = 'error'): Problem => ({
    code: 'replica-bounds',
    severity,
    message: `minReplicas is ${index}\u001b[2J`,
    file: `scalers/${index}.yaml`,
    place: { line: 4, column: 1 },
    path: 'spec.minReplicas',
    sourceLine: null,
  });

  it('names the first 5 of 7 after a warning, and how to see the others', async () => {
    const problems = [problem(0, 'warning'), ...[1, 2, 3, 4, 5, 6, 7].map((index) => problem(index))];
    service = await listen(appOf(fourScalers(), {}, { problems: () => problems }));

    const { exitCode, stderr } = await runCli(['status', '--url', service.url]);

    expect(exitCode).toBe(0);
    expect(stderr.split('\n')).toEqual([
      ...[1, 2, 3, 4, 5].map(
        (index) =>
          `promscaler: a document is refused: scalers/${index}.yaml:4: minReplicas is ${index}\ufffd[2J`,
      ),
      'promscaler: and 2 more problems of documents: status -o json',
      '',
    ]);
  });

  it('has them all in JSON, errors first', async () => {
    const problems = [problem(0, 'warning'), problem(1)];
    service = await listen(appOf(createLedger(), {}, { problems: () => problems }));

    const { stdout } = await runCli(['status', '-o', 'json', '--url', service.url]);

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

describe('status of a replica', () => {
  it('that does not lead says so beside the 4 rows that it last knew', async () => {
    service = await listen(appOf(fourScalers(), {}, { isLeading: () => false }));

    const { exitCode, stdout, stderr } = await runCli(['status', '--url', service.url]);

    expect([exitCode, stdout.split('\n').length]).toEqual([0, 6]);
    expect(stderr).toBe(
      'promscaler: this replica does not lead: another one decides, and these rows are what this one last knew\n',
    );
  });

  it('that does not lead and knows of none says that another one decides', async () => {
    service = await listen(appOf(createLedger(), {}, { isLeading: () => false }));

    const { exitCode, stdout, stderr } = await runCli(['status', '--url', service.url]);

    expect([exitCode, stdout]).toEqual([0, '']);
    expect(stderr).toContain('this replica does not lead and knows of no scaler: another one decides\n');
  });

  it.each([
    ['0.0.9', 'is of version 0.0.9, this command of '],
    [undefined, `is older than this command (${VERSION}): what it does not tell is unknown`],
  ])('of version %s is shown as far as it tells', async (version, sentence) => {
    const items = [{ namespace: 'shop', name: 'web' }];
    service = await listen((_request, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ version, items, continue: null }));
    });

    const { exitCode, stdout, stderr } = await runCli(['status', '--url', service.url]);

    expect([exitCode, stdout.includes('<unknown>'), stderr.includes(sentence)]).toEqual([0, true, true]);
  });

  it('tells it in JSON as fields alone', async () => {
    service = await listen(appOf(createLedger(), {}, { isLeading: () => false }));

    const { stdout } = await runCli(['status', '-o', 'json', '--url', service.url]);

    expect(JSON.parse(stdout)).toEqual({ version: VERSION, leader: false, problems: [], items: [] });
  });
});

describe('status --watch', () => {
  /** Runs it beside `act`, which gets the clock and what was written, and stops it afterwards. */
  async function watching(
    argv: readonly string[],
    act: (clock: ManualClock, written: { stdout: string; stderr: string }) => Promise<void>,
    terminal: Pick<Surroundings, 'isTerminal' | 'rows'> = {},
  ): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }> {
    const clock = CLOCK_AT_20_S();
    const stop = new AbortController();
    const written = { stdout: '', stderr: '' };
    const running = runCli(['status', '--watch', ...argv], {
      ...terminal,
      clock,
      signal: stop.signal,
      written,
    });
    await eventually(() => written.stdout !== '', 'the first table');
    await act(clock, written);
    stop.abort();
    return running;
  }

  /** Lets the period of 3 s pass, and the answer come. */
  async function nextRound(clock: ManualClock): Promise<void> {
    await eventually(() => clock.nextMs === 3000, 'the wait for the next round');
    clock.advance(3000);
    await eventually(() => clock.nextMs === 3000, 'the end of the round');
  }

  /** A service that answers 500 while it `isAway`. */
  async function serveAtTimes(ledger: Ledger): Promise<{ readonly url: readonly string[]; isAway: boolean }> {
    const app = appOf(ledger);
    const state = { isAway: false };
    service = await listen((request, response) => {
      if (state.isAway) response.writeHead(500).end();
      else app(request, response);
    });
    return Object.assign(state, { url: ['--url', service.url] });
  }

  it('prints a row again once it has changed, below its column, and not because time has passed', async () => {
    const ledger = fourScalers();
    const url = await serve(ledger);

    const { exitCode, stdout } = await watching(url, async (clock) => {
      await nextRound(clock);
      ledger.add(recordOf(cpuSnapshot(90, { name: 'api' })));
      await nextRound(clock);
    });

    const lines = stdout.trimEnd().split('\n');
    expect([exitCode, lines.length]).toEqual([0, 6]);
    expect(lines[5]).toMatch(/^shop {8}api {4}Deployment\/api {4}cpu: 90%\/60% /);
  });

  it('tells once that the service is away for 2 rounds, and goes on when it is back', async () => {
    const ledger = fourScalers();
    const served = await serveAtTimes(ledger);

    const { exitCode, stdout, stderr } = await watching(served.url, async (clock) => {
      served.isAway = true;
      await nextRound(clock);
      await nextRound(clock);
      served.isAway = false;
      ledger.add(recordOf(cpuSnapshot(90, { name: 'api' })));
      await nextRound(clock);
    });

    expect([exitCode, stdout.trimEnd().split('\n').length]).toEqual([0, 6]);
    expect(stderr.match(/500 Internal Server Error/g)).toHaveLength(1);
  });

  it('draws the whole table anew on a terminal, the last one while the service is away', async () => {
    const ledger = fourScalers();
    const served = await serveAtTimes(ledger);

    const { stdout, stderr } = await watching(
      served.url,
      async (clock) => {
        ledger.add(recordOf(cpuSnapshot(90, { name: 'api' })));
        await nextRound(clock);
        served.isAway = true;
        await nextRound(clock);
      },
      { isTerminal: true },
    );

    const screens = stdout
      .split('\u001b[H')
      .slice(1)
      // eslint-disable-next-line no-control-regex
      .map((screen) => screen.replace(/\u001b\[(?:\d*m|[KJ])/g, '').split('\n'));
    expect(screens.map((lines) => lines[0])).toEqual(
      ['20', '23', '26'].map(
        (second) => `${service?.url ?? ''}, 2026-01-01T00:00:${second}Z, every 3 s; Ctrl-C ends it`,
      ),
    );
    expect(screens.map((lines) => lines.find((line) => line.includes(' api '))?.includes('90%'))).toEqual([
      false,
      true,
      true,
    ]);
    expect(screens[2]?.[1]).toContain('500 Internal Server Error');
    expect(stderr).toBe('');
  });

  it('cuts the table to a terminal of 5 lines', async () => {
    const url = await serve(fourScalers());

    const { stdout } = await watching(url, () => Promise.resolve(), { isTerminal: true, rows: 5 });

    expect(stdout.split('\n')).toHaveLength(5);
    expect(stdout).toContain('... and 4 more; --namespace shows fewer');
  });

  it('writes one compact JSON line a scaler, and no more for one that stays as it is', async () => {
    const url = await serve(fourScalers());

    const { stdout } = await watching(['-o', 'json', ...url], nextRound);

    const names = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { name: string }).name);
    expect(names).toEqual(['zoo', 'api', 'dead', 'web']);
  });
});
