import { describe, expect, test } from '@jest/globals';

import { parseTrace } from '../../support/backtests.js';
import type { Load } from '../../../src/backtest/simulation/load.js';
import { runVariant } from '../../../src/backtest/simulation/run-variant.js';
import type { Run, RunInput } from '../../../src/backtest/simulation/run-variant.js';
import { traceModels, traceRequests } from '../../../src/backtest/simulation/trace-models.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { addSeconds, secondsBetween } from '../../../src/units/time.js';
import { T0, scalerOf } from '../../support/builders.js';
import { podStartOf } from '../../../src/backtest/simulation/settings.js';

const CPU_70 = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } },
};

function cpuScaler(spec: Readonly<Record<string, unknown>> = {}): Scaler {
  return scalerOf({ scaleTargetRef: { name: 'web' }, maxReplicas: 20, metrics: [CPU_70], ...spec });
}

/** One value per minute. */
function perMinute(...values: readonly (number | '')[]): Load {
  const lines = values.map((value, minute) => `${minute * 60},${value}`);
  const { load } = parseTrace(['t_seconds,value', ...lines].join('\n'), T0);
  if (load === null) throw new Error('the trace is invalid');
  return load;
}

/** A pod carries 10. */
function run(scaler: Scaler, load: Load, overrides: Partial<RunInput> = {}): Run {
  const assumptions = {
    capacity: 10,
    usageAtCapacityPercent: 100,
    resourceWindowSeconds: 60,
    scrapeIntervalSeconds: 0,
  };
  const built = traceModels(scaler, load, assumptions);
  if ('error' in built) throw new Error(built.error);
  return runVariant(scaler, {
    start: load.start,
    end: load.end,
    models: built.models,
    initialReplicas: 1,
    podStart: podStartOf(30),
    scrapeIntervalSeconds: 0,
    requests: traceRequests(scaler),
    ...overrides,
  });
}

const counts = (steps: Run['replicas']): readonly (readonly [number, number])[] =>
  steps.map(({ at, count }) => [secondsBetween(T0, at), count]);

const minutes = (count: number, value: number): readonly number[] =>
  Array.from({ length: count }, () => value);

describe('a document on a load trace', () => {
  test('settles where each pod carries 70 % of its capacity: 10 pods for a load of 70', () => {
    const { replicas } = run(cpuScaler(), perMinute(...minutes(30, 70)));

    expect(replicas.at(-1)?.count).toBe(10);
  });

  test('sees at most 100 % from a pod, so that one pod becomes 2 (100 / 70) whatever the load is', () => {
    const [, first] = run(cpuScaler(), perMinute(...minutes(5, 10_000))).replicas;

    expect(first).toEqual({ at: T0 + 15_000, count: 2 });
  });

  test('sees the whole load in an External metric, so that one pod becomes 4, the limit of one scale-up', () => {
    const external = {
      type: 'External',
      external: {
        metric: { name: 'rps' },
        query: 'sum(rps)',
        target: { type: 'AverageValue', averageValue: '7' },
      },
    };

    const { replicas } = run(cpuScaler({ metrics: [external], preset: 'hpa' }), perMinute(...minutes(5, 70)));

    expect(counts(replicas).slice(0, 4)).toEqual([
      [0, 1],
      [15, 4],
      [30, 8],
      [45, 10],
    ]);
  });

  test('makes a pod ready 30 s after it was created', () => {
    const { replicas, ready } = run(cpuScaler(), perMinute(...minutes(2, 10)));

    expect(counts(replicas).slice(0, 2)).toEqual([
      [0, 1],
      [15, 2],
    ]);
    expect(counts(ready).slice(0, 2)).toEqual([
      [0, 1],
      [45, 2],
    ]);
  });

  test('scales down only after the stabilization window of 300 s', () => {
    const { replicas } = run(cpuScaler(), perMinute(...minutes(10, 70), ...minutes(20, 7)), {
      initialReplicas: 10,
    });
    const firstDrop = replicas.find(({ count }) => count < 10);

    // The mean over 60 s falls at once, and the recommendation of 10 pods is the highest for 300 s.
    expect(secondsBetween(T0, firstDrop?.at ?? T0)).toBeGreaterThanOrEqual(900);
    expect(secondsBetween(T0, firstDrop?.at ?? T0)).toBeLessThan(960);
    expect(replicas.at(-1)?.count).toBe(1);
  });

  test('keeps the count in a gap: no value is never 0', () => {
    const gap = Array.from({ length: 20 }, () => '' as const);
    const { replicas, roundsWithoutValue } = run(cpuScaler(), perMinute(70, 70, ...gap, 70, 70), {
      initialReplicas: 10,
    });

    expect(counts(replicas)).toEqual([[0, 10]]);
    // The gap is from 120 s to 1320 s; until 180 s, the window of 60 s still reaches back to known values.
    expect(roundsWithoutValue).toBe(77);
  });

  test('counts the rounds at the maximum and those that a limit changed', () => {
    const { rounds, roundsAtMaximum, roundsByLimit } = run(
      cpuScaler({ maxReplicas: 2 }),
      perMinute(...minutes(10, 70)),
      { initialReplicas: 2 },
    );

    expect(rounds).toBe(40);
    expect(roundsAtMaximum).toBe(40);
    expect(roundsByLimit.get('max_replicas')).toBe(40);
  });

  test('rejects a metric that a trace does not contain', () => {
    const memory = {
      type: 'Resource',
      resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 70 } },
    };
    const scaler = cpuScaler({ metrics: [memory] });

    expect(
      traceModels(scaler, perMinute(1, 1), {
        capacity: 1,
        usageAtCapacityPercent: 100,
        resourceWindowSeconds: 60,
        scrapeIntervalSeconds: 0,
      }),
    ).toEqual({
      error: 'a load trace does not contain the usage of memory: use --prometheus',
    });
  });
});

describe('a warm-up', () => {
  /** 7 pods for 49 and 1 pod for 7, with a stabilization of 300 s; the load falls in minute 10. */
  const load = perMinute(...minutes(10, 49), ...minutes(20, 7));
  const start = addSeconds(T0, 12 * 60);

  const firstChange = ({ replicas }: Run): readonly [minute: number, count: number] => [
    Math.floor(secondsBetween(T0, replicas[1]?.at ?? T0) / 60),
    replicas[1]?.count ?? 0,
  ];

  test('fills the window: 2 min after the fall, the pods stay for 3 to 4 more minutes instead of 5', () => {
    const cold = run(cpuScaler(), load, { start, initialReplicas: 7 });
    const warm = run(cpuScaler(), load, { start, initialReplicas: 7, warmUpFrom: T0 });

    expect([firstChange(cold), firstChange(warm)]).toEqual([
      [17, 1],
      [15, 6],
    ]);
  });

  test('is no part of the run: neither its rounds, its changes nor its replicas', () => {
    const seen: number[] = [];
    const assumptions = {
      capacity: 10,
      usageAtCapacityPercent: 100,
      resourceWindowSeconds: 60,
      scrapeIntervalSeconds: 0,
    };
    const scaler = cpuScaler();
    const built = traceModels(scaler, load, assumptions);
    const models = 'error' in built ? [] : built.models;
    const setting = {
      ...{
        start,
        end: load.end,
        models,
        initialReplicas: 1,
        podStart: podStartOf(30),
        scrapeIntervalSeconds: 0,
      },
      ...{ requests: traceRequests(scaler), warmUpFrom: T0 },
    };
    const { replicas, ready, changes, rounds } = runVariant(scaler, setting, (_, { now }) =>
      seen.push(secondsBetween(start, now)),
    );

    expect([counts(replicas)[0], counts(ready)[0]]).toEqual([
      [720, 7],
      [720, 7],
    ]);
    expect(changes.every(({ at }) => at > start)).toBe(true);
    expect([rounds, seen.length, seen[0]]).toEqual([72, 72, 15]);
  });

  test('begins with the load: a load without the warm-up has none', () => {
    const late = { start: T0, initialReplicas: 7 };

    expect(run(cpuScaler(), load, { ...late, warmUpFrom: addSeconds(T0, -3600) })).toEqual(
      run(cpuScaler(), load, late),
    );
  });
});
