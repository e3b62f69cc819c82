import { describe, expect, test } from '@jest/globals';
import type { Figures } from '../../../src/backtest/compare/figures.js';
import { figuresByWindow } from '../../../src/backtest/compare/probes.js';
import { scoringOf } from '../../../src/backtest/compare/variant.js';
import { createLoad, type Load } from '../../../src/backtest/simulation/load.js';
import {
  type OnRound,
  type Run,
  type RunInput,
  runVariant,
} from '../../../src/backtest/simulation/run-variant.js';
import { podStartOf } from '../../../src/backtest/simulation/settings.js';
import { traceModels, traceRequests } from '../../../src/backtest/simulation/trace-models.js';
import { formatLocal } from '../../../src/schedules/local-time.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { addSeconds, type Instant, instantFromMs } from '../../../src/units/time.js';
import { scalerOf } from '../../support/builders.js';
import { ASSUMPTIONS } from '../compare/assumptions.js';

const DAY_SECONDS = 86_400;
/** A Monday. */
const MONDAY = instantFromMs(Date.UTC(2026, 0, 5));

interface Day {
  /** 0 for the first day of the load. */
  readonly day: number;
  /** Minutes since midnight, local time. */
  readonly minute: number;
}

/** From 09:00 to 17:00, ten pods become twenty-five. A pod carries 10. */
const opening = ({ minute }: Day): number => (minute >= 540 && minute < 1020 ? 250 : 100);

/** One value per minute; NaN is a gap. */
function daysOf(
  days: number,
  valueAt: (day: Day) => number,
  { start = MONDAY, timeZone = 'UTC' }: { readonly start?: Instant; readonly timeZone?: string } = {},
): Load {
  const times = Float64Array.from({ length: days * 1440 }, (_, index) => addSeconds(start, index * 60));
  const values = times.map((time, index) => {
    const [hours = 0, minutes = 0] = formatLocal(instantFromMs(time), timeZone)
      .slice(11)
      .split(':')
      .map(Number);
    return valueAt({ day: Math.floor(index / 1440), minute: hours * 60 + minutes });
  });
  return createLoad(times, values, addSeconds(start, days * DAY_SECONDS));
}

function scaler(forecast: Readonly<Record<string, unknown>> | null): Scaler {
  return scalerOf({
    scaleTargetRef: { name: 'web' },
    maxReplicas: 100,
    syncPeriodSeconds: 60,
    metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 80 } } }],
    ...(forecast === null ? {} : { forecast }),
  });
}

const RAISE = { mode: 'Raise' };

/** Pods start in 5 minutes. */
function run(
  load: Load,
  forecast: Readonly<Record<string, unknown>> | null,
  overrides: Partial<RunInput> = {},
  onRound?: OnRound,
): Run {
  const document = scaler(forecast);
  const built = traceModels(document, load, ASSUMPTIONS);
  if ('error' in built) throw new Error(built.error);
  return runVariant(
    document,
    {
      start: load.start,
      end: load.end,
      models: built.models,
      initialReplicas: 13,
      podStart: podStartOf(300),
      scrapeIntervalSeconds: ASSUMPTIONS.scrapeIntervalSeconds,
      requests: traceRequests(document),
      ...overrides,
    },
    onRound,
  );
}

/** The figures of one day with and without a forecast, and the decisions. The week before is known, not simulated. */
function compareOn(
  day: number,
  load: Load,
  {
    forecast = RAISE,
    ...overrides
  }: Partial<RunInput> & { readonly forecast?: Readonly<Record<string, unknown>> } = {},
): { readonly without: Figures; readonly withIt: Figures; readonly run: Run } {
  const start = addSeconds(load.start, day * DAY_SECONDS);
  const end = addSeconds(start, DAY_SECONDS);
  const runs = [null, forecast].map((one) => run(load, one, { start, end, ...overrides }));
  const [without, withIt] = runs.map((one) => figuresOn(day, load, one));
  const [, raised] = runs;
  if (without === undefined || withIt === undefined || raised === undefined) throw new Error('there are two');
  return { without, withIt, run: raised };
}

function figuresOn(day: number, load: Load, one: Run): Figures {
  const start = addSeconds(load.start, day * DAY_SECONDS);
  const window = scoringOf(load, ASSUMPTIONS, { start, end: addSeconds(start, DAY_SECONDS) });
  const [figures] = figuresByWindow(one, [window]);
  if (figures === undefined || figures === null) throw new Error('the load is unknown');
  return figures;
}

describe('a forecast in the simulation', () => {
  test('has the pods ready when a load comes as on the days before, from what its own run has served', () => {
    const load = daysOf(5, opening);
    const [reactive, raised] = [run(load, null), run(load, RAISE)];

    const [without, withIt] = [reactive, raised].map((one) => figuresOn(4, load, one));
    expect(without?.thetaU).toBeGreaterThan(0.35);
    // The days before were served with too few pods, which hides a part of their load.
    expect(withIt?.thetaU).toBeLessThan(0.5 * (without?.thetaU ?? 0));
    expect(withIt?.podHours).toBeLessThan(1.03 * (without?.podHours ?? 0));
  });
  test('changes nothing with mode Observe, nor for a workload that is two days old', () => {
    const load = daysOf(2, opening);
    const reactive = run(load, null).replicas;

    expect(run(load, RAISE).replicas).toEqual(reactive);
    const week = daysOf(8, opening);
    const last = { start: addSeconds(MONDAY, 7 * DAY_SECONDS) };
    expect(run(week, { mode: 'Observe' }, last).replicas).toEqual(run(week, null, last).replicas);
  });
  test('costs a few pod-hours on a holiday, and is right again on the day after', () => {
    const load = daysOf(9, (one) => (one.day === 7 ? 100 : opening(one)));

    const holiday = compareOn(7, load);
    expect(holiday.withIt.podHours).toBeLessThan(1.07 * holiday.without.podHours);
    const after = compareOn(8, load);
    expect(after.withIt.thetaU).toBeLessThan(0.2 * after.without.thetaU);
  });
  test('has the level of today: half as much load again as a week ago', () => {
    const load = daysOf(8, (one) => (one.day === 7 ? 1.5 : 1) * opening(one));

    const { without, withIt } = compareOn(7, load, { initialReplicas: 19 });
    expect(withIt.thetaU).toBeLessThan(0.2 * without.thetaU);
    expect(withIt.podHours).toBeLessThan(1.03 * without.podHours);
  });
  test('is at the same time of the clock after it has changed', () => {
    // The clock of Berlin is set forward on 2026-03-29.
    const start = instantFromMs(Date.UTC(2026, 2, 22, 23));
    const load = daysOf(8, opening, { start, timeZone: 'Europe/Berlin' });

    const local = compareOn(7, load, { forecast: { ...RAISE, timeZone: 'Europe/Berlin' } });
    expect(local.withIt.thetaU).toBeLessThan(0.1 * local.without.thetaU);
    const utc = compareOn(7, load);
    expect(utc.withIt.thetaU).toBe(utc.without.thetaU);
  });
  test('uses the days that are known, and is silent with fewer than three', () => {
    const without = (...days: readonly number[]): Load =>
      daysOf(8, (one) => (days.includes(one.day) ? NaN : opening(one)));

    const four = compareOn(7, without(0, 3, 4));
    expect(four.withIt.thetaU).toBeLessThan(0.1 * four.without.thetaU);
    const two = compareOn(7, without(0, 2, 3, 4, 6));
    expect(two.withIt).toEqual(two.without);
  });
  test('is silent on Saturdays after two on which it raised for nothing', () => {
    const load = daysOf(28, (one) => (one.day % 7 < 5 ? opening(one) : 100));
    const saturday = (day: number): readonly string[] => {
      const saturdays = raises.filter(({ at }) => Math.floor((at - MONDAY) / 86_400_000) === day);
      return saturdays.map(({ reason }) => reason);
    };
    const whys = new Set<string>();
    const { changes } = run(
      load,
      { ...RAISE, lookback: '13d' },
      { start: addSeconds(MONDAY, 12 * DAY_SECONDS) },
      ({ forecast }) => {
        if (forecast?.why.startsWith('at this time') === true) whys.add(forecast.why);
      },
    );
    const raises = changes.filter(({ reason }) => reason.includes('forecast'));

    expect([12, 19, 26].map((day) => saturday(day).length > 0)).toEqual([true, true, false]);
    expect([14, 21, 25].map((day) => saturday(day).length > 0)).toEqual([true, true, true]);
    expect([...whys][0]).toMatch(
      /^at this time on the last 2 days with this weekday, the forecast added \d+ pod-minutes, but prevented only 0 missing pod-minutes, less than a tenth; 6m after this time of day, /,
    );
  });
  test('compares load, not pods: pods of twice the size need half as many', () => {
    const load = daysOf(8, opening);
    const requests = new Map([['app', new Map([['cpu', 2000n]])]]);
    const double = { ...ASSUMPTIONS, capacity: 20, usageAtCapacityPercent: 200 };
    const built = traceModels(scaler(RAISE), load, double);
    if ('error' in built) throw new Error(built.error);

    const usual = compareOn(7, load);
    const large = compareOn(7, load, { requests, models: built.models, initialReplicas: 7 });
    const raisedTo = (one: Run): number =>
      Math.max(
        ...one.changes
          .filter(({ reason }) => reason.includes('forecast'))
          .map(({ desiredReplicas }) => desiredReplicas),
      );
    expect([raisedTo(usual.run), raisedTo(large.run)]).toEqual([27, 14]);
  });
});
