import { describe, expect, it } from '@jest/globals';
import { decide } from '../../../src/decision/decide.js';
import type { Decision } from '../../../src/decision/result/decision.js';
import { decisionToJson } from '../../../src/decision/result/write-json.js';
import { expectLoad } from '../../../src/decision/forecast/propose-forecast.js';
import { parseSnapshot } from '../../../src/decision/snapshot/parse-snapshot.js';
import { addSeconds } from '../../../src/units/time.js';
import { aDocument } from '../../support/builders.js';

/** A Thursday. */
const NOW = Date.parse('2026-11-26T08:56:30Z');
const DAY = 86_400_000;

function time(ms: number): string {
  return new Date(ms).toISOString();
}

interface Day {
  readonly load: number;
  readonly level?: number;
}

interface Fixture {
  readonly spec?: object;
  /** Null: the document has none. */
  readonly forecast?: object | null;
  readonly days?: readonly Day[];
  readonly weeks?: readonly Day[];
  readonly highest?: number;
  readonly unusable?: string;
  readonly replicas?: number;
  /** Cores of all pods. */
  readonly usage?: number;
  /** Mean cores of the last minutes. */
  readonly level?: number;
  readonly minutes?: number;
  readonly state?: object;
  readonly forecastState?: object;
  readonly sample?: object;
  readonly hasHistory?: boolean;
}

const MODE = { mode: 'Raise', timeZone: 'UTC' };

function season(days: number, { load, level = 10 }: Day): object {
  return { at: time(NOW + 210_000 - days * DAY), load, level };
}

function snapshotOf({
  spec = {},
  forecast = MODE,
  days = Array.from({ length: 7 }, () => ({ load: 30 })),
  weeks = [],
  highest = 40,
  unusable,
  replicas = 12,
  usage = 10,
  level = 10,
  minutes = 9,
  state = {},
  forecastState = {},
  sample,
  hasHistory = true,
}: Fixture): unknown {
  const names = Array.from({ length: replicas }, (_, index) => `web-${index}`);
  const seasons = [
    ...days.map((day, index) => season(index + 1, day)),
    ...weeks.map((day, index) => season(7 * (index + 2), day)),
  ];
  const reactive = { replicas, lastScaleUp: null, lastScaleDown: null, scaleEvents: [] };
  return {
    scaler: aDocument({
      scaleTargetRef: { name: 'web' },
      maxReplicas: 100,
      scaleUpLimitFactor: 10,
      forecast,
      ...spec,
    }),
    now: time(NOW),
    target: { specReplicas: replicas },
    pods: names.map((name) => ({
      name,
      phase: 'Running',
      startTime: time(NOW - DAY),
      ready: true,
      readyChangedAt: time(NOW - DAY),
      requests: { app: { cpu: '1' } },
    })),
    samples: [
      sample ?? {
        at: time(NOW - 15_000),
        windowSeconds: 60,
        containers: Object.fromEntries(names.map((name) => [name, { app: usage / replicas }])),
      },
    ],
    ...(hasHistory ? { loadHistory: { leadSeconds: 210, highest, seasons, unusable } } : {}),
    state: {
      recommendations: [],
      forecast: {
        at: time(NOW - 15_000),
        minutes: Array.from({ length: minutes }, (_, index) => ({
          at: time(Math.floor(NOW / 60_000) * 60_000 - (minutes - index) * 60_000),
          sum: level * 4,
          count: 4,
        })),
        reactive,
        proposals: [],
        spent: [],
        ...forecastState,
      },
      ...state,
    },
  };
}

function decideIn(fixture: Fixture): Decision {
  return decide(parseSnapshot(snapshotOf(fixture)));
}

function silence(fixture: Fixture): string | undefined {
  const { forecast, desiredReplicas, currentReplicas } = decideIn(fixture);
  expect([forecast?.replicas, forecast?.isUsed]).toEqual([null, false]);
  expect(desiredReplicas).toBeLessThanOrEqual(currentReplicas);
  return forecast?.why;
}

describe('expectLoad', () => {
  const expected = (fixture: Fixture, later?: readonly [minutes: number, factor: number]): unknown => {
    const { scaler, loadHistory: history, state } = parseSnapshot(snapshotOf(fixture));
    const { forecast } = scaler.spec;
    if (forecast === null || history === undefined) throw new Error('there is no forecast');
    const [minutes = 0, factor = 1] = later ?? [];
    return expectLoad(
      { forecast, history, minutes: state.forecast?.minutes ?? [] },
      {
        seconds: 60 * minutes,
        seasons: history.seasons.map((one) => ({
          ...one,
          at: addSeconds(one.at, 60 * minutes),
          load: one.load * factor,
        })),
      },
    );
  };
  const days = [20, 31, 25, 29, 27].map((load) => ({ load }));

  it('is the load that the decision plans with, between the lowest and the highest of the days', () => {
    expect(expected({ days, level: 12 })).toEqual({ low: 24, expected: 1.2 * 29, high: 1.2 * 31 });
    expect(decideIn({ days, level: 12, usage: 12 }).forecast?.why).toContain('within 3m30s is 34.8 cores,');
  });

  it('is known without a rise, for which the forecast is silent', () => {
    const flat = [10, 10, 11].map((load) => ({ load }));

    expect(silence({ days: flat })).toContain('rises by at least a quarter');
    expect(expected({ days: flat })).toEqual({ low: 10, expected: 11, high: 11 });
  });

  it('is at the level of now for a later time, at most 1.2 times the highest load', () => {
    expect(expected({ days, level: 12 }, [30, 1.1])).toEqual({
      low: 1.2 * 22,
      expected: expect.closeTo(1.2 * 1.1 * 29),
      high: expect.closeTo(1.2 * 1.1 * 31),
    });
    expect(expected({ days, level: 12, highest: 25 }, [30, 1.1])).toEqual({
      low: 1.2 * 22,
      expected: 30,
      high: 30,
    });
  });

  it('is unknown with two days, four minutes, or an unusable history', () => {
    expect(expected({ days: days.slice(0, 2) })).toBeNull();
    expect(expected({ days, minutes: 4 })).toBeNull();
    expect(expected({ days, unusable: 'Prometheus has no answer' })).toBeNull();
  });
});

describe('a forecast', () => {
  it('raises the count to the pods that carry the load to come, and its reason adds up', () => {
    const days = [28, 31, 24, 30, 29, 27, 26].map((load) => ({ load, level: 10 }));
    const weeks = [30, 28].map((load) => ({ load, level: 10 }));
    const decision = decideIn({ days, weeks, level: 10.4 });

    // The eighth of nine days, in the order of their loads, has 30; at 104 % 31.2, which is 32.8 pods with 0.95 cores.
    expect(decision).toMatchObject({
      action: 'scale-up',
      desiredReplicas: 33,
      recommendedReplicas: 33,
      forecast: { replicas: 33, isUsed: true, reactive: 12, spentPercent: 0 },
    });
    expect(decision.reason).toBe(
      'forecast: 3m30s after this time of day, the load of cpu was 24 to 31 cores on 7 days and 2 Thursdays, such as 30 at 2026-11-12T09:00:00Z; the load today is 104 % of the load on that day: the load expected within 3m30s is 31.2 cores, which needs 33 pods at 95 % (0.95 cores each): 12 -> 33; 12 without the forecast, which has added 0 % in 3 days (budgetPercent is 4)',
    );
    // What the metrics ask for is remembered, not what the forecast asks for.
    expect(decision.state.recommendations?.map(({ replicas }) => replicas)).toEqual([12]);
  });

  it('only observes unless its mode is Raise', () => {
    const fixture = { days: Array.from({ length: 7 }, () => ({ load: 30 })) };
    const observed = decideIn({ ...fixture, forecast: {} });

    expect(observed.forecast).toMatchObject({ replicas: 32, isUsed: false, reactive: 12 });
    const without = decideIn({ ...fixture, forecast: null });
    const write = (key: string, value: unknown): unknown => (key === 'forecast' ? undefined : value);
    const [seen, plain] = [observed, without].map((one) => JSON.stringify(decisionToJson(one), write));
    expect(seen).toBe(plain);
  });

  it.each([
    ['0.8: the fourth of five', 0.8, 29],
    ['1: the highest', 1, 31],
    ['0.5: the third', 0.5, 27],
    ['0.01: the lowest', 0.01, 20],
  ])('takes the quantile %s', (_name, quantile, load) => {
    const days = [20, 31, 27, 29, 24].map((one) => ({ load: one }));

    expect(decideIn({ days, forecast: { ...MODE, quantile } }).forecast?.replicas).toBe(
      Math.ceil(load / 0.95),
    );
  });

  it.each([
    ['half of the level, half of the load', 5, 15],
    ['twice the level, twice the load', 20, 60],
    ['more than twice the level, twice the load', 90, 60],
  ])('scales an earlier day to today: %s', (_name, level, load) => {
    expect(decideIn({ level, usage: level, highest: 1000 }).forecast?.replicas).toBe(
      // The minute of the decision has the usage of the decision.
      Math.ceil(load / 0.95),
    );
  });

  it('says that it scales an earlier day to at most twice its load', () => {
    expect(decideIn({ level: 90, usage: 90, highest: 1000 }).forecast?.why).toContain(
      ', such as 30 at 2026-11-20T09:00:00Z; the load today is 900 % (at most 200 %) of the load on that day: the load expected within 3m30s is 60 cores, which needs 64 pods',
    );
  });

  it('does not scale a day whose level was 0', () => {
    const days = Array.from({ length: 7 }, () => ({ load: 19, level: 0 }));

    const { forecast } = decideIn({ days });
    expect(forecast?.replicas).toBe(20);
    expect(forecast?.why).toContain(
      ', such as 19 at 2026-11-20T09:00:00Z; the load on that day was 0 at this time: the load expected within 3m30s is 19 cores',
    );
  });

  it('expects at most 1.2 times the highest load of the lookback', () => {
    const decision = decideIn({ days: [1, 2, 3].map(() => ({ load: 60 })), highest: 20 });

    expect(decision.forecast?.replicas).toBe(Math.ceil(24 / 0.95));
    expect(decision.reason).toContain(
      ' of the load on that day: the load expected within 3m30s is 60 cores, limited to 24 cores (1.2 times the highest load of 20), which needs 26 pods',
    );
  });

  it('proposes at most maxReplicas, and obeys policies and windows', () => {
    const spec = { maxReplicas: 20 };
    expect(decideIn({ spec }).forecast).toMatchObject({ replicas: 20 });
    expect(decideIn({ spec }).limits).toEqual([]);
    const behavior = { scaleUp: { policies: [{ type: 'Pods', value: 2, periodSeconds: 60 }] } };
    expect(decideIn({ spec: { behavior } }).desiredReplicas).toBe(14);
    const window = { upscaleForbiddenWindowSeconds: 600 };
    const state = { lastScaleUp: time(NOW - 60_000) };
    expect(decideIn({ spec: window, state }).desiredReplicas).toBe(12);
  });

  it.each([
    ['fillPercent of the requests', { averageUtilization: 80 }, {}, 32],
    ['a higher fillPercent', { averageUtilization: 80 }, { fillPercent: 100 }, 30],
    ['the target where it is higher', { averageUtilization: 150 }, {}, 20],
    ['the target if it is no share of the requests', { averageValue: '500m' }, {}, 60],
  ])('plans with pods at %s', (_name, target, fields, replicas) => {
    const spec = { metrics: [{ resource: { name: 'cpu', target } }] };

    expect(decideIn({ spec, forecast: { ...MODE, ...fields } }).forecast?.replicas).toBe(replicas);
  });

  it('uses the named metric, and what one pod of it carries', () => {
    const external = {
      metric: { name: 'rps' },
      query: 'sum(rate(requests_total[1m]))',
      capacity: { query: 'max(capacity)' },
      target: { averageValue: 1 },
    };
    const spec = { metrics: [{ external }] };
    const sample = { at: time(NOW), values: [10], capacity: 2 };
    const forecast = { ...MODE, metric: 'rps' };

    expect(decideIn({ spec, sample, forecast }).forecast?.replicas).toBe(15);
    expect(decideIn({ spec, sample: { ...sample, capacity: 3 }, forecast }).forecast?.replicas).toBe(10);
  });

  it('never lowers the count', () => {
    const days = [1, 1, 1].map((load) => ({ load, level: 0.5 }));
    const decision = decideIn({ days, level: 0.5, usage: 20 });

    expect(decision.forecast).toMatchObject({ replicas: 3, isUsed: true });
    expect(decision.desiredReplicas).toBe(25);
    expect(decision.reason).toContain('cpu');
    expect(decision.reason).not.toContain('forecast');
  });
});

describe('a forecast is silent', () => {
  it.each<[string, Fixture, string]>([
    ['without a history', { hasHistory: false }, 'the loads of earlier days have not been read yet'],
    ['with an old one', { unusable: 'read 3 h ago' }, 'read 3 h ago'],
    [
      'with two days',
      { days: [{ load: 30 }, { load: 30 }] },
      'the load at this time is known for 2 earlier days; the forecast needs at least 3',
    ],
    [
      'unless two thirds of the days rise by a quarter',
      { days: [30, 12.4, 30, 12.4, 30, 12.4, 30].map((load) => ({ load })) },
      'the load rises by at least a quarter after this time on 4 of 7 earlier days; the forecast needs two thirds of the days',
    ],
    [
      'until today has a level',
      { minutes: 3 },
      'the load is known for 4 minutes; the forecast needs at least 5',
    ],
  ])('%s', (_name, fixture, why) => {
    expect(silence(fixture)).toBe(why);
  });

  it('while a metric has no full value', () => {
    const sample = { error: 'gone', kind: 'failed' };
    expect(decideIn({ sample }).forecast).toBeUndefined();
    const partial = decideIn({
      sample: { at: time(NOW), windowSeconds: 60, containers: { 'web-0': { app: 30 } }, partial: 'old' },
    });
    expect([partial.forecast?.replicas ?? null, partial.forecast?.isUsed ?? false]).toEqual([null, false]);
  });

  it.each([
    ['five of seven days rise', [30, 12.5, 30, 12.4, 30, 12.4, 30], [], 32],
    ['the weekday rises in two thirds of the weeks', [10, 10, 10, 10, 10, 10, 30], [30, 10], 32],
    ['it rose in one week only', [10, 10, 10, 10, 10, 10, 10], [30, 10], null],
  ])('unless %s', (_name, days, weeks, replicas) => {
    const fixture = { days: days.map((load) => ({ load })), weeks: weeks.map((load) => ({ load })) };

    expect(decideIn(fixture).forecast?.replicas).toBe(replicas);
  });

  it('from the minute on in which five minutes are known', () => {
    expect(decideIn({ minutes: 4 }).forecast?.replicas).toBe(32);
  });

  it.each([
    ['below its budget', 3.9, 32],
    ['at its budget', 4, 12],
  ])('%s', (_name, percent, desired) => {
    // 72 hours of 12 pods.
    const reactive = 12 * 21_600;
    const from = (index: number): string =>
      time(Math.floor(NOW / 21_600_000) * 21_600_000 - index * 21_600_000);
    const spent = Array.from({ length: 12 }, (_, index) => ({
      from: from(11 - index),
      reactive,
      added: (reactive * percent) / 100,
      short: 0,
      prevented: 0,
    }));
    const { desiredReplicas, forecast } = decideIn({ forecastState: { spent } });

    expect(desiredReplicas).toBe(desired);
    expect(forecast?.spentPercent).toBe(percent);
    if (desired === 12)
      expect(forecast?.why).toMatch(/^the forecast budget of 4 % is spent; 3m30s after this time of day, /);
  });
});
