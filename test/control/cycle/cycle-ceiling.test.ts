import { describe, expect, it } from '@jest/globals';
import { readEntry } from '../../../src/kubernetes/state/state-entry.js';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import { answerOf, answersFrom, Fixture } from '../fixture.js';

const CEILING = { maxReplicasFrom: { query: 'sum(free_gpus)' } };
const AWAY: Answer = { class: 'failed', reason: 'timeout', message: 'timeout after 5 s' };
const MISSING: Answer = { class: 'missing', message: 'no series' };

/** A fixture with 5 replicas whose metric asks for 12. */
function busyFixture(spec: object = CEILING): Fixture {
  const fixture = new Fixture({ ...spec, scaleUpLimitFactor: 10 });
  fixture.load = 120;
  return fixture;
}

async function wantedWith(fixture: Fixture, ceiling: Answer): Promise<number | undefined> {
  const answers = { ...answersFrom([answerOf(fixture.load, fixture.clock.now())]), ceiling };
  const { record } = await fixture.nextCycle({ answers });
  return record.decision?.desiredReplicas;
}

describe('a cycle with maxReplicasFrom', () => {
  it('scales up to the answer of its query, rounded down', async () => {
    const fixture = busyFixture();

    expect(await wantedWith(fixture, answerOf(8.9, fixture.clock.now()))).toBe(8);
    expect(fixture.cluster.specReplicas).toBe(8);
  });

  it.each([
    ['fails', AWAY],
    ['has no series', MISSING],
    ['is partial', { ...answerOf(1, 0 as never), class: 'partial', why: 'warnings' } as Answer],
  ])('keeps the last answer if the query %s', async (_, answer) => {
    const fixture = busyFixture();
    fixture.dryRun = true;
    await wantedWith(fixture, answerOf(8, fixture.clock.now()));

    expect(await wantedWith(fixture, answer)).toBe(8);
    expect(fixture.memory.state.maxReplicasFrom).toBe(8);
  });

  it('is limited by maxReplicas alone while the query has never had an answer', async () => {
    expect(await wantedWith(busyFixture(), AWAY)).toBe(12);
  });
});

describe('the last value of maxReplicasFrom', () => {
  function storedFixture(): Fixture {
    const fixture = busyFixture();
    fixture.restart();
    return fixture;
  }

  it('survives a restart during which its query fails', async () => {
    const fixture = storedFixture();
    await wantedWith(fixture, answerOf(8, fixture.clock.now()));
    await fixture.clock.advanceAndSettle(5000);
    expect(readEntry(fixture.maps.entries['shop.web'] ?? '')).toMatchObject({ maxReplicasFrom: 8 });
    fixture.restart();

    expect(await wantedWith(fixture, AWAY)).toBe(8);
  });

  it('is written when it changes, not in each cycle', async () => {
    const fixture = storedFixture();
    fixture.load = 50;
    for (const value of [8, 8, 8, 9, 9]) {
      await wantedWith(fixture, answerOf(value, fixture.clock.now()));
      await fixture.clock.advanceAndSettle(5000);
    }

    expect(fixture.maps.count('PATCH')).toBe(2);
  });
});
