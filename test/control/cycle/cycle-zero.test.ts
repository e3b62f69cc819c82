import { describe, expect, it } from '@jest/globals';
import { UNKNOWN_AGE } from '../../../src/prometheus/source/age.js';
import type { Memory } from '../../../src/control/memory/memory.js';
import { failure } from '../fake-cluster.js';
import { at, buildScaler, settledMemory, World, SECOND_SCALER } from '../world.js';

/** A world with a minimum of 0, at 5 replicas, without load. */
function idleWorld(spec: Readonly<Record<string, unknown>> = {}): World {
  const world = new World({ minReplicas: 0, ...spec });
  world.load = 0;
  return world;
}

function annotate(world: World, annotations: Readonly<Record<string, string>>): void {
  world.cluster.annotations = Object.fromEntries(
    Object.entries(annotations).map(([name, value]) => [`promscaler.dev/${name}`, value]),
  );
}

/** Returns the next count if the document's minimum becomes 2: only promscaler's own 0 changes. */
async function countUnderMinimum(world: World): Promise<number> {
  world.scaler = buildScaler({ minReplicas: 2 });
  annotate(world, {});
  world.load = 0;
  await world.nextCycle();
  return world.cluster.specReplicas;
}

const isOurs = ({ state }: Memory): boolean => state.zeroedBySelf;

describe('a 0 of promscaler', () => {
  it('stays its own, and ends with a minimum of 2', async () => {
    const world = idleWorld();

    const first = await world.cycle();
    const second = await world.nextCycle();

    expect(first.record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 0 });
    expect([first.memory, second.memory].map(isOurs)).toEqual([true, true]);
    expect(await countUnderMinimum(world)).toBe(2);
  });

  it('is its own after a restart', async () => {
    const world = idleWorld();
    world.restart();
    world.memory = settledMemory();
    await world.cycle();
    await world.clock.advanceAndSettle(60_000);
    world.restart();

    expect(isOurs((await world.nextCycle()).memory)).toBe(true);
    expect(await countUnderMinimum(world)).toBe(2);
  });

  it('is its own if the answer of its PATCH was lost', async () => {
    const world = idleWorld();
    world.cluster.patchScripts.push((apply) => {
      apply();
      throw failure('timeout');
    });
    await world.cycle();

    expect(isOurs((await world.nextCycle()).memory)).toBe(true);
  });

  it('is no longer its own after another client has set 5 and then 0', async () => {
    const world = idleWorld();
    await world.cycle();
    world.cluster.setReplicas(5);
    world.load = 50;
    await world.nextCycle();
    world.cluster.setReplicas(0);
    world.load = 0;

    expect(isOurs((await world.nextCycle()).memory)).toBe(false);
    expect(await countUnderMinimum(world)).toBe(0);
  });

  it.each([
    ['a pause of scale-down', { paused: 'scale-down' }],
    ['a dry run', { dryRun: true }],
  ])(
    'is no longer its own after another client has set 5, %s prevented a scale-down, and then 0',
    async (_, spec) => {
      const world = idleWorld();
      await world.cycle();
      world.cluster.setReplicas(5);
      world.scaler = buildScaler({ minReplicas: 0, ...spec });
      await world.nextCycle();
      world.cluster.setReplicas(0);

      expect(isOurs((await world.nextCycle()).memory)).toBe(false);
      expect(await countUnderMinimum(world)).toBe(0);
    },
  );
});

describe('a 0 of another client', () => {
  it('stays that of the client, although promscaler wants 0, too', async () => {
    const world = idleWorld();
    world.cluster.setReplicas(0);

    const { memory, record } = await world.cycle();

    expect(record.decision).toMatchObject({ desiredReplicas: 0, recommendedReplicas: 0 });
    expect(isOurs(memory)).toBe(false);
    expect(await countUnderMinimum(world)).toBe(0);
  });

  it('ends as soon as a metric needs replicas with a minimum of 0', async () => {
    const world = idleWorld();
    world.cluster.setReplicas(0);
    world.load = 30;

    expect((await world.cycle()).record.outcome).toMatchObject({ kind: 'patched', from: 0, to: 3 });
  });

  it('between decision and PATCH stays that of the client', async () => {
    const world = idleWorld();
    world.load = 80;
    world.cluster.beforeReads.push(() => {
      world.cluster.setReplicas(0);
      world.load = 0;
    });
    world.scaler = buildScaler({ minReplicas: 2 });

    const { memory, record } = await world.cycle();

    expect(record.decision).toMatchObject({ currentReplicas: 0, desiredReplicas: 0 });
    expect(isOurs(memory)).toBe(false);
  });

  it('during a PATCH from 5 to 3 stays that of the client', async () => {
    const world = idleWorld();
    world.load = 30;
    world.memory = settledMemory({ zeroedBySelf: true });
    world.cluster.patchScripts.push(() => {
      throw failure('timeout');
    });
    await world.cycle();
    world.cluster.setReplicas(0);
    world.load = 0;
    world.clock.advance(60_000);

    expect(isOurs((await world.cycle()).memory)).toBe(false);
  });

  it("set by an admission webhook instead of 3 is not promscaler's own", async () => {
    const world = idleWorld();
    world.load = 30;
    world.cluster.patchScripts.push((apply) => {
      const scale = apply();
      world.cluster.specReplicas = 0;
      return { ...scale, specReplicas: 0 };
    });

    expect(isOurs((await world.cycle()).memory)).toBe(false);
  });
});

describe('paused-replicas of 0', () => {
  it("makes a 0 promscaler's own, also an existing one: resuming must wake it up", async () => {
    const world = idleWorld();
    world.cluster.setReplicas(0);
    annotate(world, { 'paused-replicas': '0' });

    expect(isOurs((await world.cycle()).memory)).toBe(true);
    expect(await countUnderMinimum(world)).toBe(2);
  });

  it.each([
    ['in a dry run', { dryRun: true }, {}],
    ['next to another autoscaler', {}, { sharesTargetWith: SECOND_SCALER }],
  ])("makes no 0 promscaler's own %s, where it is not applied", async (_, spec, input) => {
    const world = idleWorld(spec);
    world.cluster.setReplicas(0);
    annotate(world, { 'paused-replicas': '0' });

    expect(isOurs((await world.cycle(input)).memory)).toBe(false);
    expect(await countUnderMinimum(world)).toBe(0);
  });
});

describe('a workload that wakes up', () => {
  it('waits for its fallback from then on: not 20 at once, but after 60 s', async () => {
    const world = new World({
      minReplicas: 0,
      scaleUpLimitMinimum: 20,
      fallback: { afterSeconds: 60, replicas: 20 },
    });
    world.cluster.setReplicas(0);
    world.answers = { of: () => Promise.resolve([NO_SERIES]), ageOf: () => Promise.resolve(UNKNOWN_AGE) };
    for (let count = 0; count < 10; count += 1) await world.nextCycle();
    expect(world.cluster.specReplicas).toBe(0);
    world.cluster.setReplicas(2);

    const counts: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      await world.nextCycle();
      counts.push(world.cluster.specReplicas);
    }

    expect(counts).toEqual([2, 2, 2, 2, 20]);
    expect(world.memory.state.failingSince.get('External/load')).toBe(at(15 * 11));
  });
});

const NO_SERIES = { class: 'missing', message: 'the query returned no series' } as const;
