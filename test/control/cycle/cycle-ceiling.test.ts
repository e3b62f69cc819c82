import { describe, expect, it } from '@jest/globals';
import { readEntry } from '../../../src/kubernetes/state/state-entry.js';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import { answerOf, answersFrom, World } from '../world.js';

const CEILING = { maxReplicasFrom: { query: 'sum(free_gpus)' } };
const AWAY: Answer = { class: 'failed', reason: 'timeout', message: 'timeout after 5 s' };
const MISSING: Answer = { class: 'missing', message: 'no series' };

/** A world with 5 replicas whose metric asks for 12. */
function busyWorld(spec: object = CEILING): World {
  const world = new World({ ...spec, scaleUpLimitFactor: 10 });
  world.load = 120;
  return world;
}

async function wantedWith(world: World, ceiling: Answer): Promise<number | undefined> {
  const answers = { ...answersFrom([answerOf(world.load, world.clock.now())]), ceiling };
  const { record } = await world.nextCycle({ answers });
  return record.decision?.desiredReplicas;
}

describe('a cycle with maxReplicasFrom', () => {
  it('scales up to the answer of its query, rounded down', async () => {
    const world = busyWorld();

    expect(await wantedWith(world, answerOf(8.9, world.clock.now()))).toBe(8);
    expect(world.cluster.specReplicas).toBe(8);
  });

  it.each([
    ['fails', AWAY],
    ['has no series', MISSING],
    ['is partial', { ...answerOf(1, 0 as never), class: 'partial', why: 'warnings' } as Answer],
  ])('keeps the last answer if the query %s', async (_, answer) => {
    const world = busyWorld();
    world.dryRun = true;
    await wantedWith(world, answerOf(8, world.clock.now()));

    expect(await wantedWith(world, answer)).toBe(8);
    expect(world.memory.state.maxReplicasFrom).toBe(8);
  });

  it('is limited by maxReplicas alone while the query has never had an answer', async () => {
    expect(await wantedWith(busyWorld(), AWAY)).toBe(12);
  });
});

describe('the last value of maxReplicasFrom', () => {
  function storedWorld(): World {
    const world = busyWorld();
    world.restart();
    return world;
  }

  it('survives a restart during which its query fails', async () => {
    const world = storedWorld();
    await wantedWith(world, answerOf(8, world.clock.now()));
    await world.clock.advanceAndSettle(5000);
    expect(readEntry(world.maps.entries['shop.web'] ?? '')).toMatchObject({ maxReplicasFrom: 8 });
    world.restart();

    expect(await wantedWith(world, AWAY)).toBe(8);
  });

  it('is written when it changes, not in each cycle', async () => {
    const world = storedWorld();
    world.load = 50;
    for (const value of [8, 8, 8, 9, 9]) {
      await wantedWith(world, answerOf(value, world.clock.now()));
      await world.clock.advanceAndSettle(5000);
    }

    expect(world.maps.count('PATCH')).toBe(2);
  });
});
