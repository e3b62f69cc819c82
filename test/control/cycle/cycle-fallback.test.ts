import { describe, expect, it } from '@jest/globals';
import { readEntry } from '../../../src/kubernetes/state/state-entry.js';
import { answersFrom, at, buildScaler, World } from '../world.js';

const FALLBACK = { fallback: { afterSeconds: 180, replicas: 8 } };
const NO_SERIES = answersFrom([{ class: 'missing', message: 'no series' }]);

/** A world whose metric has a value, with stored state. */
function storedWorld(spec: Readonly<Record<string, unknown>>): World {
  const world = new World(spec);
  world.restart();
  return world;
}

async function cycles(world: World, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    await world.nextCycle();
    await world.clock.advanceAndSettle(0);
  }
}

describe('a fallback of 180 s across a restart', () => {
  it.each([
    [179, 5],
    [180, 8],
  ])('applies its count %i s after the metric failed: %i replicas', async (seconds, replicas) => {
    const world = storedWorld(FALLBACK);
    await world.cycle();
    world.answers = NO_SERIES;
    await world.nextCycle();
    await world.clock.advanceAndSettle(5000);
    world.restart();
    world.clock.advance((seconds - 5) * 1000);

    const { record } = await world.cycle();

    expect(record.decision?.desiredReplicas).toBe(replicas);
  });

  it('goes on after an edit of the query, and starts again for a renamed metric', async () => {
    const metric = (name: string, query: string) => ({
      ...FALLBACK,
      metrics: [{ external: { metric: { name }, query, target: { averageValue: 10 } } }],
    });
    const world = new World(FALLBACK);
    world.answers = NO_SERIES;
    await world.cycle();
    world.clock.advance(165_000);
    world.scaler = buildScaler(metric('load', 'sum(other)'));
    const edited = await world.nextCycle();
    world.scaler = buildScaler(metric('renamed', 'sum(other)'));
    const renamed = await world.nextCycle();

    expect(edited.record.decision?.metrics[0]?.fallback?.replicas).toBe(8);
    expect(renamed.record.decision?.metrics[0]?.error).toBe('no series');
  });

  it('restarts if the metric had a value in between, 5 s or more before the restart', async () => {
    const world = storedWorld(FALLBACK);
    world.answers = NO_SERIES;
    await world.cycle();
    await world.clock.advanceAndSettle(5000);
    world.answers = null;
    await world.nextCycle();
    await world.clock.advanceAndSettle(5000);
    world.restart();
    world.answers = NO_SERIES;
    world.clock.advance(300_000);

    const { memory } = await world.cycle();

    expect(memory.state.failingSince).toEqual(new Map([['External/load', world.clock.now()]]));
  });

  it('costs one write when the metric fails and one when it recovers, none in between', async () => {
    const world = storedWorld(FALLBACK);
    await cycles(world, 3);
    world.answers = NO_SERIES;
    await cycles(world, 10);
    const whileFailing = world.maps.count('PATCH');
    const entry = readEntry(world.maps.entries['shop.web'] ?? '');
    world.answers = null;
    await cycles(world, 10);

    expect(whileFailing).toBe(1);
    expect(entry).toMatchObject({ failingSince: new Map([['External/load', at(60)]]) });
    expect(world.maps.count('PATCH')).toBe(2);
  });

  it('costs no write without a fallback', async () => {
    const world = storedWorld({});
    world.answers = NO_SERIES;
    await cycles(world, 10);

    expect(world.maps.count('PATCH')).toBe(0);
  });
});
