import { describe, expect, it } from '@jest/globals';
import { UNKNOWN_AGE } from '../../../src/prometheus/source/age.js';
import type { Memory } from '../../../src/control/memory/memory.js';
import { failure } from '../fake-cluster.js';
import { at, buildScaler, settledMemory, Fixture, SECOND_SCALER } from '../fixture.js';

/** A fixture with a minimum of 0, at 5 replicas, without load. */
function idleFixture(spec: Readonly<Record<string, unknown>> = {}): Fixture {
  const fixture = new Fixture({ minReplicas: 0, ...spec });
  fixture.load = 0;
  return fixture;
}

/** Returns the next count if the document's minimum becomes 2: only promscaler's own 0 changes. */
async function countUnderMinimum(fixture: Fixture): Promise<number> {
  fixture.scaler = buildScaler({ minReplicas: 2 });
  fixture.annotate({});
  fixture.load = 0;
  await fixture.nextCycle();
  return fixture.cluster.specReplicas;
}

const isOurs = ({ state }: Memory): boolean => state.zeroedBySelf;

describe('a 0 of promscaler', () => {
  it('stays its own, and ends with a minimum of 2', async () => {
    const fixture = idleFixture();

    const first = await fixture.cycle();
    const second = await fixture.nextCycle();

    expect(first.record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 0 });
    expect([first.memory, second.memory].map(isOurs)).toEqual([true, true]);
    expect(await countUnderMinimum(fixture)).toBe(2);
  });

  it('is its own after a restart', async () => {
    const fixture = idleFixture();
    fixture.restart();
    fixture.memory = settledMemory();
    await fixture.cycle();
    await fixture.clock.advanceAndSettle(60_000);
    fixture.restart();

    expect(isOurs((await fixture.nextCycle()).memory)).toBe(true);
    expect(await countUnderMinimum(fixture)).toBe(2);
  });

  it('is its own if the answer of its PATCH was lost', async () => {
    const fixture = idleFixture();
    fixture.cluster.patchScripts.push((apply) => {
      apply();
      throw failure('timeout');
    });
    await fixture.cycle();

    expect(isOurs((await fixture.nextCycle()).memory)).toBe(true);
  });

  it('is no longer its own after another client has set 5 and then 0', async () => {
    const fixture = idleFixture();
    await fixture.cycle();
    fixture.cluster.setReplicas(5);
    fixture.load = 50;
    await fixture.nextCycle();
    fixture.cluster.setReplicas(0);
    fixture.load = 0;

    expect(isOurs((await fixture.nextCycle()).memory)).toBe(false);
    expect(await countUnderMinimum(fixture)).toBe(0);
  });

  it.each([
    ['a pause of scale-down', { paused: 'scale-down' }],
    ['a dry run', { dryRun: true }],
  ])(
    'is no longer its own after another client has set 5, %s prevented a scale-down, and then 0',
    async (_, spec) => {
      const fixture = idleFixture();
      await fixture.cycle();
      fixture.cluster.setReplicas(5);
      fixture.scaler = buildScaler({ minReplicas: 0, ...spec });
      await fixture.nextCycle();
      fixture.cluster.setReplicas(0);

      expect(isOurs((await fixture.nextCycle()).memory)).toBe(false);
      expect(await countUnderMinimum(fixture)).toBe(0);
    },
  );
});

describe('a 0 of another client', () => {
  it('stays that of the client, although promscaler wants 0, too', async () => {
    const fixture = idleFixture();
    fixture.cluster.setReplicas(0);

    const { memory, record } = await fixture.cycle();

    expect(record.decision).toMatchObject({ desiredReplicas: 0, recommendedReplicas: 0 });
    expect(isOurs(memory)).toBe(false);
    expect(await countUnderMinimum(fixture)).toBe(0);
  });

  it('ends as soon as a metric needs replicas with a minimum of 0', async () => {
    const fixture = idleFixture();
    fixture.cluster.setReplicas(0);
    fixture.load = 30;

    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', from: 0, to: 3 });
  });

  it('between decision and PATCH stays that of the client', async () => {
    const fixture = idleFixture();
    fixture.load = 80;
    fixture.cluster.beforeReads.push(() => {
      fixture.cluster.setReplicas(0);
      fixture.load = 0;
    });
    fixture.scaler = buildScaler({ minReplicas: 2 });

    const { memory, record } = await fixture.cycle();

    expect(record.decision).toMatchObject({ currentReplicas: 0, desiredReplicas: 0 });
    expect(isOurs(memory)).toBe(false);
  });

  it('during a PATCH from 5 to 3 stays that of the client', async () => {
    const fixture = idleFixture();
    fixture.load = 30;
    fixture.memory = settledMemory({ zeroedBySelf: true });
    fixture.cluster.patchScripts.push(() => {
      throw failure('timeout');
    });
    await fixture.cycle();
    fixture.cluster.setReplicas(0);
    fixture.load = 0;
    fixture.clock.advance(60_000);

    expect(isOurs((await fixture.cycle()).memory)).toBe(false);
  });

  it("set by an admission webhook instead of 3 is not promscaler's own", async () => {
    const fixture = idleFixture();
    fixture.load = 30;
    fixture.cluster.patchScripts.push((apply) => {
      const scale = apply();
      fixture.cluster.specReplicas = 0;
      return { ...scale, specReplicas: 0 };
    });

    expect(isOurs((await fixture.cycle()).memory)).toBe(false);
  });
});

describe('paused-replicas of 0', () => {
  it("makes a 0 promscaler's own, also an existing one: resuming must wake it up", async () => {
    const fixture = idleFixture();
    fixture.cluster.setReplicas(0);
    fixture.annotate({ 'paused-replicas': '0' });

    expect(isOurs((await fixture.cycle()).memory)).toBe(true);
    expect(await countUnderMinimum(fixture)).toBe(2);
  });

  it.each([
    ['in a dry run', { dryRun: true }, {}],
    ['next to another autoscaler', {}, { sharesTargetWith: SECOND_SCALER }],
  ])("makes no 0 promscaler's own %s, where it is not applied", async (_, spec, input) => {
    const fixture = idleFixture(spec);
    fixture.cluster.setReplicas(0);
    fixture.annotate({ 'paused-replicas': '0' });

    expect(isOurs((await fixture.cycle(input)).memory)).toBe(false);
    expect(await countUnderMinimum(fixture)).toBe(0);
  });
});

describe('a workload that wakes up', () => {
  it('waits for its fallback from then on: not 20 at once, but after 60 s', async () => {
    const fixture = new Fixture({
      minReplicas: 0,
      scaleUpLimitMinimum: 20,
      fallback: { afterSeconds: 60, replicas: 20 },
    });
    fixture.cluster.setReplicas(0);
    fixture.answers = { of: () => Promise.resolve([NO_SERIES]), ageOf: () => Promise.resolve(UNKNOWN_AGE) };
    for (let count = 0; count < 10; count += 1) await fixture.nextCycle();
    expect(fixture.cluster.specReplicas).toBe(0);
    fixture.cluster.setReplicas(2);

    const counts: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      await fixture.nextCycle();
      counts.push(fixture.cluster.specReplicas);
    }

    expect(counts).toEqual([2, 2, 2, 2, 20]);
    expect(fixture.memory.state.failingSince.get('External/load')).toBe(at(15 * 11));
  });
});

const NO_SERIES = { class: 'missing', message: 'the query returned no series' } as const;
