import { describe, expect, it } from '@jest/globals';
import { INTERNAL_ERROR } from '../../../src/units/failure.js';
import { createMetricSource } from '../../../src/prometheus/metric-source.js';
import { aClient, aSource, externalMetric } from '../../support/builders.js';
import { ManualClock, settle } from '../../support/manual-clock.js';
import { startRound, values } from '../fakes.js';
import { due } from '../round-fixture.js';

const SCALERS = 50;
const scalers = Array.from({ length: SCALERS }, (_, index) =>
  due([externalMetric({ query: `q${index}` })], 'shop', `web-${index}`),
);

/** Each look at the clock takes `msPerStep`. */
function setUp(msPerStep: number) {
  const clock = new ManualClock();
  let usedMs = 0;
  const monotonicMs = (): number => clock.monotonicMs() + (usedMs += msPerStep);
  const asked: string[] = [];
  const faults: unknown[] = [];
  let defect: Error | null = null;
  const metrics = createMetricSource({
    sources: new Map([['default', aSource({ maxConcurrentQueries: 1000 })]]),
    clock: { now: clock.now, random: clock.random, after: clock.after, monotonicMs },
    onQuery: () => undefined,
    onFault: (error) => faults.push(error),
    createClient: (config) => ({
      ...aClient(config, {
        query: (query) => {
          if (query.startsWith('q')) asked.push(query);
          return Promise.resolve(values([{ labels: {}, value: Number(query.slice(1)) }]));
        },
        startTime: () => Promise.resolve(null),
      }),
      series: () => {
        if (defect !== null) throw defect;
        return { known: 0, read: 0 };
      },
    }),
  });
  const runTurns = async () => {
    for (let turn = 0; turn < 3 * SCALERS; turn += 1) await clock.advanceAndSettle(0);
    // Two reads of the age of a source are 100 ms apart.
    await clock.advanceAndSettle(1000);
  };
  return {
    runTurns,
    asked,
    faults,
    breakDown: (error: Error | null) => (defect = error),
    setScalers: () => metrics.setScalers(scalers),
    start: () => startRound(metrics, scalers),
  };
}

describe('a round that takes many turns', () => {
  it('sends the same queries in the same order as in one turn, and answers each scaler', async () => {
    const inOneTurn = setUp(0);
    inOneTurn.start();
    await settle();
    const inTurns = setUp(0.5);
    inTurns.setScalers();

    const round = inTurns.start();
    await settle();
    const askedAtFirst = inTurns.asked.length;
    const answers = scalers.map((scaler) => round.of(scaler));
    await inTurns.runTurns();

    expect(askedAtFirst).toBeLessThan(SCALERS);
    expect(inOneTurn.asked).toHaveLength(SCALERS);
    expect(inTurns.asked).toEqual(inOneTurn.asked);
    expect((await Promise.all(answers)).map(([answer]) => answer?.class)).toEqual(scalers.map(() => 'value'));
  });

  it('sends all its queries before those of the next round', async () => {
    const { asked, start, runTurns } = setUp(0.5);
    start();
    const second = start();
    await runTurns();

    expect(new Set(asked.slice(0, SCALERS)).size).toBe(SCALERS);
    expect(asked).toHaveLength(2 * SCALERS);
    const answers = await Promise.all(scalers.map((scaler) => second.of(scaler)));
    expect(answers.flat().map((answer) => answer.class)).toEqual(scalers.map(() => 'value'));
  });
});

describe('an internal error before the queries of a round are sent', () => {
  it('is reported, and no scaler has a value or waits for ever; the next round has values', async () => {
    const { start, faults, breakDown, runTurns } = setUp(0);
    const error = new Error('defect');
    breakDown(error);
    const failed = start();
    await settle();
    breakDown(null);
    const next = start();
    await runTurns();

    expect((await Promise.all(scalers.map((scaler) => failed.of(scaler)))).flat()).toEqual(
      scalers.map(() => INTERNAL_ERROR),
    );
    expect(faults).toEqual([error]);
    await expect(next.of(scalers[0] ?? due([]))).resolves.toMatchObject([{ class: 'value' }]);
  });
});
