import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Candidates } from './candidates.js';
import type { Candidate } from './candidates.js';
import { SIMULATED_SECONDS, cycle, fate, happen, mishapsOf, skews } from './mishaps.js';

const RUNS = { numRuns: 20 };

const script = fc.record({
  fates: fc.array(fate, { minLength: 1, maxLength: 60 }),
  mishaps: mishapsOf(12),
  skews,
  chances: fc.array(fc.double({ min: 0, max: 0.999_999, noNaN: true }), { minLength: 1, maxLength: 20 }),
});

/** Three candidates that start within the first seconds, on a bad network. */
function build(input: typeof script extends fc.Arbitrary<infer T> ? T : never): Candidates {
  const fixture = new Candidates();
  const nextFate = cycle(input.fates);
  const nextChance = cycle(input.chances);
  input.skews.forEach((skew, index) => {
    const candidate = fixture.add(`candidate-${index}`);
    candidate.clock.skewSeconds = skew;
    candidate.clock.chance = nextChance;
    candidate.fate = nextFate;
    fixture.clock.after(index * 700, () => candidate.start());
  });
  for (const one of input.mishaps) happen(fixture, one);
  return fixture;
}

describe('with any faults of the network and the machines', () => {
  it('no two candidates can write at one instant, nor within 5 s unless one has released the Lease', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (input) => {
        const fixture = build(input);
        const lastMs = new Map<Candidate, number>();
        let closestMs = Number.POSITIVE_INFINITY;
        fixture.onStep = () => {
          const nowMs = fixture.clock.monotonicMs();
          const writers = fixture.all.filter(({ mayWrite }) => mayWrite);
          if (writers.length > 1) closestMs = 0;
          for (const one of writers) {
            for (const [other, atMs] of lastMs)
              if (other !== one && !other.stop.signal.aborted) closestMs = Math.min(closestMs, nowMs - atMs);
            lastMs.set(one, nowMs);
          }
        };

        await fixture.pass(SIMULATED_SECONDS);

        expect(closestMs).toBeGreaterThan(4999);
      }),
      RUNS,
    );
  });

  it('no two terms have the same epoch, and a living candidate leads within 23.8 s of a quiet network', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (input) => {
        const fixture = build(input);
        await fixture.pass(SIMULATED_SECONDS);
        for (const candidate of fixture.all) {
          candidate.clock.goOn();
          candidate.fate = () => ({});
        }
        // Requests in flight may arrive for another 30 s.
        await fixture.pass(30);
        const living = fixture.all.filter(({ stop }) => !stop.signal.aborted);

        if (living.length > 0) await fixture.passUntil(() => living.some(({ mayWrite }) => mayWrite), 23.8);

        const epochs = fixture.all.flatMap(({ terms }) => terms);
        expect(new Set(epochs).size).toBe(epochs.length);
      }),
      RUNS,
    );
  });
});
