import { describe, expect, it } from '@jest/globals';
import { learnPodStarts, podStartOf } from '../../../src/control/memory/pod-starts.js';
import type { ClusterPod } from '../../../src/kubernetes/api/types.js';
import { aPod, at } from '../../support/builders.js';

const NONE = new Map<string, number>();

function started(name: string, seconds: number): ClusterPod {
  return aPod(name, { startTime: at(0), readyChangedAt: at(seconds) });
}

describe('learnPodStarts', () => {
  it('takes the time from the start of a pod until it was ready, as first seen', () => {
    const first = learnPodStarts(NONE, [started('a', 90)]);

    expect(first).toEqual(new Map([['a', 90]]));
    // The readiness of a pod that failed its probe later is newer than its start.
    expect(learnPodStarts(first, [started('a', 2000), started('b', 100)])).toEqual(
      new Map([
        ['a', 90],
        ['b', 100],
      ]),
    );
  });

  it('ignores pods that are not ready, have no times, or took more than an hour', () => {
    const pods = [
      aPod('a', { ready: false }),
      aPod('b', { readyChangedAt: null }),
      aPod('c', { startTime: null }),
      started('d', 3601),
      started('e', 3600),
    ];

    expect(learnPodStarts(NONE, pods)).toEqual(new Map([['e', 3600]]));
  });

  it('returns the same map while no pod is new', () => {
    const known = learnPodStarts(NONE, [started('a', 90)]);

    expect(learnPodStarts(known, [started('a', 90)])).toBe(known);
    expect(learnPodStarts(known, [])).toBe(known);
  });

  it('keeps 100 pods, and more only if they are listed', () => {
    const old = Array.from({ length: 100 }, (_, index) => started(`old-${index}`, 60));
    const listed = Array.from({ length: 101 }, (_, index) => started(`new-${index}`, 70));
    const known = learnPodStarts(NONE, old);

    expect(learnPodStarts(known, [started('new', 70)]).size).toBe(100);
    expect(learnPodStarts(known, [started('new', 70)]).has('old-0')).toBe(false);
    expect(learnPodStarts(known, listed).size).toBe(101);
  });
});

describe('podStartOf', () => {
  it('is the time of the 19th of 20 pods, at least 1 s, and null without pods', () => {
    const starts = (count: number): ReadonlyMap<string, number> =>
      new Map(Array.from({ length: count }, (_, index) => [`p${index}`, index + 1]));

    expect(podStartOf(starts(20))).toBe(19);
    expect(podStartOf(starts(19))).toBe(19);
    expect(podStartOf(starts(21))).toBe(20);
    expect(podStartOf(new Map([['a', 0]]))).toBe(1);
    expect(podStartOf(NONE)).toBeNull();
  });
});
