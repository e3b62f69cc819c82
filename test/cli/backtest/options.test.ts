import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderOf, runCli } from '../fake-io.js';
import { scalerYaml } from '../../support/scaler-yaml.js';

const TRACE = `t_seconds,value\n${Array.from({ length: 30 }, (_, minute) => `${minute * 60},70`).join('\n')}\n`;

const cwd = folderOf({ 'web.yaml': scalerYaml(), 'day.csv': TRACE, 'record.ndjson': '{}' });
const ON_TRACE = ['--scaler', 'web.yaml', '--trace', 'day.csv', '--capacity', '10'];

const backtest = (...args: readonly string[]): ReturnType<typeof runCli> =>
  runCli(['backtest', ...args], { cwd });

describe('the options of a back-test', () => {
  it.each([
    [['--replay', 'record.ndjson', '--html', 'x', '--fail-if', 'theta_U>1'], 'remove --fail-if, --html'],
    [[...ON_TRACE, '--from', '1d'], '--trace is the only source of the load: remove --from'],
    [
      [...ON_TRACE, '--save-history', 'x', '--step', '5s'],
      '--trace has no history: remove --step, --save-history',
    ],
    [
      ['--scaler', 'web.yaml', '--history', 'x', '--start', 'x'],
      '--history already contains the time range: remove --start',
    ],
    [
      ['--scaler', 'web.yaml', '--prometheus', 'http://x', '--from', '1d', '--start', 'x'],
      '--prometheus takes the start from --from: remove --start',
    ],
    [
      [...ON_TRACE, '--recommend', 'theta_U<=1', '--fail-if', 'theta_U>1'],
      '--recommend has its own condition: remove --fail-if',
    ],
    [[...ON_TRACE, '--recommend', 'cost<=1'], '--recommend cost needs --price'],
    [[...ON_TRACE, '--html', './day.csv'], '--html: ./day.csv is also read, and would be overwritten'],
    [
      ['--scaler', 'web.yaml#shop/web', '--from', '1d', '--save-history', 'web.yaml'],
      '--save-history: web.yaml is also read',
    ],
    [
      ['--scaler', 'web.yaml', '--from', '1d', '--html', 'x', '--save-history', 'x'],
      '--save-history: x is also the file of --html',
    ],
  ])('that contradict each other are rejected: %j', async (args, message) => {
    const { exitCode, stdout, stderr } = await backtest(...args);

    expect([exitCode, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
  });

  it('reject a page that cannot be written before the run', async () => {
    const { exitCode, stdout, stderr } = await backtest(...ON_TRACE, '--html', 'none/report.html');

    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      'promscaler: --html: writing none/report.html: there is no directory none. Create it first\n',
    );
  });

  it('write no page if the back-test fails', async () => {
    const { exitCode } = await backtest(...ON_TRACE, '--html', 'report.html', '--initial-replicas', '99999');

    expect([exitCode, existsSync(join(cwd, 'report.html'))]).toEqual([1, false]);
    expect(readFileSync(join(cwd, 'day.csv'), 'utf8')).toBe(TRACE);
  });

  it('accept a load of 1,000,000 pods, not of more', async () => {
    const at = (capacity: string): ReturnType<typeof runCli> =>
      backtest('--scaler', 'web.yaml', '--trace', 'day.csv', '--capacity', capacity);

    const [most, more] = [await at('0.00007'), await at('0.000069')];

    expect(most.exitCode).toBe(0);
    expect([more.exitCode, more.stderr]).toEqual([
      1,
      'promscaler: at a capacity of 0.000069 per pod, the load needs 1014493 pods, more than the maximum of 1000000: check the unit of --capacity\n',
    ]);
  });
});

describe('--sweep', () => {
  it.each([
    ['metrics[0].resource.target.averageUtilization=5e1', 0, ''],
    ['metrics[1].resource.target.averageUtilization=50', 1, 'the document has no such item'],
    [`averageUtilization=${'1,'.repeat(200)}`, 2, `--sweep "averageUtilization=${'1,'.repeat(20)}1...": `],
  ])('%j ends with exit code %d', async (sweep, code, message) => {
    const { exitCode, stderr } = await backtest(...ON_TRACE, '--sweep', sweep);

    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(message)]);
  });
});

describe('an interrupted back-test', () => {
  it.each([['--sweep', 'averageUtilization=50,60'], ['--recommend', 'theta_U<=1'], []])(
    'ends with exit code 1: %j',
    async (...args) => {
      const written = { stdout: '', stderr: '' };

      const { exitCode } = await runCli(['backtest', ...ON_TRACE, ...args], {
        cwd,
        signal: AbortSignal.abort(),
        written,
      });

      expect([exitCode, written]).toEqual([1, { stdout: '', stderr: 'promscaler: interrupted\n' }]);
    },
  );
});
