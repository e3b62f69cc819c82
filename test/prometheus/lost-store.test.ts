import { afterEach, describe, expect, it } from '@jest/globals';
import type { SourceConfig } from '../../src/prometheus/data-source/source-config.js';
import { createMetricSource } from '../../src/prometheus/metric-source.js';
import { Fixture } from '../control/fixture.js';
import { aSource } from '../support/builders.js';
import { startRound } from './fakes.js';
import { type FakeQuerier, FakeStore, startQuerier, THANOS } from './fake-stores.js';

/** The recovery time of a rate over one minute. */
const HOLD_SECONDS = 60;
const PERIOD_SECONDS = 15;

const queriers: FakeQuerier[] = [];

afterEach(async () => {
  await Promise.all(queriers.splice(0).map(({ close }) => close()));
});

interface SetUp {
  readonly stores: readonly FakeStore[];
  readonly nowSeconds: () => number;
  /** Runs this many rounds and returns the replicas after each. */
  readonly rounds: (count: number) => Promise<readonly number[]>;
  /** Why scale-down is held after another round; null: it is not. */
  readonly heldBecause: () => Promise<string | null>;
  readonly querier: FakeQuerier;
}

/** A scaler with one replica per living target that has run for long on data of these stores. */
async function setUp(
  sizes: readonly number[],
  {
    flavor = THANOS,
    ...options
  }: Parameters<typeof startQuerier>[2] & { readonly flavor?: Partial<SourceConfig> } = {},
): Promise<SetUp> {
  const query = 'sum(rate(jobs[1m]))';
  const fixture = new Fixture({
    maxReplicas: 400,
    metrics: [
      {
        type: 'External',
        external: { metric: { name: 'jobs' }, query, target: { type: 'AverageValue', averageValue: 10 } },
      },
    ],
  });
  fixture.recoveryHoldMaxSeconds = 900;
  const stores = sizes.map((size, index) => new FakeStore(`store-${index}`, size));
  const querier = await startQuerier(fixture.clock, stores, options);
  queriers.push(querier);
  const replicas = sizes.reduce((total, size) => total + size, 0);
  fixture.cluster.setReplicas(replicas);
  fixture.cluster.statusReplicas = replicas;
  const sources = new Map([['default', aSource({ ...flavor, urls: [querier.url], maxSampleAgeSeconds: 0 })]]);
  const metrics = createMetricSource({ sources, clock: fixture.clock, onQuery: () => undefined });
  const round = async (): Promise<string | null> => {
    fixture.clock.advance(PERIOD_SECONDS * 1000);
    const answers = startRound(metrics, [fixture.scaler]);
    const { record } = await fixture.cycle({ answers });
    fixture.cluster.statusReplicas = fixture.cluster.specReplicas;
    return record.snapshot?.state.holdReason ?? null;
  };
  const rounds = async (count: number): Promise<readonly number[]> => {
    const counts: number[] = [];
    for (let index = 0; index < count; index += 1) {
      await round();
      counts.push(fixture.cluster.specReplicas);
    }
    return counts;
  };
  // Past the hold of a new process.
  await rounds(10);
  return {
    stores,
    nowSeconds: () => fixture.clock.monotonicMs() / 1000,
    rounds,
    heldBecause: round,
    querier,
  };
}

const times = (count: number, value: number): readonly number[] => Array<number>(count).fill(value);

describe('a store that drops out of a Thanos', () => {
  it.each([
    ['10 -> 5', [5, 5]],
    ['9 -> 6', [6, 3]],
    ['10 -> 9', [9, 1]],
  ])('holds scale-down while it is gone, and for its recovery time after that: %s', async (_, sizes) => {
    const { stores, rounds, heldBecause } = await setUp(sizes, { listsStores: false });
    const all = sizes.reduce((total, size) => total + size, 0);
    const [, last] = stores;
    if (last !== undefined) last.isQueried = false;

    await expect(rounds(20)).resolves.toEqual(times(20, all));
    await expect(heldBecause()).resolves.toContain(
      `the data source has lost earlier data (${sizes[0]} of ${all} targets are left)`,
    );
    if (last !== undefined) last.isQueried = true;
    await expect(rounds(20)).resolves.toEqual(times(20, all));
    await expect(heldBecause()).resolves.toBeNull();
  });

  it('holds no scale-down if less than 10 % of the targets are lost: 100 -> 91', async () => {
    const { stores, heldBecause } = await setUp([91, 9], { listsStores: false });
    const [, last] = stores;
    if (last !== undefined) last.isQueried = false;

    await expect(heldBecause()).resolves.toBeNull();
  });

  it('holds scale-down if stores drop out one after another, each with less than 10 %: 100 -> 95 -> 90', async () => {
    const { stores, rounds, heldBecause } = await setUp([90, 5, 5], { listsStores: false });
    for (const store of stores.slice(1)) {
      store.isQueried = false;
      await rounds(4);
    }

    await expect(heldBecause()).resolves.toContain('(90 of 100 targets are left)');
  });

  it.each([1, 10, 19])('holds no scale-down because of a scale-in from 20 targets by %i', async (count) => {
    const { stores, nowSeconds, rounds, heldBecause } = await setUp([20]);
    stores[0]?.end(count, nowSeconds());
    const reasons: (string | null)[] = [];
    for (let index = 0; index < 20; index += 1) reasons.push(await heldBecause());

    expect(reasons).toEqual(Array(20).fill(null));
    await expect(rounds(1)).resolves.toEqual([count === 1 ? 20 : 20 - count]);
  });

  it('holds no scale-down while targets come and go', async () => {
    const { stores, nowSeconds, rounds, heldBecause } = await setUp([6, 6]);
    const reasons: (string | null)[] = [];
    for (let index = 0; index < 40; index += 1) {
      stores[0]?.end(index % 3, nowSeconds());
      stores[1]?.add(index % 3, nowSeconds() + 7);
      reasons.push(await heldBecause());
      await rounds(1);
    }

    expect(reasons).toEqual(Array(40).fill(null));
  });

  it('holds scale-down although it had been queried with a scale-in in between', async () => {
    const { stores, nowSeconds, rounds } = await setUp([12, 8], { listsStores: false });
    stores[0]?.end(4, nowSeconds());
    await rounds(3);
    const [, last] = stores;
    if (last !== undefined) last.isQueried = false;

    await expect(rounds(20)).resolves.toEqual(times(20, 16));
  });

  it('holds scale-down for at most 15 minutes and a recovery time if it does not return', async () => {
    const { stores, rounds } = await setUp([5, 5], { listsStores: false });
    const [, last] = stores;
    if (last !== undefined) last.isQueried = false;
    const rest = HOLD_SECONDS / PERIOD_SECONDS;

    const counts = await rounds(60 + rest + 3);

    expect(counts.indexOf(5)).toBeGreaterThanOrEqual(60);
    expect(counts.at(-1)).toBe(5);
  });

  it('is found although the server reports the start time of the querier, which stores nothing', async () => {
    const { stores, rounds, querier } = await setUp([5, 5], { flavor: {} });
    const [, last] = stores;
    if (last !== undefined) last.isQueried = false;

    await expect(rounds(20)).resolves.toEqual(times(20, 10));
    expect(querier.counts().length).toBeGreaterThan(20);
  });

  it('is found by a server that refuses the @ modifier', async () => {
    const { stores, nowSeconds, rounds } = await setUp([6, 6], { listsStores: false, refusesAt: true });
    stores[0]?.end(2, nowSeconds());
    await expect(rounds(10)).resolves.toEqual(times(10, 10));
    const [, last] = stores;
    if (last !== undefined) last.isQueried = false;

    await expect(rounds(20)).resolves.toEqual(times(20, 10));
  });
});

describe('an emptied vmstorage of several', () => {
  it('holds scale-down until its rates are complete again', async () => {
    const { stores, nowSeconds, rounds, heldBecause } = await setUp([5, 5], {
      listsStores: false,
      flavor: { flavor: 'victoriametrics', ifVictoriaMetrics: null },
    });
    stores[1]?.empty(nowSeconds());

    const reasons: (string | null)[] = [];
    for (let index = 0; index < 2 * (HOLD_SECONDS / PERIOD_SECONDS); index += 1)
      reasons.push(await heldBecause());
    expect(reasons.every((reason) => reason?.includes('(5 of 10 targets are left)'))).toBe(true);
    await rounds(12);
    await expect(heldBecause()).resolves.toBeNull();
  });
});

describe('/api/v1/stores', () => {
  it.each([
    ['has an error', true],
    ['is gone from the list', false],
  ])('holds scale-down if a store without targets %s', async (_, isListed) => {
    const { stores, rounds, heldBecause } = await setUp([10, 0]);
    const [, last] = stores;
    if (last === undefined) return;
    last.isQueried = false;
    last.isListed = isListed;

    await expect(heldBecause()).resolves.toContain('the store store-1:10901 of the data source is gone');
    last.isQueried = true;
    last.isListed = true;
    await rounds(10);
    await expect(heldBecause()).resolves.toBeNull();
  });

  it.each([
    ['another store has the same labels', { labels: { cluster: 'store-0' } }],
    ['it has no recent data', { component: 'store', maxTimeMs: 0 }],
  ])('holds no scale-down if %s', async (_, change) => {
    const { stores, heldBecause, rounds } = await setUp([10, 0]);
    const [, last] = stores;
    if (last === undefined) return;
    Object.assign(last, change);
    // The labels of before are gone for a quarter of an hour.
    await rounds(80);
    last.isQueried = false;

    await expect(heldBecause()).resolves.toBeNull();
  });

  it('is read again only after ten minutes if the server has none', async () => {
    const { querier, rounds } = await setUp([3], { listsStores: false });
    await rounds(20);

    const reads = querier.requests.filter(({ url }) => url === '/api/v1/stores');
    expect(reads.length).toBe(1);
  });
});
