import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decide } from '../../src/decision/decide.js';
import type { Decision } from '../../src/decision/result/decision.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import { aDocument } from '../support/builders.js';
import { readReason } from './read-reason.js';

const NOW = '2026-01-01T00:00:00Z';

const inputs = fc.record({
  rate: fc.oneof(fc.integer({ min: 0, max: 500 }), fc.double({ min: 0, max: 1e5, noNaN: true })),
  backlog: fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.double({ min: 0, max: 1e6, noNaN: true })),
  drainSeconds: fc.constantFrom<number>(1, 7, 60, 86_400),
  perPod: fc.constantFrom(1, 8, 2.5),
  specReplicas: fc.integer({ min: 1, max: 60 }),
  maxReplicas: fc.integer({ min: 1, max: 60 }),
  behavior: fc.constantFrom(undefined, {}, { scaleUp: { policies: [policy(3)] } }),
});

type Input = typeof inputs extends fc.Arbitrary<infer T> ? T : never;

function policy(value: number): object {
  return { type: 'Pods', value, periodSeconds: 60 };
}

function decideOn(input: Input, backlog: number | null): Decision {
  const { rate, drainSeconds, perPod, specReplicas, maxReplicas, behavior } = input;
  const ofBacklog = { backlog: { query: 'sum(waiting)', drainSeconds } };
  return decide(
    parseSnapshot({
      scaler: aDocument({
        scaleTargetRef: { name: 'web' },
        maxReplicas,
        ...(behavior === undefined ? {} : { behavior }),
        metrics: [
          {
            external: {
              metric: { name: 'jobs' },
              query: 'sum(rate(jobs[1m]))',
              target: { averageValue: perPod },
              ...(backlog === null ? {} : ofBacklog),
            },
          },
        ],
      }),
      now: NOW,
      target: { specReplicas },
      samples: [{ at: NOW, values: [rate], ...(backlog === null ? {} : { backlog }) }],
      state: { recommendations: [] },
    }),
  );
}

function check(property: (input: Input) => void): void {
  fc.assert(fc.property(inputs, property), { numRuns: 500, seed: 20260102 });
}

describe('a metric with a backlog', () => {
  it('never asks for fewer replicas than without it, and an empty one changes nothing', () => {
    check((input) => {
      const without = decideOn(input, null);

      expect(decideOn(input, input.backlog).desiredReplicas).toBeGreaterThanOrEqual(without.desiredReplicas);
      expect(decideOn(input, 0).desiredReplicas).toBe(without.desiredReplicas);
    });
  });

  it('asks for at least as many replicas with a larger backlog, a larger rate or a shorter time', () => {
    check((input) => {
      const { desiredReplicas } = decideOn(input, input.backlog);
      const shorter = { ...input, drainSeconds: Math.max(1, input.drainSeconds - 6) };

      for (const other of [
        decideOn(input, input.backlog * 2 + 1),
        decideOn({ ...input, rate: input.rate * 2 + 1 }, input.backlog),
        decideOn(shorter, input.backlog),
      ])
        expect(other.desiredReplicas).toBeGreaterThanOrEqual(desiredReplicas);
    });
  });

  it('stays within maxReplicas and the policies', () => {
    check((input) => {
      const { specReplicas, maxReplicas, behavior } = input;
      const { desiredReplicas } = decideOn(input, input.backlog);

      expect(desiredReplicas).toBeLessThanOrEqual(maxReplicas);
      if (behavior !== undefined && 'scaleUp' in behavior)
        expect(desiredReplicas).toBeLessThanOrEqual(specReplicas + 3);
    });
  });

  it('has a reason from which a reader can compute the sum and the count', () => {
    check((input) => {
      const { reason, metrics } = decideOn(input, input.backlog);
      if (metrics.length === 0) return;
      const parts = /([\d.]+) in total \(([\d.]+) \+ a backlog of ([\d.]+) \/ (\d+) s\)/.exec(reason);
      const [total = NaN, rate = NaN, backlog = NaN, seconds = NaN] = (parts?.slice(1) ?? []).map(Number);

      expect(Math.abs(rate + backlog / seconds - total)).toBeLessThanOrEqual(0.0011);
      const read = readReason(reason.replace(/ \([^)]*\)/, ''));
      expect(read?.count).toBe(read?.recommended);
    });
  });
});
