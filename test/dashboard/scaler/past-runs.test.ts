import { afterAll, describe, expect, test } from '@jest/globals';
import type { ChartPoints } from '../../../src/backtest/history/chart-history.js';
import type { PastRuns } from '../../../src/dashboard/scaler/what-if/past-runs.js';
import { formatInstant, instantFromMs } from '../../../src/units/time.js';
import { folderOf, runCli } from '../../cli/fake-io.js';
import { startServer } from '../../prometheus/fakes.js';
import { scalerOf } from '../../support/builders.js';
import { CPU, cpuScaler, documentOf, END, known, pointsOf, RPS, rpsScaler, run, STEP } from './past-story.js';

const stepsOf = ({ run }: PastRuns['applied']): readonly (readonly [string, number])[] =>
  (run?.replicas ?? []).map(({ at, count }) => [formatInstant(at), count]);

const cleanups: (() => Promise<void>)[] = [];
afterAll(async () => {
  await Promise.all(cleanups.map((cleanup) => cleanup()));
});

describe('a document over the points of the charts', () => {
  /** A wave of two hours, and counts that follow it with changes of several pods. */
  const replicas = (second: number): number =>
    4 + Math.round(3 * (1 - Math.cos(((END - second) / 3600) * Math.PI)));
  const load = (second: number): number => 2.5 + 1.4 * Math.sin((END - second) / 700) ** 2;
  const cpu = (second: number): number => Math.round((100 * load(second)) / replicas(second - STEP));
  const rps = (second: number): number => Math.round(1000 * (9 + 4 * Math.sin((END - second) / 900))) / 1000;
  const points = pointsOf({ seconds: 10_800, replicas, cpu, rps });
  const [cpuColumn, rpsColumn] = points.metrics;

  test('has the replicas of promscaler backtest on the same history, to the last count', async () => {
    const behavior = {
      scaleUp: { policies: [{ type: 'Pods', value: 2, periodSeconds: 60 }] },
      scaleDown: { stabilizationWindowSeconds: 600 },
    };
    const applied = scalerOf({
      scaleTargetRef: { name: 'web' },
      ...{ minReplicas: 2, maxReplicas: 9, metrics: [CPU, RPS] },
    });
    const changed = scalerOf({
      scaleTargetRef: { name: 'web' },
      ...{ minReplicas: 3, maxReplicas: 14, metrics: [CPU, RPS], behavior },
    });
    const series: Readonly<Record<string, readonly number[]>> = {
      kube_deployment_spec_replicas: points.at.map(replicas),
      kube_deployment_status_replicas_ready: points.at.map((second) => replicas(second - STEP)),
      container_cpu: points.at.map(
        (_, index) => (cpuColumn?.value[index] ?? 0) * (1 / 100) * (points.readyPods[index] ?? 0),
      ),
      'sum(rps)': points.at.map(
        (_, index) => (rpsColumn?.value[index] ?? 0) * (points.currentReplicas[index] ?? 0),
      ),
    };
    const server = await startServer((response, { form, url }) => {
      const query = form.get('query') ?? '';
      const isTotal = !/\bcount\b/.test(query);
      const name = isTotal ? Object.keys(series).find((one) => query.includes(one)) : undefined;
      const labels = query.includes('promscaler_target') ? { promscaler_target: 'yes' } : {};
      const values = points.at
        .map((second, index) => [second, String(series[name ?? '']?.[index])] as const)
        .filter(([second]) => second >= Number(form.get('start')) && second <= Number(form.get('end')));
      const result = name === undefined || values.length === 0 ? [] : [{ metric: labels, values }];
      const isRange = url.includes('query_range');
      response.writeHead(isRange ? 200 : 404);
      response.end(JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } }));
    });
    cleanups.push(server.close);
    const cwd = folderOf({
      'applied.json': JSON.stringify(documentOf(applied)),
      'changed.json': JSON.stringify(documentOf(changed)),
      'config.yaml': `prometheus: { default: { urls: ['${server.url}'], scrapeIntervalSeconds: ${STEP}, resourceWindowSeconds: 60 } }\n`,
    });
    const time = (second: number): string => formatInstant(instantFromMs(second * 1000));
    const from = END - 7200;
    const runs = known(await run(points, applied, { changed, from }));
    const { stdout, stderr } = await runCli(
      [
        ...['backtest', '--scaler', 'applied.json', '--against', 'changed.json', '--config', 'config.yaml'],
        ...['--from', time(from), '--to', time(END), '--step', `${STEP}s`, '--request', '1'],
        ...['--no-cache', '-o', 'json'],
      ],
      { cwd },
    );
    expect(stderr).toBe('');
    const report = JSON.parse(stdout) as {
      readonly variants: readonly {
        readonly replicas: readonly { readonly at: string; readonly count: number }[];
        readonly figures: Readonly<Record<string, number>>;
      }[];
    };

    const ofCli = report.variants.map((variant) => variant.replicas.map(({ at, count }) => [at, count]));
    expect([stepsOf(runs.applied), stepsOf(runs.changed)]).toEqual(ofCli);
    expect(ofCli.map((steps) => steps.length)).toEqual([10, 7]);
    const figures = report.variants.map((variant) => [
      variant.figures['pod_hours'],
      variant.figures['theta_U'],
    ]);
    expect(
      [runs.applied, runs.changed].map((result) => [result.figures?.podHours, result.figures?.thetaU]),
    ).toEqual(figures);
  });

  test('starts with the 4 that really ran, and goes on with the 6 it has decided: 5.99 pod-hours, not 4', async () => {
    // 15 for each of 4 pods are 60 in total, which need 6 pods with 10 each.
    const points = pointsOf({ seconds: 3600, rps: () => 15 });

    const { applied, changed, ran, unknownPercent } = known(
      await run(points, rpsScaler(4), { changed: rpsScaler(8) }),
    );

    const start = END - 3600;
    const time = (second: number): string => formatInstant(instantFromMs(second * 1000));
    expect([stepsOf(applied), stepsOf(changed)]).toEqual([
      [[time(start), 4]],
      [
        [time(start), 4],
        [time(start + 15), 6],
      ],
    ]);
    expect(applied.figures).toMatchObject({ podHours: 4, changes: 0, atMaximum: 100 });
    expect(changed.figures).toMatchObject({ changes: 1, atMaximum: 0 });
    expect(changed.figures?.podHours).toBeCloseTo((4 * 15 + 6 * 3585) / 3600, 9);
    expect([ran?.figures?.podHours, unknownPercent]).toEqual([4, 0]);
  });

  test('divides the load of 4 pods among 3: 3.6 cores need 4 pods of 1 core, so 25 % are missing', async () => {
    const points = pointsOf({ seconds: 3600, cpu: () => 90 });

    const { changed, need } = known(await run(points, cpuScaler(4), { changed: cpuScaler(3) }));

    // All but the first of 239 steps of 15 s. The last of 240 is unknown: a mean of 60 s is the load 30 s earlier.
    expect(changed.figures?.thetaU).toBeCloseTo((25 * 238) / 239, 9);
    expect(changed.figures?.tauU).toBeCloseTo((100 * 238) / 239, 9);
    expect(need).toEqual({ perPod: 1, by: 'capacity' });
  });

  test.each([
    // 60 in total with 11 each: 6 pods, of which 2 are missing.
    {
      what: 'an External metric',
      story: { rps: () => 15 },
      scalers: rpsScaler,
      perPod: 11,
      missing: 100 / 3,
    },
    // 4.8 cores with 66 % of a core each: 8 pods, of which 4 are missing.
    {
      what: 'CPU above the request',
      story: { cpu: () => 120 },
      scalers: cpuScaler,
      perPod: 0.66,
      missing: 50,
    },
  ])(
    'lacks pods at its maximum: the highest load is no capacity, so the target counts: $what',
    async ({ story, scalers, perPod, missing }) => {
      const points = pointsOf({ seconds: 3600, ...story });

      const { applied, changed, need } = known(await run(points, scalers(4), { changed: scalers(12) }));

      expect([need?.by, need?.perPod.toFixed(9)]).toEqual(['target', perPod.toFixed(9)]);
      expect(applied.figures?.tauU).toBe(100);
      expect(applied.figures?.thetaU).toBeCloseTo(missing, 9);
      expect(changed.figures?.thetaU).toBeLessThan(1);
    },
  );

  test('has no needed pods for a target in total, which does not divide the load among the pods', async () => {
    const total = { ...RPS.external, target: { value: '40' } };
    const scaler = scalerOf({
      scaleTargetRef: { name: 'web' },
      maxReplicas: 8,
      metrics: [{ external: total }],
    });
    const points = pointsOf({ seconds: 3600, rps: () => 60 });

    expect(known(await run(points, scaler)).need).toBeNull();
  });

  test('reads a missing value as unknown, never as 0: the replicas stay, and the time is in no figure', async () => {
    const points = pointsOf({ seconds: 7200, rps: (second) => (second > END - 3600 ? null : 15) });

    const { changed, unknownPercent } = known(
      await run(points, rpsScaler(4), { changed: rpsScaler(8), to: END }),
    );

    expect(changed.run?.replicas.map(({ count }) => count)).toEqual([4, 6]);
    // 241 of 480 steps of 15 s, because the last value applies for half a step.
    expect(changed.figures?.podHours).toBeCloseTo((4 * 15 + 6 * 3600) / 3600, 9);
    expect(unknownPercent).toBeCloseTo((100 * 239) / 480, 9);
  });

  test('finds a gap of 20 minutes between different points, and none between two equal ones an hour apart', async () => {
    const isKnown = (second: number): boolean => second <= END - 2400 || second >= END - 1200;
    const all = pointsOf({ seconds: 3600, rps: (second) => (second < END - 1200 ? 15 : 14) });
    const kept = all.at.map(isKnown);
    const pick = <T>(values: readonly T[]): readonly T[] => values.filter((_, index) => kept[index]);
    const gap: ChartPoints = {
      at: pick(all.at),
      currentReplicas: pick(all.currentReplicas),
      readyPods: pick(all.readyPods),
      metrics: all.metrics.map((one) => ({ ...one, value: pick(one.value) })),
    };
    const two: ChartPoints = {
      at: [END - 3600, END],
      ...{ currentReplicas: [4, 4], readyPods: [4, 4] },
      metrics: [{ type: 'External', metric: 'rps', value: [15, 15] }],
    };

    const unknown = await Promise.all(
      [gap, two].map(async (points) => known(await run(points, rpsScaler(8))).unknownPercent),
    );

    // 78 of 240 steps of 15 s: at both ends, a value applies for half a step.
    expect(unknown).toEqual([(100 * 78) / 240, 0]);
  });

  test('is not possible for a metric with another query, whose values are not in the charts', async () => {
    const points = pointsOf({ seconds: 3600, rps: () => 15 });
    const other = { external: { ...RPS.external, metric: { name: 'other' }, query: 'sum(other)' } };
    const changed = scalerOf({ scaleTargetRef: { name: 'web' }, maxReplicas: 8, metrics: [RPS, other] });

    const { changed: result } = known(await run(points, rpsScaler(8), { changed }));

    expect(result.error).toBe('metric other: the history has no values');
  });

  test('says that the charts have no values of the metric, and no points', async () => {
    const empty = { at: [], currentReplicas: [], readyPods: [], metrics: [] };

    expect([
      await run(pointsOf({ seconds: 3600, rps: () => null }), rpsScaler(8)),
      await run(empty, rpsScaler(8)),
    ]).toEqual([
      'metric rps: the charts have no values',
      'the service has no points for the range of the charts',
    ]);
  });

  test('of two weeks is the newest 10,000 decisions', async () => {
    const points: ChartPoints = {
      at: [END - 1_209_600, END],
      ...{ currentReplicas: [4, 4], readyPods: [4, 4] },
      metrics: [{ type: 'External', metric: 'rps', value: [10, 10] }],
    };

    const { start, isCut, applied } = known(await run(points, rpsScaler(8)));

    expect([start, isCut, applied.run?.rounds]).toEqual([(END - 150_000) * 1000, true, 10_000]);
  });
});
