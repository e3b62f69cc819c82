import { describe, expect, it } from '@jest/globals';
import { createMetricSource } from '../../../src/prometheus/metric-source.js';
import type { DueScaler } from '../../../src/prometheus/queries/round-plan.js';
import { aScaler, aSource, externalMetric } from '../../support/builders.js';
import { ManualClock, settle } from '../../support/manual-clock.js';
import { values } from '../fakes.js';

const SCALERS = 50;

const dueOf = (index: number): DueScaler => ({
  scaler: aScaler([externalMetric({ query: `q${index}` })], 'shop', `web-${index}`),
  periodSeconds: 15,
});
const last = dueOf(SCALERS - 1);
const due: readonly DueScaler[] = [...Array.from({ length: SCALERS - 1 }, (_, index) => dueOf(index)), last];

/** Each look at the clock takes `msPerStep`. */
function setUp(msPerStep: number) {
  const clock = new ManualClock();
  let usedMs = 0;
  const monotonicMs = (): number => clock.monotonicMs() + (usedMs += msPerStep);
  const asked: string[] = [];
  const metrics = createMetricSource({
    sources: new Map([['default', aSource({ maxConcurrentQueries: 1000 })]]),
    clock: { now: clock.now, random: clock.random, after: clock.after, monotonicMs },
    onQuery: () => undefined,
    createClient: () => ({
      query: (query) => {
        asked.push(query);
        return Promise.resolve(values([{ labels: {}, value: Number(query.slice(1)) }]));
      },
      startTime: () => Promise.resolve(null),
    }),
  });
  const start = () => metrics.startRound(due, new AbortController().signal);
  const runTurns = async () => {
    for (let turn = 0; turn < SCALERS; turn += 1) await clock.advanceAndSettle(0);
  };
  return { runTurns, asked, start };
}

describe('a round that takes many turns', () => {
  it('sends the same queries in the same order as in one turn, and answers each scaler', async () => {
    const inOneTurn = setUp(0);
    inOneTurn.start();
    await settle();
    const inTurns = setUp(0.5);

    const round = inTurns.start();
    await settle();
    const askedAtFirst = inTurns.asked.length;
    const answers = due.map(({ scaler }) => round.of(scaler));
    await inTurns.runTurns();

    expect(askedAtFirst).toBeLessThan(SCALERS);
    expect(inOneTurn.asked).toHaveLength(SCALERS);
    expect(inTurns.asked).toEqual(inOneTurn.asked);
    expect((await Promise.all(answers)).map(([answer]) => answer?.class)).toEqual(due.map(() => 'value'));
    await expect(round.of(aScaler([], 'shop', 'unknown'))).rejects.toThrow(
      'shop/unknown is not part of this round',
    );
  });

  it('has sent all its queries when the next round starts', async () => {
    const { asked, start, runTurns } = setUp(0.5);
    start();
    const second = start();
    await settle();

    expect(new Set(asked.slice(0, SCALERS)).size).toBe(SCALERS);
    const answer = second.of(last.scaler);
    await runTurns();
    expect((await answer)[0]?.class).toBe('value');
  });

  it('says until when its queries are being sent, and then has one promise for an answer', async () => {
    const { start, runTurns } = setUp(0.5);
    const round = start();
    const [one] = due;
    if (one === undefined) throw new Error('no scaler');
    const sending = round.sending?.() ?? null;
    expect(sending).not.toBeNull();
    await runTurns();
    await sending;

    expect(round.sending?.()).toBeNull();
    expect(round.of(one.scaler)).toBe(round.of(one.scaler));
  });

  it('tells of no duplicates while its queries are not sent, instead of an error', () => {
    const { start } = setUp(0.5);

    expect(start().duplicates?.(last.scaler)).toBeNull();
  });
});
