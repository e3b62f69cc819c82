import { describe, expect, it } from '@jest/globals';
import { folderOf, runCli } from '../fake-io.js';
import { cpuMetric, scalerYaml } from '../../support/scaler-yaml.js';

const DAYS = 9;

/** From 09:00 to 17:00 each day, the load is two and a half times that of the night. */
const opening = (minute: number): number => (minute % 1440 >= 540 && minute % 1440 < 1020 ? 250 : 100);
/** The same for 40 minutes, at another time of each day. */
const burst = (minute: number): number => {
  const from = 200 + ((Math.floor(minute / 1440) * 337) % 1100);
  return minute % 1440 >= from && minute % 1440 < from + 40 ? 250 : 100;
};

const trace = (valueAt: (minute: number) => number): string =>
  `t_seconds,value\n${Array.from({ length: DAYS * 1440 }, (_, minute) => `${minute * 60},${valueAt(minute)}`).join('\n')}\n`;

const document = (forecast: string): string =>
  `${scalerYaml({ maxReplicas: 100, syncPeriodSeconds: 60, metrics: [cpuMetric(80)] })}  forecast: ${forecast}\n`;

const cwd = folderOf({
  'observe.yaml': document('{}'),
  'raise.yaml': document('{ mode: Raise }'),
  'opening.csv': trace(opening),
  'burst.csv': trace(burst),
});

async function reportOf(file: string, load: string, ...more: readonly string[]): Promise<Report> {
  const command = ['backtest', '--scaler', file, '--trace', load, '--capacity', '10', '--pod-start', '5m'];
  const { stdout, exitCode } = await runCli([...command, '-o', 'json', ...more], { cwd });
  expect(exitCode).toBe(0);
  return JSON.parse(stdout) as Report;
}

interface Report {
  readonly variants: readonly {
    readonly name: string;
    readonly figures: { readonly theta_U: number; readonly pod_hours: number };
  }[];
  readonly recommendation?: { readonly change: unknown; readonly reason: string };
}

describe('backtest of a document with a forecast', () => {
  it('shows it with the forecast and without, and without at a lower target that costs as much', async () => {
    const { variants } = await reportOf('observe.yaml', 'opening.csv');

    const [observe, raise, lower] = variants;
    expect(variants.map(({ name }) => name)).toEqual([
      'observe.yaml',
      'forecast.mode=Raise',
      expect.stringMatching(/^without forecast, target multiplied by 0\.\d{3}$/),
    ]);
    const [without = NaN, withIt = NaN, other = NaN] = [observe, raise, lower].map(
      (one) => one?.figures.theta_U,
    );
    expect(withIt).toBeLessThan(0.8 * without);
    expect(withIt).toBeLessThan((2 / 3) * other);
    const hours = (raise?.figures.pod_hours ?? 0) / (lower?.figures.pod_hours ?? 1);
    expect(Math.abs(hours - 1)).toBeLessThan(0.02);
  });

  it('shows a document that raises without it', async () => {
    const { variants } = await reportOf('raise.yaml', 'burst.csv');

    expect(variants.map(({ name }) => name)).toEqual(['raise.yaml', 'forecast.mode=Observe']);
    expect(variants[0]?.figures).toEqual(variants[1]?.figures);
  });

  it('recommends to raise where that halves what is missing', async () => {
    const good = await reportOf('observe.yaml', 'opening.csv', '--recommend', 'theta_U<=document');
    expect(good.recommendation).toMatchObject({
      change: [{ field: 'forecast.mode', value: 'Raise' }],
      reason: expect.stringMatching(
        /^the forecast lowers theta_U \(missing pods\) from [\d.]+ % to [\d.]+ %, and needs [\d.]+ % more/,
      ),
    });
  });
});
