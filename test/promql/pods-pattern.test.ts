import { describe, expect, it } from '@jest/globals';
import { podsPattern } from '../../src/promql/pods-pattern.js';

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
  ])('of a %s "web" and the pod %s: %s', (kind, pod, matches) => {
    expect(new RegExp(`^(?:${podsPattern(kind, 'web')})$`).test(pod)).toBe(matches);
  });

  it('takes a dot in a name for a dot', () => {
    expect(podsPattern('StatefulSet', 'a.b')).toBe('a\\.b-[0-9]+');
  });
});
