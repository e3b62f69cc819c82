import { describe, expect, it } from '@jest/globals';

import { runJobsHere } from '../support/backtests.js';
import { readHistory } from '../../src/backtest/history/read-history.js';
import { warmUpOf } from '../../src/backtest/history/warm-up.js';
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

interface Given {
  readonly scaler?: Scaler;
  readonly days?: number;
  readonly stepSeconds?: number;
  readonly podStartSeconds?: number | null;
  readonly onQuery?: () => void;
}

/** Returns the history of some days. `used`: cores at a time; null: no sample. */
function historyOf(
  used: (second: number) => number | null,
  {
    scaler = scalerOf(SPEC),
    days = 3,
    stepSeconds = STEP_SECONDS,
    podStartSeconds = null,
    onQuery = () => undefined,
  }: Given,
): Parameters<typeof suggest>[1] {
  const valueOf = (query: string, second: number): number | null => {
    if (query.startsWith('quantile(')) return podStartSeconds;
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
    onQuery();
    const points: [number, number][] = [];
    for (let ms = start; ms <= end && !query.includes('count'); ms += stepSeconds * 1000) {
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
  const warmUpSeconds = warmUpOf([scaler], stepSeconds);
  return {
    range: { start: at(0), end: at(days * 24 * HOUR), stepSeconds, warmUpSeconds },
    sources: new Map([['default', fetching]]),
    runJobs: runJobsHere,
  };
}

function suggestFor(used: (second: number) => number | null, given: Given = {}): Promise<Suggestion> {
  return suggest(given.scaler ?? scalerOf(SPEC), historyOf(used, given));
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

  it.each<[string, number, object]>([
    ['without a forecast', 59, {}],
    ['with a forecast and its lookback of 15 days', 143, { forecast: {} }],
  ])(
    'reads 7 days of a document %s, scraped every 15 s, with %i range queries',
    async (_, queries, fields) => {
      const scaler = scalerOf({ ...SPEC, ...fields });
      let sent = 0;
      const { range, sources } = historyOf(() => 6, {
        scaler,
        days: 7,
        stepSeconds: 15,
        onQuery: () => (sent += 1),
      });

      await readHistory([scaler], {
        range,
        sources,
        request: null,
        capacity: null,
        usageAtCapacityPercent: 100,
      });

      expect(sent).toBe(queries);
    },
  );

  it('recommends to switch on a forecast where it halves what is missing of 7 days', async () => {
    const opening = (second: number): number =>
      second % 86_400 >= 9 * HOUR && second % 86_400 < 17 * HOUR ? 15 : 6;

    const { changes, patch, saving, thetaU, reason } = await suggestFor(opening, {
      scaler: scalerOf({
        ...SPEC,
        syncPeriodSeconds: 120,
        metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 80 } } }],
        forecast: {},
      }),
      days: 7,
      podStartSeconds: 300,
    });

    expect(changes).toEqual([{ field: 'spec.forecast.mode', current: null, proposed: '"Raise"' }]);
    expect(JSON.parse(patch ?? '')).toEqual({ spec: { forecast: { mode: 'Raise' } } });
    expect(thetaU?.proposed).toBeLessThanOrEqual((thetaU?.current ?? NaN) / 2);
    expect(saving?.percent).toBeGreaterThanOrEqual(-4);
    expect(reason).toMatch(/^the forecast lowers theta_U \(missing pods\) from /);
  });

  it('takes podStart.seconds of the document before the measured start, as the command does', async () => {
    const document = { ...SPEC, podStart: { seconds: 300 } };
    const of = (podStartSeconds: number): Promise<Suggestion> =>
      suggestFor(wave, { scaler: scalerOf(document), podStartSeconds });

    expect(await of(1200)).toEqual(await of(10));
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
      'the document has 11 metrics, must have at most 10',
    );
    await expect(suggestFor(wave, { scaler: frequent })).rejects.toThrow(
      /259200 decisions, must be at most 100000/,
    );
  });
});
