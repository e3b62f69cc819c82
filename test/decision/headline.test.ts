import { describe, expect, it } from '@jest/globals';
import { limitCause } from '../../src/decision/bound-states.js';
import { describeLimit, headlineOf } from '../../src/decision/headline.js';
import { checkAll, scheduledSnapshots, snapshots } from './random-snapshots.js';

const step = {
  stabilization: {
    limit: 'stabilization',
    from: 0,
    to: 42,
    reason: '42 was recommended at 2026-01-01T00:00:00Z and counts for 300 s',
    until: null,
  },
  scaleUpLimit: {
    limit: 'scale_up_limit',
    from: 42,
    to: 8,
    reason: 'from 4 at most max(4, 2 times) at once',
    until: null,
  },
  maximum: { limit: 'max_replicas', from: 12, to: 10, reason: 'maxReplicas is 10', until: null },
} as const;

const STATES_OF_LIMITS = ['PartialData', 'Stabilizing', 'RateLimited', 'Backoff', 'Fixed'] as const;
const nothing = { kind: null, from: null, to: null };
const bounds = { minReplicas: 0, maxReplicas: 100 };

describe('the headline of a decision', () => {
  it('names the last limit, in words: 42 recommended, 8 by the scale-up limit', () => {
    const decision = { ...bounds, currentReplicas: 4, desiredReplicas: 8, recommendedReplicas: 42 };

    expect(headlineOf({ ...decision, limits: [step.scaleUpLimit] }, nothing)).toEqual({
      change: 'scales up from 4 to 8, not 42',
      limit: 'the scale-up limit allows 4 more replicas at once',
    });
  });

  it('names no limit if two cancel each other: 10, 14, 10', () => {
    const limits = [
      { ...step.stabilization, from: 10, to: 14 },
      { ...step.maximum, from: 14 },
    ];
    const decision = { ...bounds, currentReplicas: 10, desiredReplicas: 10, recommendedReplicas: 10, limits };

    expect(headlineOf(decision, nothing)).toEqual({ change: 'stays at 10', limit: null });
  });

  it('names both limits, if one keeps more pods than the metrics want, and the next one cuts that: 0, 42, 8', () => {
    const limits = [step.stabilization, step.scaleUpLimit];
    const of = (currentReplicas: number) =>
      headlineOf({ ...bounds, currentReplicas, desiredReplicas: 8, recommendedReplicas: 0, limits }, nothing);

    expect(of(4)).toEqual({
      change: 'scales up from 4 to 8, not 0',
      limit: `${step.stabilization.reason}, and the scale-up limit allows 4 more replicas at once`,
    });
    expect(of(8).change).toBe('stays at 8, not 0');
  });

  it('names what keeps 6 replicas, and the last limit, but none between: 0, 13, 12, 6', () => {
    const limits = [
      { ...step.stabilization, to: 13 },
      { ...step.scaleUpLimit, from: 13, to: 12 },
      { ...step.maximum, to: 6, reason: 'maxReplicas is 6' },
    ];
    const counts = { currentReplicas: 6, desiredReplicas: 6, recommendedReplicas: 0 };

    expect(headlineOf({ ...counts, minReplicas: 2, maxReplicas: 6, limits }, nothing)).toEqual({
      change: 'stays at 6, not 2',
      limit: `${step.stabilization.reason}, and maxReplicas is 6`,
    });
  });

  it('has the recommended count, as the cause of the state, not that of a stabilization window: 10, 12, 8', () => {
    const limits = [
      { ...step.stabilization, from: 10, to: 12 },
      { ...step.maximum, from: 12, to: 8, reason: 'maxReplicas is 8' },
    ];
    const counts = { currentReplicas: 8, desiredReplicas: 8, recommendedReplicas: 10 };
    const full = { ...counts, minReplicas: 2, maxReplicas: 8, limits };

    expect(headlineOf(full, nothing)).toEqual({ change: 'stays at 8, not 10', limit: 'maxReplicas is 8' });
  });

  it('names cooldownSeconds, which keeps the last replica', () => {
    const cause =
      'cooldownSeconds keeps the last replica (queue is 3, not above its activation threshold of 5)';
    const kept = { ...bounds, currentReplicas: 1, desiredReplicas: 1, recommendedReplicas: 1, limits: [] };

    expect(headlineOf({ ...kept, cooldown: { cause } }, nothing)).toEqual({
      change: 'stays at 1, not 0',
      limit: cause,
    });
  });

  it.each([
    // Bounds 2 to 20: without the window, 1 recommended replica would be 2, and without the scale-up limit, 42 would be 20.
    [
      { current: 3, desired: 3, recommended: 1 },
      { ...step.stabilization, from: 1, to: 3 },
      'stays at 3, not 2',
    ],
    [
      { current: 3, desired: 3, recommended: 2 },
      { ...step.stabilization, from: 2, to: 3 },
      'stays at 3, not 2',
    ],
    [
      { current: 2, desired: 3, recommended: 1 },
      { ...step.stabilization, from: 1, to: 3 },
      'scales up from 2 to 3',
    ],
    [{ current: 4, desired: 8, recommended: 42 }, step.scaleUpLimit, 'scales up from 4 to 8, not 20'],
    [
      { current: 5, desired: 5, recommended: 1 },
      { ...step.stabilization, limit: 'untrusted_metric', from: 1, to: 5 },
      'stays at 5, not 2',
    ],
    // A bound itself is compared with what it prevents.
    [
      { current: 20, desired: 20, recommended: 42 },
      { ...step.maximum, from: 42, to: 20 },
      'stays at 20, not 42',
    ],
    [
      { current: 2, desired: 2, recommended: 1 },
      { ...step.maximum, limit: 'min_replicas', from: 1, to: 2 },
      'stays at 2, not 1',
    ],
  ] as const)(
    'names a count within the bounds, unless a bound is the limit: %j',
    ({ current, desired, recommended }, limit, change) => {
      const decided = {
        currentReplicas: current,
        desiredReplicas: desired,
        recommendedReplicas: recommended,
      };

      expect(
        headlineOf({ ...decided, minReplicas: 2, maxReplicas: 20, limits: [limit] }, nothing).change,
      ).toBe(change);
    },
  );

  it('names the limit that is the cause of the state in 1,000 arbitrary snapshots', () => {
    const seen = new Set<string>();
    for (const json of [snapshots, scheduledSnapshots])
      checkAll(json, (_snapshot, decision) => {
        for (const state of STATES_OF_LIMITS) {
          const cause = limitCause({ decision, conditions: [] }, state)?.cause;
          if (cause === undefined) continue;
          seen.add(state);
          const limit = cause.replace(/^\d+ recommended, /, '');
          expect([cause, headlineOf(decision, nothing).limit]).toEqual([
            cause,
            expect.stringContaining(limit),
          ]);
        }
      });
    expect([...seen].sort()).toEqual([...STATES_OF_LIMITS].sort());
  });

  const decision = { ...bounds, currentReplicas: 4, desiredReplicas: 6, recommendedReplicas: 6, limits: [] };
  it.each([
    ['is applied', { kind: 'patched', from: 4, to: 6 }, 'scaled up from 4 to 6'],
    ['is replaced', { kind: 'replaced', from: 4, to: 5 }, 'scaled up from 4 to 5, not 6'],
    ['is held', { kind: 'dry-run', from: 4, to: 6 }, 'stays at 4, not 6'],
    ['fails', { kind: 'failed', from: 4, to: 6 }, 'stays at 4, not 6'],
    ['is that of a pause', { kind: 'patched', from: 4, to: 3 }, 'scaled down from 4 to 3, not 6'],
    ['is not applied by anyone', nothing, 'scales up from 4 to 6'],
  ])('of a change from 4 to 6 that %s: %j', (_case, outcome, change) => {
    expect(headlineOf(decision, outcome)).toEqual({ change, limit: null });
  });

  it('does not say "not 12" of a count of 12 that is lowered to 10', () => {
    const lowered = { ...bounds, currentReplicas: 12, desiredReplicas: 10, recommendedReplicas: null };

    expect(headlineOf({ ...lowered, limits: [step.maximum] }, nothing)).toEqual({
      change: 'scales down from 12 to 10',
      limit: 'maxReplicas is 10',
    });
  });

  it('has no limit for a count that is prevented: the hold decided', () => {
    const limited = { ...bounds, currentReplicas: 8, desiredReplicas: 10, recommendedReplicas: 12 };

    expect(headlineOf({ ...limited, limits: [step.maximum] }, { kind: 'paused', from: 8, to: 10 })).toEqual({
      change: 'stays at 8, not 10',
      limit: null,
    });
  });

  it('says of a scale-up limit of 4 from 4 that it allows no more', () => {
    expect(describeLimit({ ...step.scaleUpLimit, to: 4 }, 4)).toBe(
      'the scale-up limit allows no more replicas at once',
    );
  });
});
