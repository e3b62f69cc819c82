import { describe, expect, it } from '@jest/globals';
import { runJobsHere } from '../../src/backtest/compare/variant.js';
import type { RangeAnswer } from '../../src/prometheus/answers/classify.js';
import { suggest, type Suggestion } from '../../src/recommendations/suggest.js';
import type { Scaler } from '../../src/scaler/spec.js';
import { aScaler, aSource, at, cpuMetric, scalerOf } from '../support/builders.js';

const STEP_SECONDS = 60;
const HOUR = 3600;

const SPEC = {
  scaleTargetRef: { name: 'web' },
  minReplicas: 2,
  maxReplicas: 60,
  syncPeriodSeconds: 600,
  metrics: [
    {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 40 } },
    },
  ],
};

/** Cores that the workload uses: a wave of a day. */
function wave(second: number): number {
  return 6 + 4 * Math.sin((2 * Math.PI * second) / 86_400);
}

/** Back-tests 3 days of a history. `used`: cores at a time; null: no sample. */
async function suggestFor(
  used: (second: number) => number | null,
  { scaler = scalerOf(SPEC), days = 3 }: { readonly scaler?: Scaler; readonly days?: number } = {},
): Promise<Suggestion> {
  const valueOf = (query: string, second: number): number | null => {
    if (query.includes('resource_requests')) return 1;
    if (query.includes('kube_deployment_spec_replicas')) return 12;
    return query.includes('rate(container_cpu') ? used(second) : null;
  };
  const queryRange = ({
    query,
    start,
    end,
  }: {
    readonly query: string;
    readonly start: number;
    readonly end: number;
  }): Promise<RangeAnswer> => {
    const points: [number, number][] = [];
    for (let ms = start; ms <= end && !query.includes('count'); ms += STEP_SECONDS * 1000) {
      const value = valueOf(query, ms / 1000);
      if (value !== null) points.push([ms, value]);
    }
    const labels = { container: 'app', promscaler_target: 'yes' };
    return Promise.resolve({ class: 'matrix', series: points.length === 0 ? [] : [{ labels, points }] });
  };
  const fetching = {
    source: aSource(),
    client: { queryRange },
    cache: null,
    progress: { add: () => undefined, done: () => undefined },
    now: () => at(days * 24 * HOUR),
    signal: new AbortController().signal,
  };
  return suggest(scaler, {
    range: { start: at(0), end: at(days * 24 * HOUR), stepSeconds: STEP_SECONDS, warmUpSeconds: HOUR },
    sources: new Map([['default', fetching]]),
    runJobs: runJobsHere,
  });
}

describe('suggest', () => {
  it('gives the fields to change, a patch, the saving with its spread, and the risk', async () => {
    const { changes, patch, saving, thetaU, reason, from, to } = await suggestFor(wave);

    const target = changes.find(({ field }) => field.endsWith('averageUtilization'));
    expect(target).toMatchObject({
      field: 'spec.metrics[0].resource.target.averageUtilization',
      current: '40',
    });
    const proposed = Number(target?.proposed);
    expect(proposed).toBeGreaterThan(40);
    expect(JSON.parse(patch ?? '')).toMatchObject({
      spec: {
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: proposed } } }],
      },
    });
    expect(saving?.percent).toBeGreaterThan(10);
    expect(saving?.lowest).toBeLessThanOrEqual(saving?.percent ?? NaN);
    expect(thetaU?.proposed).toBeLessThanOrEqual((thetaU?.current ?? NaN) + 0.05);
    expect(reason).toMatch(/^expect [\d.]+ % fewer pod-hours/);
    expect([from, to]).toEqual([at(0), at(72 * HOUR)]);
  });

  it.each([
    [47, 'the history of 1d23h is too short: at least 2d are needed'],
    [9, 'the history of 9h is too short: at least 2d are needed'],
  ])('gives no change for a history of %i h', async (hours, reason) => {
    const begin = 72 - hours;

    const found = await suggestFor((second) => (second >= begin * HOUR + at(0) / 1000 ? wave(second) : null));

    expect(found).toMatchObject({ changes: [], patch: null, saving: null, reason });
  });

  it('fails without any sample of the load', async () => {
    await expect(suggestFor(() => null)).rejects.toThrow(/metric cpu: no values from the data source/);
  });

  it.each<[string, () => number]>([
    ['NaN', () => NaN],
    ['0', () => 0],
    ['1e300', () => 1e300],
    ['negative', () => -5],
  ])('recommends nothing for a load that is %s', async (_, used) => {
    const found = await suggestFor(used).catch((error: unknown) => String(error));

    if (typeof found === 'string') expect(found).toMatch(/^BacktestError: /);
    else expect(found).toMatchObject({ changes: [], patch: null, saving: null });
  });

  it('fails for more than 10 metrics and for more than 100,000 decisions', async () => {
    const many = aScaler(Array.from({ length: 11 }, () => cpuMetric));
    const frequent = scalerOf({ ...SPEC, syncPeriodSeconds: 1 });

    await expect(suggestFor(wave, { scaler: many })).rejects.toThrow(
      'it has 11 metrics, must have at most 10',
    );
    await expect(suggestFor(wave, { scaler: frequent })).rejects.toThrow(
      /259200 decisions, must be at most 100000/,
    );
  });
});
