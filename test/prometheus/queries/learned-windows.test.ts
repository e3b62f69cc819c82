import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import type { SourceConfig } from '../../../src/prometheus/data-source/source-config.js';
import { createMetricSource } from '../../../src/prometheus/metric-source.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { toSamples } from '../../../src/prometheus/samples.js';
import { aClient, aPod, aSource, at, cpuMetric } from '../../support/builders.js';
import { ManualClock } from '../../support/manual-clock.js';
import { type AwaitedRound, startRound, values } from '../fakes.js';
import { due } from '../round-fixture.js';

const CPU = 'sum by (namespace, pod, container) (rate(cpu_seconds_total{namespace=~"$namespaces"}[$window]))';
const WEB = due([cpuMetric]);
/** As without `resourceWindowSeconds` in the config. */
const UNSET = { learnedIntervalSeconds: null };

/** A data source whose series have this interval in seconds; null: it does not answer. */
function setUp(overrides: Partial<SourceConfig> = UNSET) {
  const clock = new ManualClock();
  let interval: number | null = 15;
  const readings: string[] = [];
  const asked: string[] = [];
  const query = (text: string): Promise<Answer> => {
    if (interval === null)
      return Promise.resolve({ class: 'failed', reason: 'connection', message: 'connection refused' });
    if (text.startsWith('quantile')) {
      readings.push(text);
      const found = interval === 0 ? [] : [{ labels: { job: 'kubelet' }, value: interval }];
      return Promise.resolve(found.length === 0 ? { class: 'missing', message: 'no series' } : values(found));
    }
    asked.push(text);
    return Promise.resolve(
      values([{ labels: { namespace: 'shop', pod: 'a', container: 'app' }, value: 0.5 }], clock.now()),
    );
  };
  const source = aSource({ resourceQueries: { cpu: CPU }, ...overrides });
  const sources = new Map([['default', source]]);
  const metrics = createMetricSource({
    sources,
    clock,
    onQuery: () => undefined,
    createClient: (config) => aClient(config, { query, startTime: () => Promise.resolve(at(-100_000)) }),
  });
  const round = async (...scalers: readonly Scaler[]): Promise<AwaitedRound> => {
    const started = startRound(metrics, scalers);
    const answered = Promise.all(scalers.map(started.of));
    await clock.advanceAndSettle(15_000);
    await answered;
    return started;
  };
  /** Returns the window of each of the rounds, which follow each other after 15 s. */
  const windows = async (count: number, scaler = WEB): Promise<readonly number[]> => {
    const seen: number[] = [];
    for (let index = 0; index < count; index += 1)
      seen.push((await round(scaler)).sources.get('default')?.resourceWindowSeconds ?? NaN);
    return seen;
  };
  return {
    sources,
    round,
    windows,
    asked,
    readings,
    setInterval: (seconds: number | null) => (interval = seconds),
  };
}

describe('the window of resource queries', () => {
  it('is 120 s until the scrape interval is known, and then four of its 15 s', async () => {
    const { windows, asked } = setUp();

    expect(await windows(3)).toEqual([120, 60, 60]);
    expect(asked.map((query) => /\[(\w+)\]/.exec(query)?.[1])).toEqual(['120s', '60s', '60s']);
  });

  it.each([
    [1, 20],
    [5.1, 20],
    [9.97, 40],
    [12, 60],
    [30.2, 120],
    [60, 240],
    [110, 480],
    [400, 1680],
  ])('is for an interval of %d s %d s', async (seconds, window) => {
    const { windows, setInterval } = setUp();
    setInterval(seconds);

    expect((await windows(2))[1]).toBe(window);
  });

  it('is that of the config if that sets one, and nothing is read', async () => {
    const { windows, readings } = setUp({ resourceWindowSeconds: 90 });

    expect(await windows(3)).toEqual([90, 90, 90]);
    expect(readings).toEqual([]);
  });

  it('stays while the interval varies by 5 % for an hour, with a reading every two minutes', async () => {
    const { windows, setInterval, readings } = setUp();
    await windows(2);

    const seen: number[] = [];
    for (let index = 0; index < 30; index += 1) {
      setInterval(15 * (1 + (index % 2 === 0 ? 0.05 : -0.05)));
      seen.push(...(await windows(8)));
    }

    expect(new Set(seen)).toEqual(new Set([60]));
    expect(readings.length).toBe(31);
  });

  it('stays after a single other reading, which may have met failed scrapes', async () => {
    const { windows, setInterval } = setUp();
    await windows(7);

    setInterval(30);
    const met = await windows(2);
    setInterval(15);

    expect([...met, ...(await windows(20))]).toEqual(Array.from({ length: 22 }, () => 60));
  });

  it.each([
    [30, 120],
    [5, 20],
  ])('moves to that of another interval, %d s, after two readings', async (seconds, window) => {
    const { windows, setInterval } = setUp();
    await windows(7);

    setInterval(seconds);

    expect(await windows(5)).toEqual([60, 60, 60, window, window]);
  });

  it.each([
    [15, 16.1],
    [20, 15.4],
  ])(
    'stays on its side of the limit between 15 s and 20 s: learned at %d s, then %d s',
    async (one, other) => {
      const { windows, setInterval } = setUp();
      setInterval(one);
      const [, learned] = await windows(7);

      setInterval(other);

      expect(new Set(await windows(30))).toEqual(new Set([learned]));
    },
  );

  it('moves to 60 s after a first reading met failed scrapes, so that all replicas have the same one', async () => {
    const { windows, setInterval } = setUp();
    setInterval(17);
    const first = await windows(7);

    setInterval(15);

    expect([first[1], (await windows(12)).at(-1)]).toEqual([80, 60]);
  });

  it('stays while the data source does not answer, and while its series have no samples', async () => {
    const { windows, setInterval } = setUp();
    await windows(2);

    setInterval(null);
    const away = await windows(20);
    setInterval(0);
    const empty = await windows(20);

    expect(new Set([...away, ...empty])).toEqual(new Set([60]));
  });

  it('is read at least every minute while no interval is found: 17 times in 15 minutes', async () => {
    const { windows, setInterval, readings } = setUp();
    setInterval(0);

    await windows(60);

    // Each of them with and without the pattern of the pods.
    expect(readings.length).toBe(2 * 17);
    expect(readings.slice(0, 2).map((query) => query.includes('pod=~'))).toEqual([true, false]);
  });

  it('is known 75 s after a workload that starts late has samples', async () => {
    const { windows, setInterval } = setUp();
    setInterval(0);
    await windows(40);

    setInterval(10);

    expect((await windows(6)).at(-1)).toBe(40);
  });

  it('is read from at most 8 of 100 workloads, other ones each time', async () => {
    const { round, readings } = setUp();
    const scalers = Array.from({ length: 100 }, (_, index) => due([cpuMetric], 'shop', `web-${index}`));

    for (let index = 0; index < 10; index += 1) await round(...scalers);

    const read = readings.map((query) => /pod=~"\(\?:([^)]*)\)/.exec(query)?.[1]?.split('|') ?? []);
    expect(read.map((names) => names.length)).toEqual([8, 8]);
    expect(new Set(read.flat()).size).toBe(16);
  });

  it('is that of the round in each sample, with the interval as its age', async () => {
    const { round } = setUp();
    const observed: unknown[] = [];
    for (const seconds of [0, 15]) {
      const answers = await round(WEB);
      const results = await answers.of(WEB);
      const context = { pods: [aPod('a')], now: at(seconds), sources: answers.sources };
      const samples = toSamples(WEB, results, context);
      observed.push(samples[0]);
    }

    expect(observed).toMatchObject([
      { at: at(-30), windowSeconds: 120 },
      { at: at(0), windowSeconds: 60 },
    ]);
  });

  it('is also that of queries without $namespaces', async () => {
    const { windows, asked } = setUp({
      ...UNSET,
      resourceQueries: { cpu: 'sum by (pod) (rate(cpu_total[$window]))' },
    });

    await windows(2);

    expect(asked).toEqual(['sum by (pod) (rate(cpu_total[120s]))', 'sum by (pod) (rate(cpu_total[60s]))']);
  });
});
