import { describe, expect, it } from '@jest/globals';
import { scalerYaml } from '../../support/scaler-yaml.js';
import { folderOf, runCli } from '../fake-io.js';

/** 10 minutes of a load of 10, then 10 minutes of 100. */
const STEP = `t_seconds,value\n0,10\n600,100\n1199,100\n`;

const external = (query: string): string =>
  `external: { metric: { name: load }, query: '${query}', target: { averageValue: 10 } }`;
const resource = (name: string): string =>
  `resource: { name: ${name}, target: { type: Utilization, averageUtilization: 70 } }`;

const HPA = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  maxReplicas: 5
  behavior: { scaleDown: { stabilizationWindowSeconds: 0 } }
`;

const cwd = folderOf({
  'step.csv': STEP,
  'rate.yaml': scalerYaml({ metrics: [external('sum(rate(requests_total[2m]))')] }),
  'mean.yaml': scalerYaml({ metrics: [external('sum(avg_over_time(requests[2m]))')] }),
  'short.yaml': scalerYaml({ metrics: [external('sum(rate(requests_total[30s]))')] }),
  'both.yaml': scalerYaml({ metrics: [resource('memory'), resource('cpu')] }),
  'cpu.yaml': scalerYaml({ metrics: [resource('cpu')] }),
  'memory.yaml': scalerYaml({ metrics: [resource('memory')] }),
  'hpa.yaml': HPA,
});

async function run(scaler: string, ...more: readonly string[]) {
  const argv = ['backtest', '--scaler', scaler, '--trace', 'step.csv', '--capacity', '10', ...more];
  const { stdout, ...ran } = await runCli([...argv, '-o', 'json'], { cwd });
  const { variants = [], assumptions = [] } = (stdout === '' ? {} : JSON.parse(stdout)) as {
    variants?: { figures: object; changes: { at: string; to: number }[] }[];
    assumptions?: string[];
  };
  return { ...ran, assumptions, variants, changes: variants[0]?.changes ?? [] };
}

/** The replicas that the document has set at a time of the trace, in seconds. */
const countAt = (changes: readonly { at: string; to: number }[], seconds: number): number | undefined =>
  changes.filter(({ at }) => Date.parse(at) <= Date.parse('2026-01-05T00:00:00Z') + seconds * 1000).at(-1)
    ?.to;

describe('backtest --trace', () => {
  it('takes a rate over 2 min as the mean of the 90 s between its samples, and an average as that of 2 min', async () => {
    const [rate, mean] = await Promise.all([run('rate.yaml'), run('mean.yaml')]);

    // 45 s after the step, samples are 15 s old: 60 s of 10 and 30 s of 100 are 40; 90 s and 30 s are 32.5.
    expect([rate, mean].map(({ changes }) => countAt(changes, 645))).toEqual([4, 3]);
    // 90 s after it: 85 and 66.25; 105 s after it: 100 and 77.5.
    expect([rate, mean].map(({ changes }) => countAt(changes, 705))).toEqual([10, 8]);
  });

  it('rejects a rate whose window has no two samples', async () => {
    const { exitCode, stderr } = await run('short.yaml');

    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'a window of 30 s has fewer than two samples at a scrape interval of 30 s (scrapeIntervalSeconds of --config), so the query has no value',
    );
  });

  it('leaves out memory next to cpu, and says so', async () => {
    const [both, cpu, memory] = await Promise.all([run('both.yaml'), run('cpu.yaml'), run('memory.yaml')]);

    expect(both.variants[0]?.figures).toEqual(cpu.variants[0]?.figures);
    expect(both.assumptions).toContain(
      'the usage of memory is omitted, because a load trace does not contain this usage (use --prometheus to include it)',
    );
    expect(memory.exitCode).toBe(1);
    expect(memory.stderr).toContain('a load trace does not contain the usage of memory: use --prometheus');
  });

  it('names no line of a converted document in a warning', async () => {
    const { stderr } = await run('cpu.yaml', '--against', 'hpa.yaml');

    expect(stderr).toMatch(/^hpa\.yaml#shop\/web \(converted\): warning: spec\.behavior\.scaleDown/m);
    expect(stderr).not.toMatch(/hpa\.yaml:\d/);
  });
});
