import { describe, expect, it } from '@jest/globals';
import { bucketOf, configMapName, entryKey } from '../../../src/kubernetes/state/state-key.js';

describe('bucketOf', () => {
  // These must never change: two versions that run side by side must agree.
  it.each([
    ['shop', 'web', 4],
    ['shop', 'checkout', 6],
    ['default', 'a', 6],
    ['kube-system', 'coredns', 7],
    ['a', 'b', 1],
  ])('puts %s/%s into bucket %d', (namespace, name, bucket) => {
    expect(bucketOf({ namespace, name })).toBe(bucket);
  });

  it('spreads 10,000 scalers so that no bucket has 30 % more than its share of 625', () => {
    const counts = new Array<number>(16).fill(0);
    for (let index = 0; index < 10_000; index += 1) {
      const bucket = bucketOf({ namespace: `team-${index % 40}`, name: `service-${index}` });
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }

    expect(Math.max(...counts)).toBeLessThan(813);
    expect(Math.min(...counts)).toBeGreaterThan(437);
  });
});

describe('configMapName', () => {
  it('has two digits', () => {
    expect([0, 7, 15].map(configMapName)).toEqual([
      'promscaler-state-00',
      'promscaler-state-07',
      'promscaler-state-15',
    ]);
  });
});

describe('entryKey', () => {
  it('is NAMESPACE.NAME', () => {
    expect(entryKey({ namespace: 'shop', name: 'web.v2' })).toBe('shop.web.v2');
  });

  it('can have 253 characters, not 254', () => {
    const namespace = 'n'.repeat(63);

    expect(entryKey({ namespace, name: 'x'.repeat(189) })).toHaveLength(253);
    expect(entryKey({ namespace, name: 'x'.repeat(190) })).toBeNull();
  });
});
