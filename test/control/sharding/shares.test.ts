import { describe, expect, it } from '@jest/globals';
import { planBuckets } from '../../../src/control/sharding/plan.js';
import { bucketOf, STATE_BUCKETS } from '../../../src/kubernetes/state/state-key.js';
import type { ScalerName } from '../../../src/scaler/spec.js';

const SCALERS = 10_000;
const EVEN = SCALERS / 3;

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** 100 namespaces with 100 scalers each. */
const numbered = (index: number): ScalerName => ({
  namespace: `team-${twoDigits(Math.floor(index / 100))}`,
  name: `app-${twoDigits(index % 100)}`,
});

const KINDS = ['api', 'web', 'worker', 'cart', 'search', 'mail'] as const;
/** 10 namespaces, with names that end in a number of one to three digits. */
const named = (index: number): ScalerName => ({
  namespace: `shop-${index % 10}`,
  name: `${KINDS[index % KINDS.length] ?? ''}-${Math.floor(index / 60)}`,
});

/** Returns how many scalers each bucket holds. */
function countsOf(nameOf: (index: number) => ScalerName): readonly number[] {
  const counts = Array.from({ length: STATE_BUCKETS }, () => 0);
  for (let index = 0; index < SCALERS; index += 1) {
    const bucket = bucketOf(nameOf(index));
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

/** Returns the shares of scalers of three members, by the plan. */
function sharesOf(counts: readonly number[], seed: number): readonly number[] {
  const members = ['a', 'b', 'c'].map((name) => `promscaler-${name}_${seed}`);
  const plan = planBuckets(new Map(members.map((member) => [member, []])), STATE_BUCKETS);
  return members.map((member) =>
    [...plan].reduce((sum, [bucket, owner]) => sum + (owner === member ? (counts[bucket] ?? 0) : 0), 0),
  );
}

/** 100 namespaces, with numbers without leading zeros. */
const unpadded = (index: number): ScalerName => ({ namespace: `team-${index % 100}`, name: `web-${index}` });

describe('10,000 scalers of three members', () => {
  it.each([
    ['team-00/app-00 to team-99/app-99', numbered],
    ['shop-0/api-0 to shop-9/mail-166', named],
  ])('%s are within 15 %% of even, whichever buckets a member has', (_, nameOf) => {
    const counts = [...countsOf(nameOf)].sort((a, b) => a - b);
    const sum = (some: readonly number[]): number => some.reduce((total, count) => total + count, 0);

    // 6 of 16 buckets are 12.5 % more than a third, 5 are 6.25 % less; the rest is the hash.
    expect(sum(counts.slice(-6)) / EVEN).toBeLessThan(1.15);
    expect(sum(counts.slice(0, 5)) / EVEN).toBeGreaterThan(0.85);
  });

  it('team-0/web-0 to team-99/web-9999 have 17 % more than a third in the six largest buckets', () => {
    const counts = [...countsOf(unpadded)].sort((a, b) => a - b);
    const largest = counts.slice(-6).reduce((total, count) => total + count, 0);

    expect(Math.round((100 * largest) / EVEN)).toBe(117);
  });

  it('are divided by the plan into shares within 15 % of even, for 100 sets of members', () => {
    const counts = countsOf(numbered);
    const shares = Array.from({ length: 100 }, (_, seed) => sharesOf(counts, seed)).flat();

    expect(Math.max(...shares) / EVEN).toBeLessThan(1.15);
    expect(Math.min(...shares) / EVEN).toBeGreaterThan(0.85);
  });
});
