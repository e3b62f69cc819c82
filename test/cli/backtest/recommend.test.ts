import { describe, expect, it } from '@jest/globals';
import { folderOf, runCli, type Ran } from '../fake-io.js';
import { cpuMetric, scalerYaml } from '../../support/scaler-yaml.js';

const document = (
  target: number,
  spec: { readonly tolerance?: number; readonly syncPeriodSeconds?: number } = {},
): string => scalerYaml({ maxReplicas: 40, syncPeriodSeconds: 30, ...spec, metrics: [cpuMetric(target)] });

/** One value per minute. */
const trace = (valueAt: (minute: number) => number, minutes = 60): string =>
  `t_seconds,value\n${Array.from({ length: minutes }, (_, minute) => `${minute * 60},${valueAt(minute)}`).join('\n')}\n`;

const cwd = folderOf({
  'low.yaml': document(40),
  'high.yaml': document(95),
  // At 100 % of its capacity, a pod is at 100 % of its request: above 120 % it never is.
  'lazy.yaml': document(92, { tolerance: 0.2, syncPeriodSeconds: 15 }),
  'rise.csv': trace((minute) => 50 + 2 * (minute % 30)),
  'steady.csv': trace(() => 100),
  'turns.csv': trace((minute) => (minute < 34 ? 100 : minute % 4 < 2 ? 10 : 200)),
  'slow.yaml': scalerYaml({ maxReplicas: 50, syncPeriodSeconds: 60, metrics: [cpuMetric(40)] }),
  // 21 pods of 5 instead of 20 for 15 s.
  'peak.csv': `t_seconds,value\n${Array.from({ length: 480 }, (_, step) => `${step * 15},${step === 384 ? 101 : 100}`).join('\n')}\n`,
  'late.csv': trace((minute) => (minute > 60 && minute % 10 === 6 ? 400 : 100), 120),
});

const run = (document: string, load: string, ...more: readonly string[]): Promise<Ran> =>
  runCli(
    [
      ...['backtest', '--scaler', document, '--trace', load, '--capacity', '10'],
      ...['--recommend', 'theta_U<=1', ...more],
    ],
    { cwd },
  );

describe('backtest --recommend', () => {
  it('raises the target of a steady load that has too many pods, and prints the change as YAML', async () => {
    const { stdout, exitCode } = await run('low.yaml', 'steady.csv');

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^Recommendation: expect (\d\d\.\d) % fewer pod-hours \(\1 to \1 % depending on the part\) in the parts of the second half that were used neither to search nor to confirm the change; the load covers only 1h: the back-test confirms a change only if the load repeats at least every 30m\. The table covers only the parts of the load that are used to score a change\. Change:$/m,
    );
    expect(stdout).toMatch(
      /^ {2}spec:\n {4}metrics:\n {6}- resource:\n {10}target:\n {12}averageUtilization: (?:[89]\d)$/m,
    );
    expect(stdout).not.toContain('minReplicas:');
    expect(stdout).toMatch(/^changed +0\.00 /m);
  });

  it('keeps a document that nothing beats', async () => {
    const { stdout } = await run('high.yaml', 'steady.csv', '-o', 'json');

    expect(JSON.parse(stdout)).toMatchObject({
      recommendation: {
        change: null,
        reason:
          'no change needs fewer pod-hours on the first half of the load and also meets the condition with a margin',
      },
    });
  });

  it('says so if the document itself misses the condition', async () => {
    const { stdout } = await runCli(
      [
        'backtest',
        '--scaler',
        'high.yaml',
        '--trace',
        'steady.csv',
        '--capacity',
        '1',
        '--recommend',
        'theta_U<=0',
        '-o',
        'json',
      ],
      { cwd },
    );

    expect(JSON.parse(stdout)).toMatchObject({
      recommendation: {
        change: null,
        reason:
          'the document does not meet theta_U <= 0 on the first half of the load, and no other setting does: check minReplicas, maxReplicas and the pod start time',
      },
    });
  });

  it.each([
    [
      'turns.csv',
      'the best change for the first half of the load was not confirmed: in the parts of the second half that are used to confirm a change, it does not meet theta_U <= 1',
    ],
    [
      'late.csv',
      'the best change for the first half of the load was confirmed, but in the parts of the second half that are used to score a change, it does not meet theta_U <= 1',
    ],
  ])('keeps the document if the load of %s turns after the search', async (load, reason) => {
    const { stdout } = await run('low.yaml', load, '-o', 'json');

    expect(JSON.parse(stdout)).toMatchObject({
      recommendation: { change: null, reason, saving: null },
      variants: [{ name: 'low.yaml' }, { name: 'changed' }],
    });
  });

  it('scores on parts of the second half, with the saving in JSON, and compares with static fleets in the same parts: 15 of 30 minutes', async () => {
    const { stdout } = await run('low.yaml', 'steady.csv', '-o', 'json');

    const { recommendation, from, to, variants, baselines } = JSON.parse(stdout) as {
      readonly recommendation: { readonly saving: Readonly<Record<string, number>> };
      readonly from: string;
      readonly to: string;
    } & Readonly<
      Record<
        'variants' | 'baselines',
        readonly { readonly name: string; readonly figures: Readonly<Record<string, number>> }[]
      >
    >;
    expect([from, to]).toEqual(['2026-01-05T00:30:00Z', '2026-01-05T01:00:00Z']);
    expect(recommendation.saving['percent']).toBeGreaterThan(10);
    expect(recommendation.saving['lowest']).toBeCloseTo(recommendation.saving['highest'] ?? NaN, 6);
    const hours = [...variants, ...baselines].map(
      ({ figures: { pod_hours: podHours = NaN, average_pods: pods = NaN } }) => podHours / pods,
    );
    expect(hours).toEqual(Array.from({ length: 5 }, () => expect.closeTo(0.25, 6)));
  });

  it('says by how much a condition is missed that the change misses by less than 0.05 points', async () => {
    const args = ['--scaler', 'slow.yaml', '--trace', 'peak.csv', '--capacity', '5'];

    const { stdout } = await runCli(['backtest', ...args, '--recommend', 'theta_U<=document'], { cwd });

    // 1 of 21 pods in 1 of 120 steps.
    expect(stdout).toContain(
      '; the change does not meet theta_U <= document in the parts of the second half that are used to score a change: its theta_U (missing pods in percent of the needed pods) is 0.040 percentage points higher than that of the document (at most 0.05 is accepted); the load covers only 2h: ',
    );
  });

  it('may cost more if the document misses the condition: at a target of 92 % and a tolerance of 0.2, it never scales up', async () => {
    const { stdout } = await run('lazy.yaml', 'rise.csv', '-o', 'json');

    const { recommendation, variants } = JSON.parse(stdout) as {
      readonly recommendation: { readonly reason: string };
      readonly variants: readonly { readonly figures: Readonly<Record<string, number>> }[];
    };
    expect(recommendation.reason).toMatch(
      /^expect \d+\.\d % more pod-hours \(.* to .* % depending on the part\) .*; the change meets the condition, and the document does not; the load covers only 1h: the back-test confirms a change only if the load repeats at least every 30m$/,
    );
    expect(variants[0]?.figures['theta_U']).toBeGreaterThan(1);
    expect(variants[1]?.figures['theta_U']).toBeLessThanOrEqual(1);
  });

  it('takes the document itself as the limit', async () => {
    const { stdout } = await runCli(
      [
        ...['backtest', '--scaler', 'low.yaml', '--trace', 'steady.csv', '--capacity', '10'],
        ...['--recommend', 'theta_U<=document', '-o', 'json'],
      ],
      { cwd },
    );

    const { recommendation } = JSON.parse(stdout) as {
      readonly recommendation: { readonly change: unknown };
    };
    expect(recommendation.change).not.toBeNull();
  });

  it.each(['theta_U<=other', 'theta_U=document'])('rejects %s', async (condition) => {
    const { exitCode, stderr } = await runCli(
      [
        'backtest',
        '--scaler',
        'low.yaml',
        '--trace',
        'steady.csv',
        '--capacity',
        '10',
        '--recommend',
        condition,
      ],
      { cwd },
    );

    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('and a number or document, such as theta_U>1'),
    ]);
  });

  it.each(['theta_U<document', 'pod_hours>document'])(
    'rejects %s, which the document itself never meets',
    async (condition) => {
      const args = ['backtest', '--scaler', 'low.yaml', '--trace', 'steady.csv', '--capacity', '10'];

      const { exitCode, stderr } = await runCli([...args, '--recommend', condition], { cwd });

      expect([exitCode, stderr]).toEqual([
        2,
        `promscaler: --recommend "${condition}": compares with the document, so the operator must be <= or >=: the document itself never meets ${condition}\n`,
      ]);
    },
  );

  it('applies to one document only', async () => {
    const { stderr, exitCode } = await run('low.yaml', 'steady.csv', '--against', 'high.yaml');

    expect([exitCode, stderr]).toEqual([
      2,
      'promscaler: --recommend applies to one document only: remove --against\n',
    ]);
  });
});
