import { describe, expect, it } from '@jest/globals';
import { MAX_COSTS, planCosts, planRemovals } from '../../../src/control/cycle/plan-costs.js';
import type { CostedPod } from '../../../src/kubernetes/pods/pod-costs.js';
import { aPod, at } from '../../support/builders.js';

function costed(name: string, pod: Partial<CostedPod['pod']> = {}, own: number | null = null): CostedPod {
  return {
    pod: aPod(name, pod),
    resourceVersion: '1',
    cost: own,
    isOwn: own !== null,
  };
}

function plan(
  pods: readonly CostedPod[],
  to: number,
  values: Readonly<Record<string, number>>,
): readonly (readonly [string, number | null])[] {
  const ranking = { to, values: new Map(Object.entries(values)), order: 'ascending' as const };
  return planCosts(pods, ranking).map(({ pod, cost }) => [pod.pod.name, cost]);
}

const FOUR = ['a', 'b', 'c', 'd'].map((name) => costed(name));

describe('planCosts', () => {
  it('assigns -1 to the smallest of four values if one pod is to be removed, and nothing if none is', () => {
    expect(plan(FOUR, 3, { a: 5, b: -Infinity, c: 7, d: Infinity })).toEqual([['b', -1]]);
    expect(plan(FOUR, 4, { a: 5, b: 1, c: 7, d: 2 })).toEqual([]);
  });

  it('assigns nothing if all values are equal, and something if one is missing', () => {
    expect(plan(FOUR, 2, { a: 1, b: 1, c: 1, d: 1 })).toEqual([]);
    expect(plan(FOUR, 2, { a: 1, b: 1, c: 1 })).toEqual([
      ['a', -2],
      ['b', -1],
    ]);
  });

  it('removes the younger pod of two equal values first', () => {
    const pods = [costed('a'), costed('b', { startTime: at(10) }), costed('c')];

    expect(plan(pods, 2, { a: 1, b: 1, c: 2 })).toEqual([['b', -1]]);
  });

  it('ignores pods that are being deleted or have ended', () => {
    const pods = [...FOUR, costed('e', { deleting: true }), costed('f', { phase: 'Failed' })];

    expect(plan(pods, 3, { a: 1, b: 2, c: 3, d: 4, e: 0, f: 0 })).toEqual([['a', -1]]);
  });

  it('writes nothing to a pod that has its cost already, and removes the cost of one that stays', () => {
    const pods = [costed('a', {}, -1), costed('b', {}, -2), costed('c')];

    expect(plan(pods, 2, { a: 1, b: 2, c: 3 })).toEqual([['b', null]]);
  });

  it(`sets ${MAX_COSTS} costs at most, from -${MAX_COSTS} to -1`, () => {
    const pods = Array.from({ length: 300 }, (_, index) => costed(`p${String(index).padStart(3, '0')}`));
    const values = Object.fromEntries(pods.map(({ pod }, index) => [pod.name, index]));

    const costs = plan(pods, 100, values);

    expect(costs).toHaveLength(100);
    expect([costs[0], costs[99]]).toEqual([
      ['p000', -100],
      ['p099', -1],
    ]);
  });
});

describe('planRemovals', () => {
  it('removes costs if 2 pods of 2 are wanted, and waits if there are 3', () => {
    const pods = [costed('a', {}, -1), costed('b')];

    expect(planRemovals(pods, 2).map(({ pod, cost }) => [pod.pod.name, cost])).toEqual([['a', null]]);
    expect(planRemovals([...pods, costed('c')], 2)).toEqual([]);
  });
});
