import { describe, expect, it } from '@jest/globals';
import { decide } from '../../../src/decision/decide.js';
import { decisionToJson, snapshotToJson } from '../../../src/decision/result/write-json.js';
import { parseSnapshot } from '../../../src/decision/snapshot/parse-snapshot.js';
import type { Snapshot } from '../../../src/decision/snapshot/snapshot.js';
import { checkAll, scheduledSnapshots } from '../random-snapshots.js';

const AT = '2026-01-01T00:00:00Z';

/** A snapshot of 5 replicas, of at most 20, whose metric asks for 12. */
function snapshotWith(
  ceiling: object | undefined,
  {
    state = {},
    spec = {},
    replicas = 5,
    wanted = 12,
  }: Partial<Record<'state' | 'spec', object>> & {
    replicas?: number;
    wanted?: number;
  } = {},
): Snapshot {
  return parseSnapshot({
    scaler: {
      apiVersion: 'promscaler.dev/v1',
      kind: 'Scaler',
      metadata: { name: 'llm', namespace: 'serving' },
      spec: {
        scaleTargetRef: { name: 'llm' },
        maxReplicas: 20,
        maxReplicasFrom: { query: 'sum(free_gpus{namespace="$namespace"})' },
        scaleUpLimitFactor: 10,
        downscaleStabilizationSeconds: 0,
        metrics: [
          { external: { metric: { name: 'load' }, query: 'sum(load)', target: { averageValue: 1 } } },
        ],
        ...spec,
      },
    },
    now: AT,
    target: { specReplicas: replicas },
    samples: [{ at: AT, values: [wanted] }],
    ...(ceiling === undefined ? {} : { maxReplicasFrom: ceiling }),
    state: { recommendations: [], ...state },
  });
}

const value = (...values: number[]): object => ({ at: AT, values });
const FAILED = { error: 'timeout after 5 s', kind: 'failed' };
const PARTIAL = { ...value(1), partial: 'warnings' };

describe('maxReplicasFrom', () => {
  it.each([
    ['11', value(11), {}, 11],
    ['12, no limit', value(12), {}, 12],
    ['7.9, rounded down', value(3.5, 4.4), {}, 7],
    ['3, below the current 5', value(3), {}, 5],
    ['0', value(0), {}, 5],
    ['99, above maxReplicas', value(99), { wanted: 30 }, 20],
    ['a failed query with 8 before', FAILED, { state: { maxReplicasFrom: 8 } }, 8],
    ['a partial value with 8 before', PARTIAL, { state: { maxReplicasFrom: 8 } }, 8],
    ['a negative value with 8 before', value(-1), { state: { maxReplicasFrom: 8 } }, 8],
    ['no series with 8 before', value(), { state: { maxReplicasFrom: 8 } }, 8],
    ['a failed query, the first one', FAILED, {}, 12],
    ['3, with a scale-down to 2', value(3), { wanted: 2 }, 2],
    ['9, with a scale-down to 4', value(9), { wanted: 4 }, 4],
  ])('of %s scales 5 replicas to %4$i', (_, ceiling, given, replicas) => {
    expect(decide(snapshotWith(ceiling, given)).desiredReplicas).toBe(replicas);
  });

  it('is named with its query in the reason and in ScalingLimited', () => {
    const { reason, conditions } = decide(snapshotWith(value(9)));

    const named = 'the ceiling is 9: sum(free_gpus{namespace="$namespace"})';
    expect(reason).toContain(`5 -> 9, 12 recommended, 9 by max_replicas_from (${named})`);
    expect(conditions).toContainEqual({
      type: 'ScalingLimited',
      status: 'True',
      reason: 'TooManyReplicas',
      message: `12 recommended, ${named}`,
    });
  });

  it('names a last value with the failure, and a ceiling below the count', () => {
    const { limits } = decide(snapshotWith(FAILED, { state: { maxReplicasFrom: 3 } }));

    expect(limits.map(({ reason }) => reason)).toEqual([
      'the ceiling is 3, the last value of sum(free_gpus{namespace="$namespace"}) (no value now: timeout after 5 s); a ceiling never scales down',
    ]);
  });

  it('remembers the last full value, and forgets it without the field', () => {
    const remembered = (ceiling: object | undefined, given = {}): number | undefined =>
      decide(snapshotWith(ceiling, given)).state.maxReplicasFrom;

    expect(remembered(value(9))).toBe(9);
    expect(remembered(FAILED, { state: { maxReplicasFrom: 8 } })).toBe(8);
    expect(remembered(value(9), { replicas: 40 })).toBe(9);
    const without = { spec: { maxReplicasFrom: {} }, state: { maxReplicasFrom: 8 } };
    expect(remembered(undefined, without)).toBeUndefined();
  });

  it('is part of the snapshot as JSON', () => {
    const json = snapshotToJson(snapshotWith(FAILED, { state: { maxReplicasFrom: 8 } }));

    expect(json).toMatchObject({ maxReplicasFrom: FAILED, state: { maxReplicasFrom: 8 } });
    expect(decide(parseSnapshot(json)).desiredReplicas).toBe(8);
  });
});

describe('in any of 500 snapshots', () => {
  const withCeiling = (snapshot: Snapshot, replicas: number): Snapshot => ({
    ...snapshot,
    scaler: {
      ...snapshot.scaler,
      spec: { ...snapshot.scaler.spec, maxReplicasFrom: { query: 'sum(free)', source: 'default' } },
    },
    maxReplicasFrom: { form: 'values', at: snapshot.now, values: [replicas], partial: null },
  });

  it('a ceiling never causes a scale-down, never changes one, and never adds replicas', () => {
    checkAll(scheduledSnapshots, (snapshot, decision) => {
      const current = snapshot.target.specReplicas;
      for (const replicas of [0, 1, current, current + 1, 30]) {
        const limited = decide(withCeiling(snapshot, replicas));
        const { desiredReplicas: desired } = decision;
        if (desired <= current) expect(limited.desiredReplicas).toBe(desired);
        else {
          expect(limited.desiredReplicas).toBeGreaterThanOrEqual(current);
          expect(limited.desiredReplicas).toBeLessThanOrEqual(desired);
        }
      }
    });
  });

  it('a ceiling that limits nothing changes only the remembered value', () => {
    checkAll(scheduledSnapshots, (snapshot, decision) => {
      const { maxReplicasFrom, ...state } = decide(withCeiling(snapshot, 1_000_000)).state;
      const limited = { ...decide(withCeiling(snapshot, 1_000_000)), state };

      expect(maxReplicasFrom).toBe(1_000_000);
      expect(decisionToJson(limited)).toEqual(decisionToJson(decision));
    });
  });
});
