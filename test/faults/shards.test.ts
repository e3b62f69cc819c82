import { describe, expect, it } from '@jest/globals';
import { runSeed } from './run-seed.js';
import { rollTo } from './schedule-shards.js';
import { SOURCE_PRODUCT as product } from './source-product.js';
import type { Fault, ClusterMode } from './simulation/faults.js';

const MINUTE_MS = 60_000;
const START_MS = 12 * MINUTE_MS;
const REPLICAS = 3;
const ROLL = { replicas: REPLICAS, gapMs: 30_000 };
/** Builds a fault of some replicas, by default 12 minutes after the start. */
function of(
  replicas: readonly number[],
  seconds: number,
  what: ClusterMode,
  startMs = START_MS,
): readonly Fault[] {
  const endMs = startMs + seconds * 1000;
  return replicas.map((replica) => ({
    startMs,
    endMs,
    kind: 'cluster',
    replica,
    target: 'web',
    what,
  }));
}

const rolls = (to: boolean, startMs = START_MS): readonly Fault[] => rollTo(to, { startMs, ...ROLL });

const SLOW: readonly Fault[] = [
  {
    startMs: START_MS - MINUTE_MS,
    endMs: START_MS + 10 * MINUTE_MS,
    kind: 'api',
    group: 'all',
    replica: 0,
    what: { mode: 'slow', delayMs: 2800 },
    probability: 1,
  },
];

describe('three replicas that divide the scalers', () => {
  it.each([
    ['two of them killed at once, for ten minutes', of([0, 1], 600, { mode: 'gone' })],
    ['two that are stopped for a minute and continue', of([0, 1], 60, { mode: 'stopped' })],
    [
      'six forged Leases that claim nothing, created once for 1e9 s',
      of([0], 1, { mode: 'forged-leases', count: 6, claims: '', isRenewed: false }),
    ],
    ['three whose machines are suspended for a minute', of([0, 1, 2], 60, { mode: 'suspended' })],
    ['two rolling updates, off and on again', [...rolls(false), ...rolls(true, START_MS + 5 * MINUTE_MS)]],
    [
      'a rolling update to one leader, which one of them must see by reads of 2.8 s',
      [...SLOW, ...rolls(false)],
    ],
  ])('with %s violate no invariant', async (_, faults) => {
    // Eight minutes follow the last fault.
    const hours = Math.max(...faults.map(({ endMs }) => endMs)) / (60 * MINUTE_MS) + 8 / 60;
    const { violations, writes } = await runSeed({ seed: 3, hours, product, shards: REPLICAS, faults });

    expect(violations).toEqual([]);
    expect(writes).toBeGreaterThan(0);
  });

  it('after a rolling update that enables sharding violate no invariant', async () => {
    const run = { seed: 4, hours: 0.5, product, shards: REPLICAS, beginsElected: true };
    const { violations, records } = await runSeed({ ...run, faults: rolls(true) });

    const last = records.findLast((record) => record.kind === 'decision');
    expect(violations).toEqual([]);
    expect(last?.atMs).toBeGreaterThan(29 * MINUTE_MS);
  });

  it('violate no invariant if the elected leader leads again after a member has taken over its scalers', async () => {
    const run = { seed: 4, hours: 0.4, product, shards: REPLICAS, beginsElected: true };
    const suspended = of([0, 1], 18, { mode: 'suspended' }, START_MS + MINUTE_MS / 2);
    const roll = rollTo(true, { startMs: START_MS, replicas: REPLICAS, gapMs: 2 * MINUTE_MS });
    const { violations } = await runSeed({ ...run, faults: [...roll, ...suspended] });

    expect(violations).toEqual([]);
  });
});
