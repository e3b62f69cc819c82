import { describe, expect, it } from '@jest/globals';
import type { Ledger } from '../../../src/telemetry/ledger.js';
import { type ManualClock, eventually } from '../../support/manual-clock.js';
import { type Surroundings, runCli } from '../fake-io.js';
import { appOf, cpuSnapshot, recordOf } from '../live-service.js';
import { CLOCK_AT_20_S, fourScalers, serve, serveApp } from './status-fixture.js';

describe('status --watch', () => {
  /** Runs it concurrently with `act`, which gets the clock and the output, and stops it afterwards. */
  async function watching(
    argv: readonly string[],
    act: (clock: ManualClock, written: { stdout: string; stderr: string }) => Promise<void>,
    terminal: Pick<Surroundings, 'isTerminal' | 'rows' | 'columns' | 'env'> = {},
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

  /** Advances by the period of 3 s, and waits for the answer. */
  async function nextRound(clock: ManualClock): Promise<void> {
    await eventually(() => clock.nextMs === 3000, 'the wait for the next round');
    clock.advance(3000);
    await eventually(() => clock.nextMs === 3000, 'the end of the round');
  }

  /** A service that answers 500 while it `isAway`. */
  async function serveAtTimes(ledger: Ledger): Promise<{ readonly url: readonly string[]; isAway: boolean }> {
    const app = appOf(ledger);
    const state = { isAway: false };
    const url = await serveApp((request, response) => {
      if (state.isAway) response.writeHead(500).end();
      else app(request, response);
    });
    return Object.assign(state, { url: ['--url', url] });
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
    expect(lines[5]).toMatch(/^shop {7}api {3}cpu: 90%\/60% /);
  });

  it('reports once that the service is unavailable for 2 rounds, and continues when it recovers', async () => {
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

  it('draws the whole table again on a terminal, and keeps the last one while the service is unavailable', async () => {
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
        (second) => `${served.url[1] ?? ''}, 00:00:${second}, every 3 s (Ctrl-C to exit)`,
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

  it('truncates the table to a terminal of 5 lines', async () => {
    const url = await serve(fourScalers());

    const { stdout } = await watching(url, () => Promise.resolve(), { isTerminal: true, rows: 5 });

    expect(stdout.split('\n')).toHaveLength(5);
    expect(stdout).toContain('... and 4 more; use --namespace to list fewer');
  });

  it.each([{}, { rows: 0, columns: 0 }])(
    'shows every row on a terminal of unknown size: %j',
    async (size) => {
      const url = await serve(fourScalers());

      const { stdout } = await watching(url, () => Promise.resolve(), { isTerminal: true, ...size });

      for (const name of ['zoo', 'api', 'dead', 'web']) expect(stdout).toContain(` ${name} `);
      expect(stdout).not.toContain('more;');
    },
  );

  it('counts the terminal lines of a line that is longer than the terminal', async () => {
    const url = await serve(fourScalers());

    const { stdout } = await watching(['-o', 'wide', ...url], () => Promise.resolve(), {
      isTerminal: true,
      rows: 12,
      columns: 70,
    });

    // Of 10 lines without the count and the last one, header and titles take 5, each row 2.
    expect(stdout).toContain('... and 2 more; use --namespace to list fewer');
  });

  it.each([{ isTerminal: true, env: { TERM: 'dumb' } }, { isTerminal: false }])(
    'prints changed rows if the cursor cannot be moved: %j',
    async (terminal) => {
      const ledger = fourScalers();
      const url = await serve(ledger);

      const { stdout } = await watching(
        url,
        async (clock) => {
          ledger.add(recordOf(cpuSnapshot(90, { name: 'api' })));
          await nextRound(clock);
        },
        terminal,
      );

      expect(stdout).not.toContain('\u001b');
      const rows = stdout.split('\n').filter((line) => /^\w/.test(line));
      expect(rows).toHaveLength(6);
    },
  );

  it('with -o name prints a name whenever its scaler changes', async () => {
    const ledger = fourScalers();
    const url = await serve(ledger);

    const { stdout } = await watching(['-o', 'name', ...url], async (clock) => {
      ledger.add(recordOf(cpuSnapshot(90, { name: 'api' })));
      await nextRound(clock);
    });

    expect(stdout).toBe('animals/zoo\nshop/api\nshop/dead\nshop/web\nshop/api\n');
  });

  it('writes one compact JSON line per scaler, and none for an unchanged one', async () => {
    const url = await serve(fourScalers());

    const { stdout } = await watching(['-o', 'json', ...url], nextRound);

    const names = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { name: string }).name);
    expect(names).toEqual(['zoo', 'api', 'dead', 'web']);
  });
});
