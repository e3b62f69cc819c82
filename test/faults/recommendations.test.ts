import { describe, expect, it } from '@jest/globals';
import { runSeed } from './run-seed.js';
import { SOURCE_PRODUCT } from './source-product.js';

const backTestsOf = async (seed: number, shards?: number) => {
  const features = ['recommendations'] as const;
  const { violations, writes, records } = await runSeed({
    seed,
    hours: 1.5,
    product: SOURCE_PRODUCT,
    features,
    shards,
  });
  const backTests = records.filter(({ kind }) => kind === 'back-test');
  return { violations, writes, backTests };
};

describe('a simulation whose documents are back-tested each hour', () => {
  it.each([
    ['one process', 1, undefined],
    ['a leader and a standby', 6, undefined],
    ['three replicas that share the scalers', 2, 3],
  ])('of %s violates no invariant, whatever the back-tests do', async (_, seed, shards) => {
    const { violations, writes, backTests } = await backTestsOf(seed, shards);

    expect(violations).toEqual([]);
    expect(writes).toBeGreaterThan(0);
    expect(backTests.length).toBeGreaterThan(2);
  });
});
