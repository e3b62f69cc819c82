import { describe, expect, it } from '@jest/globals';
import { snapshotToJson } from '../../../src/decision/result/write-json.js';
import type { LoadHistory } from '../../../src/decision/snapshot/snapshot.js';
import type { HistoryOrder } from '../../../src/prometheus/queries/round.js';
import { addSeconds } from '../../../src/units/time.js';
import { aPod } from '../../support/builders.js';
import { answerOf, answersFrom, World } from '../world.js';

const RAISE = { forecast: { mode: 'Raise', lead: '120s', budgetPercent: 100 } };

/** A world in which the load of earlier days rose to `load` within the lead. */
class ForecastWorld extends World {
  readonly asked: HistoryOrder[] = [];
  history: LoadHistory | undefined = this.rising(90);

  rising(load: number): LoadHistory {
    const seasons = [1, 2, 3, 4].map((days) => {
      const at = addSeconds(this.clock.now(), 120 - days * 86_400);
      return { at, load, level: 50 };
    });
    return { leadSeconds: 120, highest: 100, seasons, unusable: null };
  }

  /** Runs cycles for some minutes. Returns the last one. */
  async minutes(minutes: number) {
    let output = await this.next();
    for (let rest = 4 * minutes - 1; rest > 0; rest -= 1) output = await this.next();
    return output;
  }

  constructor(spec: object = {}) {
    super({ ...spec });
    const started = addSeconds(this.clock.now(), -600);
    this.cluster.pods.push(aPod('web-1', { startTime: started, readyChangedAt: addSeconds(started, 42) }));
  }

  next() {
    this.clock.advance(15_000);
    const loadHistory = (_: unknown, order: HistoryOrder): LoadHistory | undefined => {
      this.asked.push(order);
      return this.history;
    };
    const answers = { ...answersFrom([answerOf(this.load, this.clock.now())]), loadHistory };
    return this.cycle({ answers });
  }
}

describe('a cycle of a document with a forecast', () => {
  it('raises the target to the load that the earlier days had within the lead', async () => {
    const world = new ForecastWorld(RAISE);
    const { record } = await world.minutes(6);

    expect(record.snapshot?.loadHistory).toBe(world.history);
    expect(world.cluster.specReplicas).toBe(9);
    expect(record.decision?.forecast).toMatchObject({ replicas: 9, isUsed: true, reactive: 5 });
  });

  it.each<[string, LoadHistory | undefined]>([
    ['was not read yet', undefined],
    ['cannot be read', { leadSeconds: 120, highest: 0, seasons: [], unusable: 'timeout after 10 s' }],
  ])('is what it is without one while the history %s', async (_, history) => {
    const world = new ForecastWorld(RAISE);
    world.history = history;
    await world.minutes(6);

    expect(world.cluster.specReplicas).toBe(5);
  });

  it('changes nothing with mode Observe', async () => {
    const world = new ForecastWorld({ forecast: { lead: '120s' } });
    const { record } = await world.minutes(6);

    expect(world.cluster.specReplicas).toBe(5);
    expect(record.decision?.forecast).toMatchObject({ replicas: 9, isUsed: false });
  });

  it('asks with the time in which its pods became ready, or with that of the document', async () => {
    const learned = new ForecastWorld({ forecast: {} });
    await learned.next();
    const written = new ForecastWorld({ forecast: {}, podStart: { seconds: 90 } });
    await written.next();

    expect(learned.asked[0]?.podStartSeconds).toBe(42);
    expect(written.asked[0]?.podStartSeconds).toBe(90);
  });

  it('has the time in which pods start in the snapshot only with podStart', async () => {
    const world = new ForecastWorld({ forecast: {} });
    const { record } = await world.next();

    expect(world.memory.podStarts?.size).toBe(1);
    expect(record.snapshot).not.toHaveProperty('podStartSeconds');
  });

  it('asks for nothing and stores nothing without a forecast', async () => {
    const world = new ForecastWorld();
    const { record } = await world.minutes(6);

    expect(world.asked).toEqual([]);
    expect(world.memory.podStarts).toBeUndefined();
    expect(world.memory.state).not.toHaveProperty('forecast');
    expect(JSON.stringify(record.snapshot && snapshotToJson(record.snapshot))).not.toMatch(
      /forecast|loadHistory/,
    );
    expect(record.decision).not.toHaveProperty('forecast');
  });
});
