import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { STATE_BUCKETS } from '../../../src/kubernetes/state/state-key.js';
import type { Fate } from '../election/candidates.js';
import { SIMULATED_SECONDS, cycle, fate, happen, mishapsOf, skews } from '../election/mishaps.js';
import { Members, type MemberProcess } from './members.js';

const RUNS = 20;
const ALL = [...Array(STATE_BUCKETS).keys()];

const script = fc.record({
  // A quiet beginning: with faults alone, hardly anybody ever owns a bucket.
  fates: fc.array(fate, { minLength: 1, maxLength: 60 }).map((fates) => [...calm(20), ...fates, ...calm(20)]),
  mishaps: mishapsOf(8),
  skews,
});

function calm(count: number): readonly Fate[] {
  return Array.from({ length: count }, () => ({}));
}

/** Three members that start within the first seconds, on a bad network. */
function build(input: typeof script extends fc.Arbitrary<infer T> ? T : never): Members {
  const fixture = new Members();
  const nextFate = cycle(input.fates);
  input.skews.forEach((skew, index) => {
    fixture.clock.after(index * 700, () => {
      const member = fixture.add(`member-${index}`);
      member.clock.skewSeconds = skew;
      member.fate = nextFate;
    });
  });
  for (const one of input.mishaps) happen(fixture, one);
  return fixture;
}

describe('whatever the network and the machines do', () => {
  it('no two members may write to one bucket at one instant', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (input) => {
        const fixture = build(input);
        const crowds: string[] = [];
        fixture.onStep = () => {
          for (const bucket of ALL) {
            const writers = fixture.writersOf(bucket);
            if (writers.length > 1)
              crowds.push(`${bucket}: ${writers.map(({ name }) => name).join(' and ')}`);
          }
        };

        await fixture.pass(SIMULATED_SECONDS);

        expect(crowds).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('the living divide all buckets evenly within 30 s of a quiet network', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (input) => {
        const fixture = build(input);
        await fixture.pass(SIMULATED_SECONDS);
        for (const member of fixture.all) {
          member.clock.goOn();
          member.fate = () => ({});
        }
        // What was under way may come for 30 s yet.
        await fixture.pass(60);
        const living = fixture.all.filter(({ stop }) => !stop.signal.aborted);
        if (living.length === 0) return;

        await fixture.passUntil(() => isEven(living), 30);

        expect(living.flatMap(({ served }) => served).sort((a, b) => a - b)).toEqual(ALL);
      }),
      { numRuns: RUNS },
    );
  });
});

function isEven(living: readonly MemberProcess[]): boolean {
  const loads = living.map(({ served }) => served.length);
  const isWhole = loads.reduce((sum, load) => sum + load, 0) === STATE_BUCKETS;
  return isWhole && Math.max(...loads) - Math.min(...loads) <= 1;
}
