import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { joinPatterns, patternText, podsPattern, podsPatternOf } from '../../src/promql/pods-pattern.js';
import { seededRandom } from '../../src/simulator/objects/names.js';
import { settledPods } from '../../src/simulator/controllers/step-workload.js';
import { instantFromMs } from '../../src/units/time.js';

function matches(kind: string, name: string, pod: string): boolean {
  return new RegExp(`^(?:${podsPattern(kind, name)})$`).test(pod);
}

function nameOf(length: number): string {
  return 'a'.repeat(length);
}

/** Names a pod like the API server: `generateName` truncated to 58 characters, then 5 random ones. */
function podOf(owner: string, random = 'x7k2p'): string {
  return `${owner}-`.slice(0, 58) + random;
}

describe('podsPattern', () => {
  it.each([
    ['Deployment', 'web-6d4cf56db6-x7k2p', true],
    ['Deployment', 'web-api-6d4cf56db6-x7k2p', false],
    ['Deployment', 'web-6d4cf56db6-x7k2', false],
    ['ReplicaSet', 'web-x7k2p', true],
    ['ReplicaSet', 'web-6d4cf56db6-x7k2p', false],
    ['ReplicationController', 'web-x7k2p', true],
    ['StatefulSet', 'web-0', true],
    ['StatefulSet', 'web-12', true],
    ['StatefulSet', 'web-a', false],
    ['Rollout', 'web-6d4cf56db6-x7k2p', true],
    ['Rollout', 'website-1', false],
  ])('of a %s "web" and the pod %s: %s', (kind, pod, expected) => {
    expect(matches(kind, 'web', pod)).toBe(expected);
  });

  it('matches a dot in a name literally', () => {
    expect(podsPattern('StatefulSet', 'a.b')).toBe('a\\.b-[0-9]+');
  });

  it.each([
    [46, 10, 'a-kkkkkkkkkk-x7k2p'],
    [47, 9, 'a-kkkkkkkkk-x7k2p'],
    [47, 10, 'a-kkkkkkkkkkx7k2p'],
    [55, 1, 'a-k-x7k2p'],
    [55, 2, 'a-kkx7k2p'],
    [56, 10, 'a-kx7k2p'],
    [57, 10, 'a-x7k2p'],
    [58, 10, 'ax7k2p'],
    [63, 10, 'ax7k2p'],
    [253, 10, 'ax7k2p'],
  ])('of a Deployment with a name of %i characters and a hash of %i: the pod ...%s', (length, hash, end) => {
    const name = nameOf(length);
    const pod = podOf(`${name}-${'k'.repeat(hash)}`);

    expect(pod.slice(Math.min(length, 58) - 1)).toBe(end);
    expect(matches('Deployment', name, pod)).toBe(true);
    expect(matches('Deployment', name, `${pod}-x7k2p`)).toBe(false);
    expect(matches('Deployment', name, pod.slice(1))).toBe(false);
  });

  it('matches the pods of Deployments, ReplicaSets and Rollouts with names and hashes of any length', () => {
    const missed: string[] = [];
    for (let length = 1; length <= 253; length += 1) {
      const name = nameOf(length);
      if (!matches('ReplicaSet', name, podOf(name))) missed.push(`ReplicaSet ${length}`);
      for (let hash = 1; hash <= 10; hash += 1) {
        const pod = podOf(`${name}-${'k'.repeat(hash)}`);
        for (const kind of ['Deployment', 'Rollout'])
          if (!matches(kind, name, pod)) missed.push(`${kind} ${length} ${hash}`);
      }
    }

    expect(missed).toEqual([]);
  });

  it.each([
    [46, false],
    [47, false],
    [57, false],
    [58, true],
  ])('cannot distinguish pods of two names whose first %i characters are equal: %s', (same, isSame) => {
    const pod = podOf(`${nameOf(same)}b-kkkkkkkkkk`);

    expect(matches('Deployment', `${nameOf(same)}c`, pod)).toBe(isSame);
  });

  it('can be part of a larger expression', () => {
    const name = nameOf(50);
    const pod = podOf(`${name}-kkkkkkkkkk`);

    expect(new RegExp(`^(?:x-${podsPattern('Deployment', name)})$`).test(pod)).toBe(false);
  });

  it.each([3, 46, 47, 50, 57, 58, 63, 253])(
    'matches the pods of the simulator, name of %i characters',
    (length) => {
      const name = nameOf(length);
      const pods = settledPods(
        {
          name,
          order: 'rolling',
          replicas: 5,
          revision: '6d4cf56db6',
          isRevisionNamed: true,
          maxSurge: 1,
          maxUnavailable: 0,
          isPaused: false,
          timing: { startSeconds: 0, readySeconds: 0, terminationSeconds: 0, jitterRatio: 0 },
        },
        instantFromMs(0),
        100,
        seededRandom(0),
      ).map((pod) => pod.name);

      expect(pods.map((pod) => pod.slice(0, -5))).toEqual(Array(5).fill(`${name}-6d4cf56db6-`.slice(0, 58)));
      expect(pods.filter((pod) => matches('Deployment', name, pod))).toEqual(pods);
    },
  );
});

describe('joinPatterns', () => {
  const KINDS = ['Deployment', 'ReplicaSet', 'StatefulSet', 'Rollout'];
  const name = fc.oneof(
    fc.constantFrom('web', 'web-api', 'web-api-x', 'a.b', 'app-1', 'app-12'),
    fc.integer({ min: 44, max: 70 }).map(nameOf),
  );
  const workload = fc.tuple(fc.constantFrom(...KINDS), name).map(([kind, of]) => podsPatternOf(kind, of));
  const pod = fc
    .tuple(
      name,
      fc.constantFrom('', '-6d4cf56db6', '-x'),
      fc.constantFrom('-x7k2p', 'x7k2p', '-0', '-12', '-a'),
    )
    .map((parts) => parts.join(''));

  it('matches the pods that one of the patterns matches', () => {
    fc.assert(
      fc.property(fc.array(workload, { minLength: 1, maxLength: 6 }), fc.array(pod), (patterns, pods) => {
        const joined = new RegExp(`^(?:${joinPatterns(patterns)})$`);
        const each = patterns.map((pattern) => new RegExp(`^(?:${patternText(pattern)})$`));

        for (const one of pods)
          expect([one, joined.test(one)]).toEqual([one, each.some((some) => some.test(one))]);
      }),
    );
  });

  it.each<[readonly (readonly [string, string])[], string]>([
    [[['Deployment', 'web']], 'web-[a-z0-9]+-[a-z0-9]{5}'],
    [
      [
        ['Deployment', 'web'],
        ['StatefulSet', 'db'],
        ['Deployment', 'api'],
      ],
      '(?:api|web)-[a-z0-9]+-[a-z0-9]{5}|db-[0-9]+',
    ],
  ])('of %j: %s, in any order', (workloads, expected) => {
    const patterns = workloads.map(([kind, of]) => podsPatternOf(kind, of));

    expect(joinPatterns(patterns)).toBe(expected);
    expect(joinPatterns(patterns.toReversed())).toBe(expected);
  });
});
