import { describe, expect, it } from '@jest/globals';
import { snapshotToJson } from '../../../src/decision/result/write-json.js';
import type { LoadHistory } from '../../../src/decision/snapshot/snapshot.js';
import type { HistoryOrder } from '../../../src/prometheus/queries/round.js';
import { formatRecordLine, parseRecordLine } from '../../../src/recording/record-line.js';
import { replayLine } from '../../../src/recording/replay-line.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { SCALER_SERIES } from '../../../src/telemetry/scaler-series.js';
import { addSeconds, instantFromMs } from '../../../src/units/time.js';
import { kubernetesEvents } from '../../../src/control/cycle/report.js';
import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import { readEntry } from '../../../src/kubernetes/state/state-entry.js';
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

describe('the count without a forecast', () => {
  const reactiveOf = (world: World) => world.memory.state.forecast?.reactive.replicas;

  it('is lower than the count while the forecast is used, and its cost is spent', async () => {
    const world = new ForecastWorld(RAISE);
    await world.minutes(8);

    expect([world.cluster.specReplicas, reactiveOf(world)]).toEqual([9, 5]);
    expect(world.memory.state.forecast?.spent.at(-1)?.added).toBeGreaterThan(0);
  });

  it('is that of the target in a dry run, where nothing is carried out', async () => {
    const world = new ForecastWorld(RAISE);
    world.dryRun = true;
    world.load = 120;
    await world.minutes(8);

    expect([world.cluster.specReplicas, reactiveOf(world)]).toEqual([5, 5]);
    expect(world.memory.state.forecast?.spent.at(-1)?.added).toBe(0);
  });

  it('is that of the target while the API server refuses its PATCHes', async () => {
    const world = new ForecastWorld(RAISE);
    for (let failures = 0; failures < 40; failures += 1)
      world.cluster.patchScripts.push(() => {
        throw new KubernetesError('forbidden', 'no');
      });
    world.load = 120;
    await world.minutes(6);

    expect(reactiveOf(world)).toBe(world.cluster.specReplicas);
  });

  it('follows another client that sets the count', async () => {
    const world = new ForecastWorld(RAISE);
    world.history = undefined;
    await world.minutes(2);
    world.cluster.specReplicas = 18;
    const { record } = await world.next();

    expect(record.snapshot?.state.forecast?.reactive.replicas).toBe(18);
  });
});

describe('the stored state of a forecast', () => {
  function storedWorld(): ForecastWorld {
    const world = new ForecastWorld(RAISE);
    world.restart();
    return world;
  }

  const run = async (world: ForecastWorld, minutes: number): Promise<void> => {
    for (let cycle = 0; cycle < 4 * minutes; cycle += 1) {
      await world.next();
      await world.clock.advanceAndSettle(0);
    }
  };

  it('is written at most each quarter of an hour', async () => {
    const world = storedWorld();
    await run(world, 10);
    const before = world.maps.count('PATCH');
    await run(world, 120);

    expect(world.maps.count('PATCH') - before).toBeLessThanOrEqual(8);
    expect(readEntry(world.maps.entries['shop.web'] ?? '')).toMatchObject({
      forecast: { reactive: { replicas: 5 } },
    });
  });

  it('keeps what was spent over a restart, up to the last quarter of an hour', async () => {
    const world = storedWorld();
    await run(world, 60);
    const before = world.memory.state.forecast?.spent.at(-1)?.added ?? 0;
    world.restart();
    await run(world, 1);
    const after = world.memory.state.forecast?.spent.at(-1)?.added ?? 0;

    expect(before).toBeGreaterThan(0);
    expect(after).toBeGreaterThan((before * 44) / 60);
    expect(world.memory.state.forecast?.reactive.replicas).toBe(5);
    // It was raised all the time, which counts for an hour.
    expect(world.memory.state.forecast?.raises[0]?.added).toBeGreaterThan((before * 44) / 60);
  });

  it('is not written without a forecast', async () => {
    const world = storedWorld();
    world.scaler = new ForecastWorld().scaler;
    await run(world, 60);

    expect(world.maps.entries['shop.web'] ?? '').not.toContain('forecast');
    expect(world.maps.count('PATCH')).toBeLessThanOrEqual(1);
  });
});

describe('the record of a forecast', () => {
  it('is replayed without a difference, and with the same numbers from its JSON', async () => {
    const world = new ForecastWorld(RAISE);
    const kinds = new Set<string>();
    for (let cycle = 0; cycle < 40; cycle += 1) {
      const { record } = await world.next();
      const line = parseRecordLine(formatRecordLine(record, '1.2.3'));
      kinds.add('error' in line ? line.error : JSON.stringify(replayLine(line, '1.2.3')));
    }

    expect([...kinds]).toEqual(['{"kind":"same","wording":[]}']);
  });

  it('has the series of the forecast; without one, there are none', async () => {
    const seriesOf = async (world: ForecastWorld): Promise<Readonly<Record<string, readonly number[]>>> => {
      const { after } = createLedger().add((await world.minutes(8)).record);
      const keys = [
        'forecastReplicas',
        'reactiveReplicas',
        'forecastSpent',
        'forecastShort',
        'forecastPrevented',
      ] as const;
      return Object.fromEntries(
        keys.map((key) => {
          const values: number[] = [];
          SCALER_SERIES[key](after, (_, value) => values.push(value));
          return [key, values];
        }),
      );
    };

    expect(await seriesOf(new ForecastWorld(RAISE))).toMatchObject({
      forecastReplicas: [9],
      reactiveReplicas: [5],
      forecastSpent: [expect.any(Number)],
      forecastShort: [expect.any(Number)],
      forecastPrevented: [expect.any(Number)],
    });
    const without = await seriesOf(new ForecastWorld());
    expect(Object.values(without).flat()).toEqual([]);
  });

  it('says once, as an Event, that a forecast that only observes is worth its cost', async () => {
    const world = new ForecastWorld({ forecast: { lead: '120s' } });
    await world.minutes(1);
    const part = (index: number) => ({
      from: addSeconds(instantFromMs(0), Math.floor(world.clock.now() / 21_600_000 - index) * 21_600),
      reactive: 1e6,
      added: 1e4,
      short: 900,
      prevented: 600,
    });
    const { forecast } = world.memory.state;
    if (forecast === undefined) throw new Error('the state has a forecast');
    const before = await world.next();
    const spent = Array.from({ length: 12 }, (_, index) => part(11 - index));
    world.memory = { ...world.memory, state: { ...world.memory.state, forecast: { ...forecast, spent } } };
    const records = [(await world.next()).record, (await world.next()).record];
    const events = [before.record, ...records].map((record, index, all) =>
      kubernetesEvents(all[index - 1] ?? null, record).map(({ reason }) => reason),
    );

    expect(events).toEqual([[], ['WorthRaising'], []]);
    expect(records[1]?.conditions).toEqual(records[0]?.conditions);
    expect(records[0]?.conditions.at(-1)).toMatchObject({ type: 'ForecastUseful', status: 'True' });
    expect(records[0]?.conditions.at(-1)).toBe(records[1]?.conditions.at(-1));
  });
});
