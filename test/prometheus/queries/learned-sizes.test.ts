import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import { createMetricSource } from '../../../src/prometheus/metric-source.js';
import type { MetricSpec } from '../../../src/scaler/spec.js';
import { aSource } from '../../support/builders.js';
import { ManualClock } from '../../support/manual-clock.js';
import { fakeEngine } from '../fake-engine.js';
import { startRound, values } from '../fakes.js';
import { due } from '../round-fixture.js';

const metric: MetricSpec = {
  type: 'Pods',
  name: 'rps',
  identity: 'rps',
  source: 'default',
  query: 'sum by (pod) (rps{namespace="$namespace", pod=~"$pods"})',
  selector: [],
  onMissing: 'error',
  onNaN: 'error',
  target: { type: 'AverageValue', milli: 1000n },
} as MetricSpec;

const ONE = values([{ labels: { pod: 'p' }, value: 1 }]);
const BUSY: Answer = { class: 'failed', reason: 'busy', message: 'h: busy' };

interface Engine {
  readonly slots: number;
  readonly fixed: number;
  readonly each: number;
}

/** What a round had: workloads with a value, seconds of the engine, and the number of workloads in each query. */
interface Had {
  readonly values: number;
  readonly engineSeconds: number;
  readonly sizes: readonly number[];
}

/** Rounds of `count` workloads with a time limit of 2 s, on an engine that is `slowness(round)` times slower. */
async function rounds(
  { slots, fixed, each }: Engine,
  {
    count = 100,
    number,
    slowness = () => 1,
    isBusy = () => false,
  }: {
    readonly count?: number;
    readonly number: number;
    readonly slowness?: (round: number) => number;
    readonly isBusy?: (round: number) => boolean;
  },
): Promise<readonly Had[]> {
  const clock = new ManualClock();
  let round = 0;
  let sizes: number[] = [];
  const engine = fakeEngine({
    clock,
    slots,
    cpus: slots,
    treat: (query) => {
      const size = workloadsIn(query);
      sizes.push(size);
      return isBusy(round)
        ? { seconds: 0.1, answer: BUSY }
        : { cpuSeconds: slowness(round) * (fixed + each * size), answer: ONE };
    },
  });
  const source = createMetricSource({
    sources: new Map([
      ['default', aSource({ flavor: 'prometheus', ifVictoriaMetrics: null, timeoutSeconds: 2 })],
    ]),
    clock,
    onQuery: () => undefined,
    createClient: engine.createClient,
  });
  const scalers = Array.from({ length: count }, (_, index) =>
    due([metric], 'shop', `w${String(index).padStart(3, '0')}`),
  );
  source.setScalers(scalers);
  const had: Had[] = [];
  for (; round < number; round += 1) {
    sizes = [];
    let withValue = 0;
    const before = engine.usedSeconds();
    const answers = startRound(source, scalers);
    for (const scaler of scalers)
      void answers.of(scaler).then(([answer]) => (withValue += Number(answer?.class === 'value')));
    await clock.advanceAndSettle(15_000);
    had.push({ values: withValue, engineSeconds: engine.usedSeconds() - before, sizes });
  }
  return had;
}

const workloadsIn = (query: string): number => new Set(query.match(/w\d{3}/g)).size;
const valuesOf = (had: readonly Had[]): readonly number[] => had.map((each) => each.values);

/** Rounds 4 to 7 of a slow minute. */
const slowMinute =
  (factor: number) =>
  (round: number): number =>
    round >= 4 && round < 8 ? factor : 1;

const FIXED = { fixed: 0.6, each: 0 };
const PROPORTIONAL = { fixed: 0, each: 0.006 };
const MIXED = { fixed: 0.2, each: 0.004 };

describe('100 workloads on an engine that takes 0.6 s for each query', () => {
  it.each([1, 4, 20])('have 100 values in every round, with %d slots', async (slots) => {
    const had = await rounds({ slots, ...FIXED }, { number: 12 });

    expect(valuesOf(had)).toEqual(Array.from({ length: 12 }, () => 100));
  });

  it.each([1, 4, 20])('have all values again after one slow answer, with %d slots', async (slots) => {
    const had = await rounds(
      { slots, ...FIXED },
      { number: 12, slowness: (round) => (round === 4 ? 10 : 1) },
    );

    expect(valuesOf(had).toSpliced(4, 1)).toEqual(Array.from({ length: 11 }, () => 100));
  });
});

describe('after a slow minute', () => {
  const engines = [1, 4, 20].flatMap((slots) =>
    [FIXED, PROPORTIONAL, MIXED].flatMap((cost) =>
      [3, 5, 10, 40].map((factor) => ({ slots, ...cost, factor })),
    ),
  );

  it.each(engines)(
    'sizes and values are as before within 4 rounds, with at most three queries more: %j',
    async ({ factor, ...engine }) => {
      const had = await rounds(engine, { number: 14, slowness: slowMinute(factor) });

      expect(had.slice(12)).toEqual(
        [had[1], had[1]].map((each) => expect.objectContaining({ values: each?.values })),
      );
      expect(had.at(-1)?.sizes).toEqual([100]);
      had.forEach(({ sizes }, index) => {
        if (had[index - 1]?.values === 0) expect(sizes.length).toBeLessThanOrEqual(4);
      });
    },
  );
});

describe('the values per second of the engine', () => {
  const engines = [1, 4, 20].flatMap((slots) =>
    [
      FIXED,
      PROPORTIONAL,
      MIXED,
      { fixed: 0, each: 0.05 },
      { fixed: 0.3, each: 0.05 },
      { fixed: 1.5, each: 0.01 },
    ].flatMap((cost) => [100, 400].map((count) => ({ slots, ...cost, count }))),
  );

  it.each(engines)(
    'are never fewer with the size that is learned than with another one before: %j',
    async ({ count, ...engine }) => {
      const had = await rounds(engine, { number: 24, count });

      const rate = ({ values: some, engineSeconds }: Had): number => some / Math.max(engineSeconds, 1e-6);
      // One round of eight tests whether the engine answers more queries at once.
      const last = had.slice(-8);
      const average = last.reduce((sum, each) => sum + rate(each), 0) / 8;
      expect(average).toBeGreaterThanOrEqual(0.9 * Math.max(...had.map(rate)));
      expect(Math.min(...valuesOf(last))).toBeGreaterThanOrEqual(0.85 * Math.max(...valuesOf(had)));
    },
  );
});

describe('an overload of the source', () => {
  it('changes no size: all values are there in the round after it', async () => {
    const had = await rounds(
      { slots: 4, ...FIXED },
      { number: 8, isBusy: (round) => round >= 2 && round < 6 },
    );

    expect(valuesOf(had)).toEqual([100, 100, 0, 0, 0, 0, 100, 100]);
    expect(new Set(had.flatMap(({ sizes }) => sizes))).toEqual(new Set([100]));
  });
});
