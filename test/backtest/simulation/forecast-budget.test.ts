import { describe, expect, test } from '@jest/globals';
import { figuresByWindow } from '../../../src/backtest/compare/probes.js';
import { scoringOf } from '../../../src/backtest/compare/variant.js';
import type { Figures } from '../../../src/backtest/compare/figures.js';
import { createLoad, type Load } from '../../../src/backtest/simulation/load.js';
import { type Run, runVariant } from '../../../src/backtest/simulation/run-variant.js';
import { podStartOf } from '../../../src/backtest/simulation/settings.js';
import { traceModels, traceRequests } from '../../../src/backtest/simulation/trace-models.js';
import { addSeconds, instantFromMs } from '../../../src/units/time.js';
import { scalerOf } from '../../support/builders.js';
import { ASSUMPTIONS } from '../compare/assumptions.js';

const DAYS = 8;
const START = instantFromMs(Date.UTC(2026, 0, 5));

/** One value per minute. A pod carries 10. */
function loadOf(valueAt: (minute: number) => number): Load {
  const times = Float64Array.from({ length: DAYS * 1440 }, (_, index) => addSeconds(START, index * 60));
  const values = times.map((_, index) => valueAt(index % 1440));
  return createLoad(times, values, addSeconds(START, DAYS * 86_400));
}

const BATCHES = loadOf((minute) => (minute % 360 >= 120 && minute % 360 < 140 ? 400 : 100));
const HOURLY = loadOf((minute) => (minute % 60 < 10 ? 250 : 100));

interface Outcome {
  readonly run: Run;
  /** The mean count of the scaler, and the one without a forecast that the forecast assumes. */
  readonly mean: number;
  readonly reactive: number;
}

function run(load: Load, podStartSeconds: number, forecast: object | undefined): Outcome {
  const document = scalerOf({
    scaleTargetRef: { name: 'web' },
    maxReplicas: 100,
    syncPeriodSeconds: 60,
    metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 80 } } }],
    ...(forecast === undefined ? {} : { forecast }),
  });
  const built = traceModels(document, load, ASSUMPTIONS);
  if ('error' in built) throw new Error(built.error);
  let [own, reactive, rounds] = [0, 0, 0];
  const result = runVariant(
    document,
    {
      start: load.start,
      end: load.end,
      models: built.models,
      initialReplicas: 13,
      podStart: podStartOf(podStartSeconds),
      scrapeIntervalSeconds: ASSUMPTIONS.scrapeIntervalSeconds,
      requests: traceRequests(document),
    },
    ({ forecast: decided, desiredReplicas }) => {
      own += desiredReplicas;
      reactive += decided?.reactive ?? desiredReplicas;
      rounds += 1;
    },
  );
  return { run: result, mean: own / rounds, reactive: reactive / rounds };
}

/** Of the last three days. */
function figuresOf(load: Load, one: Outcome): Figures {
  const window = scoringOf(load, ASSUMPTIONS, { start: addSeconds(load.end, -3 * 86_400), end: load.end });
  const [figures] = figuresByWindow(one.run, [window]);
  if (figures === undefined || figures === null) throw new Error('the load is unknown');
  return figures;
}

describe('the budget of a forecast', () => {
  test.each([
    ['four batches of twenty minutes a day, four times the load', BATCHES, 120],
    ['four batches of twenty minutes a day, four times the load', BATCHES, 300],
    ['ten minutes of each hour, two and a half times the load', HOURLY, 120],
    ['ten minutes of each hour, two and a half times the load', HOURLY, 300],
  ])('of 4 %% is what it costs next to a scaler without: %s, pods start in %d s', (_, load, seconds) => {
    const without = run(load, seconds, undefined);
    const withIt = run(load, seconds, { mode: 'Raise', budgetPercent: 4 });

    // The pods of the forecast show all of the load at once. A scaler without them sees it a quarter at a time.
    expect(Math.abs(withIt.reactive / without.mean - 1)).toBeLessThan(0.012);
    const [before, after] = [without, withIt].map((one) => figuresOf(load, one));
    const cost = 100 * ((after?.podHours ?? NaN) / (before?.podHours ?? NaN) - 1);
    expect(cost).toBeGreaterThan(1);
    expect(cost).toBeLessThan(5);
    expect(after?.thetaU).toBeLessThan(before?.thetaU ?? NaN);
  });
});
