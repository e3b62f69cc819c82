import { describe, expect, it } from '@jest/globals';
import {
  type AgeRules,
  allowedGapSeconds,
  lateAfterSeconds,
  type TargetAge,
  judgeAges,
} from '../../../src/prometheus/source/judge-ages.js';

const target = (ageSeconds: number | null, more: Partial<TargetAge> = {}): TargetAge => ({
  ageSeconds,
  intervalSeconds: 15,
  hasGap: false,
  isYoung: false,
  ...more,
});
const range = (rangeSeconds: number): AgeRules => ({ rangeSeconds, maxAgeSeconds: null });
const isOld = (targets: readonly TargetAge[], rules = range(120)): boolean =>
  judgeAges(targets, rules) !== null;
const of = (count: number, one: TargetAge): readonly TargetAge[] => Array.from({ length: count }, () => one);

describe('a rate over 2 minutes at an interval of 15 s', () => {
  it.each([
    [0, false],
    // Up to 1.1 intervals, the server extrapolates to the end of the range.
    [16.5, false],
    // (19.5 - 7.5) / 120 is 10 %.
    [19.5, false],
    [19.6, true],
    [60, true],
    [300, true],
  ])('with a newest sample of %d s is old: %s', (age, expected) => {
    expect(isOld([target(age)])).toBe(expected);
  });

  it('averages over the targets: 1 of 8 that is 30 s old is 2 %, 8 of 8 are 19 %', () => {
    expect(isOld([target(30), ...of(7, target(5))])).toBe(false);
    expect(isOld(of(8, target(30)))).toBe(true);
  });

  it('counts a target whose scrapes fail as a whole: 1 of 10 is 10 %, 1 of 9 is more', () => {
    expect(isOld([target(null), ...of(9, target(5))])).toBe(false);
    expect(isOld([target(null), ...of(8, target(5))])).toBe(true);
  });

  it('counts a target with a gap at the start as a whole: 1 of 10 is 10 %, 1 of 9 is more', () => {
    const gap = target(5, { hasGap: true });
    expect(isOld([gap, ...of(9, target(5))])).toBe(false);
    expect(isOld([gap, ...of(8, target(5))])).toBe(true);
  });

  it('counts a young target as a whole: 1 of 10 is 10 %, 1 of 9 is more', () => {
    const young = target(5, { isYoung: true });
    expect(isOld([young, ...of(9, target(5))])).toBe(false);
    expect(isOld([young, ...of(8, target(5))])).toBe(true);
  });

  it('is not old without targets', () => {
    expect(isOld([])).toBe(false);
  });
});

describe('a query without a range', () => {
  it('is old above two intervals and 5 s', () => {
    expect(lateAfterSeconds(15)).toBe(35);
    expect(isOld([target(35)], range(0))).toBe(false);
    expect(isOld([target(35.1)], range(0))).toBe(true);
  });

  it('may have a tenth of its targets late', () => {
    expect(isOld([target(60), ...of(9, target(5))], range(0))).toBe(false);
    expect(isOld([target(60), ...of(8, target(5))], range(0))).toBe(true);
  });
});

describe('a bound of 90 s', () => {
  it.each([0, 120])('replaces what follows from interval and range (%d s)', (rangeSeconds) => {
    const rules = { rangeSeconds, maxAgeSeconds: 90 };
    expect(isOld([target(90)], rules)).toBe(false);
    expect(isOld([target(90.1)], rules)).toBe(true);
  });
});

describe('the gap that is allowed at the start of a range', () => {
  it('is 1.1 intervals in a short range, and a tenth of a long one more than half an interval', () => {
    expect(allowedGapSeconds(60, 15)).toBeCloseTo(16.5);
    expect(allowedGapSeconds(600, 15)).toBeCloseTo(67.5);
  });
});

describe('the reason', () => {
  it('names the defects and the number of targets with each', () => {
    const targets = [
      target(62),
      target(null),
      target(5, { hasGap: true }),
      target(5, { isYoung: true }),
      target(5),
    ];

    expect(judgeAges(targets, range(120))).toBe(
      'the value is based on old samples in a range of 2m: the newest sample of 1 of 5 targets is up to 62 s old (scrape interval 15 s), 1 of 5 targets has no samples because scrapes fail, 1 of 5 targets has a gap at the start of the range, 1 of 5 targets is younger than the range',
    );
  });

  it('of a single target without a range', () => {
    expect(judgeAges([target(62)], range(0))).toBe(
      'the value is based on old samples: the newest sample of its target is up to 62 s old (scrape interval 15 s)',
    );
  });
});
