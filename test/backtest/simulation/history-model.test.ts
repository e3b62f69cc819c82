import { describe, expect, test } from '@jest/globals';
import { firstRoundAt, metricHistory } from '../../../src/backtest/history/history-models.js';
import { observedOfColumn, recordedRun } from '../../../src/backtest/history/columns.js';
import { createFleet, podOrderOf, type PodOrder } from '../../../src/backtest/simulation/fleet.js';
import { type ShareModel, shareValues } from '../../../src/backtest/simulation/samples.js';
import type { Pod } from '../../../src/decision/snapshot/snapshot.js';
import { addSeconds, secondsBetween } from '../../../src/units/time.js';
import { scalerOf, T0 } from '../../support/builders.js';
import { podStartOf } from '../../../src/backtest/simulation/settings.js';

const at = (seconds: number): typeof T0 => addSeconds(T0, seconds);

const RPS = { external: { query: 'sum(rps)', target: { averageValue: 1 } } };

/** A history with the value 60 at each step of 15 s. */
const SIXTY = observedOfColumn({ start: T0, stepSeconds: 15, values: new Float64Array(41).fill(60) });

const MODEL: ShareModel = {
  kind: 'share',
  load: SIXTY,
  loadIs: 'mean',
  saturation: null,
  unitsPerLoad: 1,
  windowSeconds: 60,
  spanSeconds: 60,
  isRate: true,
};

function pod(name: string, readySeconds: number): Pod {
  const readyChangedAt = at(readySeconds);
  return {
    ...{ name, phase: 'Running', deleting: false, ready: true },
    ...{ startTime: readyChangedAt, readyChangedAt, requests: new Map(), podRequests: null },
  };
}

/** 2 pods, and a third one that is ready 300 s after the start. */
function values(model: Partial<ShareModel>, seconds: number): Readonly<Record<string, number>> {
  const ready = [
    { at: T0, count: 2 },
    { at: at(300), count: 3 },
  ];
  const now = at(seconds);
  const pods = [pod('old', 0), pod('young', 300)];
  return Object.fromEntries(
    shareValues(
      { ...MODEL, ...model },
      { now, measuredAt: now, pods, shares: null, ready, scrapeIntervalSeconds: 15 },
    ),
  );
}

describe('the value of a pod, from a history of 60 in total', () => {
  test('is 30 of 2 pods, and 20 of 3 pods a window of 60 s after the third one is ready', () => {
    expect([values({}, 300)['old'], values({}, 360)['old']]).toEqual([30, 20]);
  });

  test('15 s after the third one is ready: 45 s of 30 and 15 s of 20 make 27.5', () => {
    expect(values({}, 315)['old']).toBe(27.5);
  });

  test('of a young pod is 5 with rate, 15 s of 20 in a window of 60 s; and 20 with a mean', () => {
    expect([values({}, 315)['young'], values({ isRate: false }, 315)['young']]).toEqual([5, 20]);
  });

  test('of a pod that is ready since the last sample is 0 with rate', () => {
    expect(values({}, 300)['young']).toBe(0);
  });

  test('ends at what a pod carries: 25', () => {
    expect(values({ saturation: 25 }, 315)['old']).toBe(23.75);
  });
});

describe('the seconds over which a recorded value is a mean', () => {
  const spanOf = (
    metric: Readonly<Record<string, unknown>>,
    query: string,
    scrapeIntervalSeconds: number,
  ): number => {
    const [spec] = scalerOf({ scaleTargetRef: { name: 'web' }, maxReplicas: 5, metrics: [metric] }).spec
      .metrics;
    const column = { start: T0, stepSeconds: 15, values: new Float64Array(41).fill(60) };
    const window = { query, windowSeconds: 120, scrapeIntervalSeconds, saturation: null };
    return spec === undefined ? NaN : metricHistory(spec, column, window).spanSeconds;
  };
  const CPU = { resource: { name: 'cpu', target: { averageUtilization: 80 } } };
  const external = (query: string): Readonly<Record<string, unknown>> => ({
    external: { query, target: { averageValue: 1 } },
  });

  test.each([
    ['90 of a rate over 120 s with scrapes every 30 s', 'sum(rate(x_total[2m]))', 30, 90],
    ['105 of an increase over 120 s with scrapes every 15 s', 'sum(increase(x_total[2m]))', 15, 105],
    ['120 of an average over 120 s', 'sum(avg_over_time(x[2m]))', 30, 120],
    ['120 of a rate whose scrape interval is longer than the window', 'sum(rate(x_total[2m]))', 150, 120],
  ])('are %s', (_, query, scrapeIntervalSeconds, span) => {
    expect(spanOf(external(query), query, scrapeIntervalSeconds)).toBe(span);
  });

  test('are 90 of the cpu of pods, which is a rate whatever the query says', () => {
    expect(spanOf(CPU, 'cpu_of_pods', 30)).toBe(90);
  });
});

describe('what the query returned', () => {
  const of = (...numbers: readonly number[]): ReturnType<typeof observedOfColumn> =>
    observedOfColumn({ start: T0, stepSeconds: 10, values: Float64Array.from(numbers) });

  test('is interpolated between two steps: 12 after 2 of 10 s from 10 to 20', () => {
    expect(of(10, 20).at(at(2))).toBe(12);
  });

  test('is not interpolated over a gap: the nearest step counts, up to half a step', () => {
    expect([4, 6, 15].map((seconds) => of(10, NaN, 30).at(at(seconds)))).toEqual([10, null, 30]);
  });
});

describe('the first round', () => {
  const seconds = (changes: readonly number[]): number =>
    secondsBetween(
      T0,
      firstRoundAt(
        changes.map((second) => ({ at: at(second), count: 1 })),
        T0,
        15,
      ),
    );

  test('is one period after the start if nothing changed', () => {
    expect(seconds([])).toBe(15);
  });

  test('is where the changes show it: at 4 s, for changes 3, 4 and 5 s after a multiple of 15 s', () => {
    expect(seconds([18, 49, 155])).toBe(4);
  });

  test('is 15 s after the start for changes 14 s and 1 s after a multiple of 15 s', () => {
    expect(seconds([29, 46])).toBe(15);
  });
});

describe('what really ran', () => {
  const column = (...numbers: readonly number[]): Parameters<typeof recordedRun>[0]['replicas'] => ({
    start: T0,
    stepSeconds: 10,
    values: Float64Array.from(numbers),
  });
  const stepsOf = (late: number, ...numbers: readonly number[]): readonly (readonly [number, number])[] => {
    const recorded = {
      replicas: column(...numbers),
      ready: null,
      lateSeconds: { replicas: late, ready: late },
    };
    const run = recordedRun(recorded, { start: T0, end: at(60) });
    return (run?.replicas ?? []).map((step) => [secondsBetween(T0, step.at), step.count]);
  };

  test('changed before it was recorded: at 18 s, if 30 s is 12 s late', () => {
    expect(stepsOf(12, 2, 2, 2, 4, 4)).toEqual([
      [0, 2],
      [18, 4],
    ]);
  });

  test('begins with 4, if the change to 4 is recorded at 10 s and is 12 s late', () => {
    expect(stepsOf(12, 2, 4, 4)).toEqual([[0, 4]]);
  });
});

describe('3 more pods that each need 10 s', () => {
  const readyAt = (order: PodOrder): readonly number[] => {
    const fleet = createFleet({
      replicas: 2,
      start: T0,
      podStart: podStartOf(10),
      requests: new Map(),
      order,
    });
    fleet.scaleTo(5, T0);
    return [0, 10, 20, 30].map((seconds) => {
      fleet.advanceTo(at(seconds));
      return fleet.readyCount();
    });
  };

  test('are ready together in a Deployment, and one after the other in a StatefulSet', () => {
    expect([readyAt('parallel'), readyAt('ordered')]).toEqual([
      [2, 5, 5, 5],
      [2, 3, 4, 5],
    ]);
  });

  test('of a StatefulSet are not created if it scales down before', () => {
    const fleet = createFleet({
      ...{ replicas: 2, start: T0, podStart: podStartOf(10), requests: new Map(), order: 'ordered' },
    });
    fleet.scaleTo(5, T0);
    fleet.scaleTo(3, at(5));
    fleet.advanceTo(at(60));

    expect([fleet.replicas(), fleet.readyCount(), fleet.pods().length]).toEqual([3, 3, 3]);
  });

  test('are at most 20,000 in all, at the start and later', () => {
    const fleetOf = (replicas: number): ReturnType<typeof createFleet> =>
      createFleet({ replicas, start: T0, podStart: podStartOf(10), requests: new Map() });

    expect(fleetOf(20_000).replicas()).toBe(20_000);
    expect(() => fleetOf(20_001)).toThrow('the simulation needs 20001 pods, must need at most 20000');
    expect(() => fleetOf(1).scaleTo(20_001, T0)).toThrow(
      'the simulation needs 20001 pods, must need at most 20000',
    );
  });

  test('are ordered by the kind of the target', () => {
    const orderOf = (kind: string): PodOrder =>
      podOrderOf(scalerOf({ scaleTargetRef: { kind, name: 'web' }, maxReplicas: 5, metrics: [RPS] }));

    expect([orderOf('Deployment'), orderOf('StatefulSet')]).toEqual(['parallel', 'ordered']);
  });
});
