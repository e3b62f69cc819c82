import { describe, expect, it } from '@jest/globals';
import { PointRing } from '../../src/telemetry/point-ring.js';
import type { Point } from '../../src/telemetry/point-ring.js';
import { at } from '../support/builders.js';

const MAX_COUNT = 2 ** 31 - 1;

function point(seconds: number, count: number | null, value: number | null): Point {
  return { at: at(seconds), counts: [count, 7], values: [value] };
}

describe('PointRing', () => {
  it.each([0, 1, 3, 16, 17, 40, 100])('keeps the newest of %i points as pushed', (pushed) => {
    const ring = new PointRing(2, 1);
    const all = Array.from({ length: pushed }, (_, index) => point(index, index, index / 8));

    for (const one of all) ring.push(one, 40);

    const kept = all.slice(-40);
    expect(ring.size()).toBe(kept.length);
    expect(kept.map((_, index) => ring.get(index))).toEqual(kept);
    expect(kept.map((_, index) => ring.timeOf(index))).toEqual(kept.map((one) => one.at));
    expect(kept.map((_, index) => ring.countOf(index, 0))).toEqual(kept.map(({ counts }) => counts[0]));
    expect([ring.get(-1), ring.get(kept.length), ring.timeOf(kept.length)]).toEqual([null, null, null]);
    expect(ring.countsOf(kept.length)).toEqual([]);
  });

  it('keeps the newest points when there is room for fewer or for more', () => {
    const ring = new PointRing(2, 1);
    for (let index = 0; index < 25; index += 1) ring.push(point(index, index, null), 20);

    ring.push(point(25, 25, null), 3);
    expect([0, 1, 2, 3].map((index) => ring.countOf(index, 0))).toEqual([23, 24, 25, null]);

    for (let index = 26; index < 30; index += 1) ring.push(point(index, index, null), 5);
    expect([0, 1, 2, 3, 4].map((index) => ring.countOf(index, 0))).toEqual([25, 26, 27, 28, 29]);
  });

  it.each([
    [MAX_COUNT, 0.1],
    [0, 0],
    [null, null],
    [1, 1e-30],
    [1, 3.402823e38],
  ])('keeps the count %p and the value %p, distinct from each other', (count, value) => {
    const ring = new PointRing(2, 1);

    ring.push(point(0.25, count, value), 10);

    expect(ring.get(0)).toEqual(point(0.25, count, value));
    expect(ring.isEqual(0, point(99, count, value))).toBe(true);
    expect(ring.isEqual(0, point(0.25, count === 5 ? 6 : 5, value))).toBe(false);
    expect(ring.isEqual(0, point(0.25, count, 0.2))).toBe(false);
    expect(ring.isEqual(0, point(0.25, count, value === null ? 0 : null))).toBe(false);
    expect(ring.isEqual(1, point(0.25, count, value))).toBe(false);
  });

  it('reads a value that is not finite as unknown', () => {
    const ring = new PointRing(2, 1);

    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1e39]) ring.push(point(0, 1, value), 10);

    expect([0, 1, 2].map((index) => ring.get(index)?.values)).toEqual([[null], [null], [null]]);
  });

  it('moves the time of the newest point', () => {
    const ring = new PointRing(2, 1);
    ring.moveNewest(at(5));
    for (const seconds of [0, 15]) ring.push(point(seconds, 1, 2), 10);

    ring.moveNewest(at(30));

    expect([ring.timeOf(0), ring.timeOf(1)]).toEqual([at(0), at(30)]);
  });
});
