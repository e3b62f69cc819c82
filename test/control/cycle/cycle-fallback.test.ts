import { describe, expect, it } from '@jest/globals';
import { readEntry } from '../../../src/kubernetes/state/state-entry.js';
import { answersFrom, at, buildScaler, Fixture } from '../fixture.js';

const FALLBACK = { fallback: { afterSeconds: 180, replicas: 8 } };
const NO_SERIES = answersFrom([{ class: 'missing', message: 'no series' }]);

/** A fixture whose metric has a value, with stored state. */
function storedFixture(spec: Readonly<Record<string, unknown>>): Fixture {
  const fixture = new Fixture(spec);
  fixture.restart();
  return fixture;
}

async function cycles(fixture: Fixture, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    await fixture.nextCycle();
    await fixture.clock.advanceAndSettle(0);
  }
}

describe('a fallback of 180 s across a restart', () => {
  it.each([
    [179, 5],
    [180, 8],
  ])('applies its count %i s after the metric failed: %i replicas', async (seconds, replicas) => {
    const fixture = storedFixture(FALLBACK);
    await fixture.cycle();
    fixture.answers = NO_SERIES;
    await fixture.nextCycle();
    await fixture.clock.advanceAndSettle(5000);
    fixture.restart();
    fixture.clock.advance((seconds - 5) * 1000);

    const { record } = await fixture.cycle();

    expect(record.decision?.desiredReplicas).toBe(replicas);
  });

  it('goes on after an edit of the query, and starts again for a renamed metric', async () => {
    const metric = (name: string, query: string) => ({
      ...FALLBACK,
      metrics: [{ external: { metric: { name }, query, target: { averageValue: 10 } } }],
    });
    const fixture = new Fixture(FALLBACK);
    fixture.answers = NO_SERIES;
    await fixture.cycle();
    fixture.clock.advance(165_000);
    fixture.scaler = buildScaler(metric('load', 'sum(other)'));
    const edited = await fixture.nextCycle();
    fixture.scaler = buildScaler(metric('renamed', 'sum(other)'));
    const renamed = await fixture.nextCycle();

    expect(edited.record.decision?.metrics[0]?.fallback?.replicas).toBe(8);
    expect(renamed.record.decision?.metrics[0]?.error?.message).toBe('no series');
  });

  it('restarts if the metric had a value in between, 5 s or more before the restart', async () => {
    const fixture = storedFixture(FALLBACK);
    fixture.answers = NO_SERIES;
    await fixture.cycle();
    await fixture.clock.advanceAndSettle(5000);
    fixture.answers = null;
    await fixture.nextCycle();
    await fixture.clock.advanceAndSettle(5000);
    fixture.restart();
    fixture.answers = NO_SERIES;
    fixture.clock.advance(300_000);

    const { memory } = await fixture.cycle();

    expect(memory.state.failingSince).toEqual(new Map([['External/load', fixture.clock.now()]]));
  });

  it('costs one write when the metric fails and one when it recovers, none in between', async () => {
    const fixture = storedFixture(FALLBACK);
    await cycles(fixture, 3);
    fixture.answers = NO_SERIES;
    await cycles(fixture, 10);
    const whileFailing = fixture.maps.count('PATCH');
    const entry = readEntry(fixture.maps.entries['shop.web'] ?? '');
    fixture.answers = null;
    await cycles(fixture, 10);

    expect(whileFailing).toBe(1);
    expect(entry).toMatchObject({ failingSince: new Map([['External/load', at(60)]]) });
    expect(fixture.maps.count('PATCH')).toBe(2);
  });

  it('costs no write without a fallback', async () => {
    const fixture = storedFixture({});
    fixture.answers = NO_SERIES;
    await cycles(fixture, 10);

    expect(fixture.maps.count('PATCH')).toBe(0);
  });
});
