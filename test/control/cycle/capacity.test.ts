import { describe, expect, it } from '@jest/globals';
import { shortfallOf, targetReached } from '../../../src/control/cycle/target-reached.js';
import { kubernetesEvents } from '../../../src/control/cycle/kubernetes-events.js';
import type { ClusterPod, PodTrouble, Rollout } from '../../../src/kubernetes/api/types.js';
import { aPod, at } from '../../support/builders.js';
import { Fixture } from '../fixture.js';

const CPU: PodTrouble = { kind: 'unschedulable', why: 'cpu' };
const CRASH: PodTrouble = { kind: 'waiting', why: 'CrashLoopBackOff' };

const many = (count: number, over: Partial<ClusterPod> = {}): readonly ClusterPod[] =>
  Array.from({ length: count }, () => aPod('web-1', over));
const unready = (count: number, trouble?: PodTrouble): readonly ClusterPod[] =>
  many(count, { ready: false, ...(trouble === undefined ? {} : { trouble }) });

/** Returns the condition `seconds` after the first cycle of a target set to `wanted` with these pods. */
function look(
  wanted: number,
  pods: readonly ClusterPod[],
  options: { seconds?: number; rollout?: Rollout } = {},
) {
  const { seconds = 0, rollout } = options;
  const target = { specReplicas: wanted, ...(rollout === undefined ? {} : { rollout }) };
  const first = shortfallOf(null, target, { pods, now: at(0) });
  const now = at(seconds);
  return targetReached(target, shortfallOf(first, target, { pods, now }), { pods, now });
}

describe('TargetReached', () => {
  it('is True with 20 of 20 pods ready, and with none if none is wanted', () => {
    expect(look(20, many(20))).toMatchObject({ status: 'True', reason: 'Reached' });
    expect(look(0, [])).toMatchObject({ status: 'True', reason: 'Reached' });
  });

  it('counts the missing pods: 12 of 20 pods are ready, 6 unschedulable because of cpu', () => {
    const pods = [...many(12), ...unready(6, CPU), ...unready(1)];

    expect(look(20, pods)).toEqual({
      type: 'TargetReached',
      status: 'False',
      reason: 'Unschedulable',
      message: '12 of 20 pods are ready: 6 unschedulable because of cpu, 1 not ready, 1 not created',
    });
  });

  it.each([
    ['deleting', { deleting: true }],
    ['failed', { phase: 'Failed' as const }],
    ['completed', { phase: 'Succeeded' as const }],
  ])('counts no pod that is %s', (_, over) => {
    expect(look(3, [...many(2), aPod('web-1', over)]).message).toBe('2 of 3 pods are ready: 1 not created');
  });

  it.each([
    [299, 'Starting'],
    [300, 'NotReady'],
  ])('treats pods as starting for 300 s: after %i s %s', (seconds, reason) => {
    expect(look(3, [...many(2), ...unready(1)], { seconds }).reason).toBe(reason);
  });

  it('does not treat a crashing pod as a starting one', () => {
    expect(look(3, [...many(2), ...unready(1, CRASH)])).toMatchObject({
      reason: 'NotReady',
      message: '2 of 3 pods are ready: 1 in CrashLoopBackOff',
    });
  });

  it('distinguishes a paused rollout from a stuck one, and both from pods without a node', () => {
    const pods = [...many(2), ...unready(1, CRASH)];

    expect(look(3, pods, { rollout: 'stuck' })).toMatchObject({
      reason: 'RolloutStuck',
      message:
        '2 of 3 pods are ready: 1 in CrashLoopBackOff; the rollout has exceeded its progressDeadlineSeconds',
    });
    expect(look(3, pods, { rollout: 'paused' })).toMatchObject({
      reason: 'RolloutPaused',
      message: '2 of 3 pods are ready: 1 in CrashLoopBackOff; spec.paused of the target is true',
    });
    expect(look(3, unready(3, CPU), { rollout: 'stuck' }).reason).toBe('Unschedulable');
    expect(look(3, many(3), { rollout: 'paused' }).reason).toBe('Reached');
  });
});

describe('shortfallOf', () => {
  const pods = many(2);
  const before = { since: at(0), wanted: 5 };

  it.each([
    ['restarts if more are wanted', 6, { since: at(60), wanted: 6 }],
    ['continues if fewer are wanted', 4, { since: at(0), wanted: 4 }],
    ['ends if as many are wanted as are ready', 2, null],
  ])('%s', (_, specReplicas, expected) => {
    expect(shortfallOf(before, { specReplicas }, { pods, now: at(60) })).toEqual(expected);
  });

  it('returns the same value while nothing changes', () => {
    expect(shortfallOf(before, { specReplicas: 5 }, { pods, now: at(60) })).toBe(before);
  });
});

describe('a cycle', () => {
  it('is short of the pods of the count that it sets: 8 wanted and 5 ready', async () => {
    const fixture = new Fixture();
    fixture.cluster.pods.push(...many(5));
    fixture.load = 80;

    const { conditions, outcome } = (await fixture.cycle()).record;

    expect(outcome).toMatchObject({ kind: 'patched', to: 8 });
    expect(conditions.find(({ type }) => type === 'TargetReached')).toMatchObject({
      status: 'False',
      reason: 'Starting',
      message: '5 of 8 pods are ready: 3 not created',
    });
  });

  it('has the condition, and one Warning Event when pods find no node', async () => {
    const fixture = new Fixture();
    fixture.cluster.pods.push(...many(4), ...unready(1));
    const first = (await fixture.cycle()).record;
    fixture.cluster.pods.splice(4, 1, ...unready(1, CPU));
    const second = (await fixture.nextCycle()).record;
    const third = (await fixture.nextCycle()).record;

    const reasons = [first, second].map(
      ({ conditions }) => conditions.find(({ type }) => type === 'TargetReached')?.reason,
    );
    expect(reasons).toEqual(['Starting', 'Unschedulable']);
    expect([
      kubernetesEvents(null, first),
      kubernetesEvents(first, second),
      kubernetesEvents(second, third),
    ]).toEqual([
      [],
      [
        {
          type: 'Warning',
          reason: 'Unschedulable',
          message: '4 of 5 pods are ready: 1 unschedulable because of cpu',
        },
      ],
      [],
    ]);
  });
});
