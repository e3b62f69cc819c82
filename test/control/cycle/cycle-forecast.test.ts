import { describe, expect, it } from '@jest/globals';
import { snapshotToJson } from '../../../src/decision/result/write-json.js';
import type { LoadHistory } from '../../../src/decision/snapshot/snapshot.js';

import type { HistoryOrder } from '../../../src/prometheus/queries/follow-ups.js';
import { formatRecordLine, parseRecordLine, replayLine } from '../../../src/recording/record-line.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { SCALER_SERIES } from '../../../src/telemetry/scaler-series.js';
import { addSeconds, instantFromMs } from '../../../src/units/time.js';
import { kubernetesEvents } from '../../../src/control/cycle/kubernetes-events.js';
import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import { readEntry } from '../../../src/kubernetes/state/state-entry.js';
import { aPod } from '../../support/builders.js';
import { answerOf, answersFrom, Fixture } from '../fixture.js';

const RAISE = { forecast: { mode: 'Raise', lead: '120s', budgetPercent: 100 } };

/** A fixture in which the load of earlier days rose to `load` within the lead. */
class ForecastFixture extends Fixture {
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
    const fixture = new ForecastFixture(RAISE);
    const { record } = await fixture.minutes(6);

    expect(record.snapshot?.loadHistory).toBe(fixture.history);
    expect(fixture.cluster.specReplicas).toBe(9);
    expect(record.decision?.forecast).toMatchObject({ replicas: 9, isUsed: true, reactive: 5 });
  });

  it.each<[string, LoadHistory | undefined]>([
    ['was not read yet', undefined],
    ['cannot be read', { leadSeconds: 120, highest: 0, seasons: [], unusable: 'timeout after 10 s' }],
  ])('is what it is without one while the history %s', async (_, history) => {
    const fixture = new ForecastFixture(RAISE);
    fixture.history = history;
    await fixture.minutes(6);

    expect(fixture.cluster.specReplicas).toBe(5);
  });

  it('changes nothing with mode Observe', async () => {
    const fixture = new ForecastFixture({ forecast: { lead: '120s' } });
    const { record } = await fixture.minutes(6);

    expect(fixture.cluster.specReplicas).toBe(5);
    expect(record.decision?.forecast).toMatchObject({ replicas: 9, isUsed: false });
  });

  it('asks with the time in which its pods became ready, or with that of the document', async () => {
    const learned = new ForecastFixture({ forecast: {} });
    await learned.next();
    const written = new ForecastFixture({ forecast: {}, podStart: { seconds: 90 } });
    await written.next();

    expect(learned.asked[0]?.podStartSeconds).toBe(42);
    expect(written.asked[0]?.podStartSeconds).toBe(90);
  });

  it('has the time in which pods start in the snapshot only with podStart', async () => {
    const fixture = new ForecastFixture({ forecast: {} });
    const { record } = await fixture.next();

    expect(fixture.memory.podStarts?.size).toBe(1);
    expect(record.snapshot).not.toHaveProperty('podStartSeconds');
  });

  it('asks for nothing and stores nothing without a forecast', async () => {
    const fixture = new ForecastFixture();
    const { record } = await fixture.minutes(6);

    expect(fixture.asked).toEqual([]);
    expect(fixture.memory.podStarts).toBeUndefined();
    expect(fixture.memory.state).not.toHaveProperty('forecast');
    expect(JSON.stringify(record.snapshot && snapshotToJson(record.snapshot))).not.toMatch(
      /forecast|loadHistory/,
    );
    expect(record.decision).not.toHaveProperty('forecast');
  });
});

describe('the count without a forecast', () => {
  const reactiveOf = (fixture: Fixture) => fixture.memory.state.forecast?.reactive.replicas;

  it('is lower than the count while the forecast is used, and its cost is spent', async () => {
    const fixture = new ForecastFixture(RAISE);
    await fixture.minutes(8);

    expect([fixture.cluster.specReplicas, reactiveOf(fixture)]).toEqual([9, 5]);
    expect(fixture.memory.state.forecast?.spent.at(-1)?.added).toBeGreaterThan(0);
  });

  it('is that of the target in a dry run, where nothing is applied', async () => {
    const fixture = new ForecastFixture(RAISE);
    fixture.dryRun = true;
    fixture.load = 120;
    await fixture.minutes(8);

    expect([fixture.cluster.specReplicas, reactiveOf(fixture)]).toEqual([5, 5]);
    expect(fixture.memory.state.forecast?.spent.at(-1)?.added).toBe(0);
  });

  it('is that of the target while the API server refuses its PATCHes', async () => {
    const fixture = new ForecastFixture(RAISE);
    for (let failures = 0; failures < 40; failures += 1)
      fixture.cluster.patchScripts.push(() => {
        throw new KubernetesError('forbidden', 'no');
      });
    fixture.load = 120;
    await fixture.minutes(6);

    expect(reactiveOf(fixture)).toBe(fixture.cluster.specReplicas);
  });

  it('follows another client that sets the count', async () => {
    const fixture = new ForecastFixture(RAISE);
    fixture.history = undefined;
    await fixture.minutes(2);
    fixture.cluster.specReplicas = 18;
    const { record } = await fixture.next();

    expect(record.snapshot?.state.forecast?.reactive.replicas).toBe(18);
  });
});

describe('the stored state of a forecast', () => {
  function storedFixture(): ForecastFixture {
    const fixture = new ForecastFixture(RAISE);
    fixture.restart();
    return fixture;
  }

  const run = async (fixture: ForecastFixture, minutes: number): Promise<void> => {
    for (let cycle = 0; cycle < 4 * minutes; cycle += 1) {
      await fixture.next();
      await fixture.clock.advanceAndSettle(0);
    }
  };

  it('is written at most each quarter of an hour', async () => {
    const fixture = storedFixture();
    await run(fixture, 10);
    const before = fixture.maps.count('PATCH');
    await run(fixture, 120);

    expect(fixture.maps.count('PATCH') - before).toBeLessThanOrEqual(8);
    expect(readEntry(fixture.maps.entries['shop.web'] ?? '')).toMatchObject({
      forecast: { reactive: { replicas: 5 } },
    });
  });

  it('keeps what was spent over a restart, up to the last quarter of an hour', async () => {
    const fixture = storedFixture();
    await run(fixture, 60);
    const before = fixture.memory.state.forecast?.spent.at(-1)?.added ?? 0;
    fixture.restart();
    await run(fixture, 1);
    const after = fixture.memory.state.forecast?.spent.at(-1)?.added ?? 0;

    expect(before).toBeGreaterThan(0);
    expect(after).toBeGreaterThan((before * 44) / 60);
    expect(fixture.memory.state.forecast?.reactive.replicas).toBe(5);
    // It was raised all the time and counts for an hour.
    expect(fixture.memory.state.forecast?.raises[0]?.added).toBeGreaterThan((before * 44) / 60);
  });

  it('is not written without a forecast', async () => {
    const fixture = storedFixture();
    fixture.scaler = new ForecastFixture().scaler;
    await run(fixture, 60);

    expect(fixture.maps.entries['shop.web'] ?? '').not.toContain('forecast');
    expect(fixture.maps.count('PATCH')).toBeLessThanOrEqual(1);
  });
});

describe('the record of a forecast', () => {
  it('is replayed without a difference, and with the same numbers from its JSON', async () => {
    const fixture = new ForecastFixture(RAISE);
    const kinds = new Set<string>();
    for (let cycle = 0; cycle < 40; cycle += 1) {
      const { record } = await fixture.next();
      const line = parseRecordLine(formatRecordLine(record, '1.2.3'));
      kinds.add('error' in line ? line.error : JSON.stringify(replayLine(line, '1.2.3')));
    }

    expect([...kinds]).toEqual(['{"kind":"same","wording":[]}']);
  });

  it('has the series of the forecast; without one, there are none', async () => {
    const seriesOf = async (
      fixture: ForecastFixture,
    ): Promise<Readonly<Record<string, readonly number[]>>> => {
      const { after } = createLedger().add((await fixture.minutes(8)).record);
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

    expect(await seriesOf(new ForecastFixture(RAISE))).toMatchObject({
      forecastReplicas: [9],
      reactiveReplicas: [5],
      forecastSpent: [expect.any(Number)],
      forecastShort: [expect.any(Number)],
      forecastPrevented: [expect.any(Number)],
    });
    const without = await seriesOf(new ForecastFixture());
    expect(Object.values(without).flat()).toEqual([]);
  });

  it('says once, as an Event, that a forecast that only observes is worth its cost', async () => {
    const fixture = new ForecastFixture({ forecast: { lead: '120s' } });
    await fixture.minutes(1);
    const part = (index: number) => ({
      from: addSeconds(instantFromMs(0), Math.floor(fixture.clock.now() / 21_600_000 - index) * 21_600),
      reactive: 1e6,
      added: 1e4,
      short: 900,
      prevented: 600,
    });
    const { forecast } = fixture.memory.state;
    if (forecast === undefined) throw new Error('the state has a forecast');
    const before = await fixture.next();
    const spent = Array.from({ length: 12 }, (_, index) => part(11 - index));
    fixture.memory = {
      ...fixture.memory,
      state: { ...fixture.memory.state, forecast: { ...forecast, spent } },
    };
    const records = [(await fixture.next()).record, (await fixture.next()).record];
    const events = [before.record, ...records].map((record, index, all) =>
      kubernetesEvents(all[index - 1] ?? null, record).map(({ reason }) => reason),
    );

    expect(events).toEqual([[], ['WorthRaising'], []]);
    expect(records[1]?.conditions).toEqual(records[0]?.conditions);
    expect(records[0]?.conditions.at(-1)).toMatchObject({ type: 'ForecastUseful', status: 'True' });
    expect(records[0]?.conditions.at(-1)).toBe(records[1]?.conditions.at(-1));
  });
});
