import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCountsFixture } from './counts-fixture.js';
import type { Counts, CountsFixture } from './counts-fixture.js';
import { documentQueries, PERIOD_SECONDS } from './workloads.js';

const SIZE = { scalers: 50, pods: 3 };
/** Enough for the first lists and the one step of load at the start. */
const START_ROUNDS = 6;
const ROUNDS = 3;
const LEASE_SECONDS = 2;
/** Queries at a time, the age of the data, and one that has just ended. */
const PROMETHEUS_CONNECTIONS = 12;
/** Budgets of the lanes, and a watch for each of few namespaces and kinds. */
const API_CONNECTIONS = 40;
const MORE_SCALERS = 100;
/** Measured: 35 to 38 kB, with 3 pods and after 12 rounds. */
const HEAP_BYTES_PER_SCALER = 50_000;

describe('3 steady rounds of 50 scalers with 3 pods each', () => {
  let fixture: CountsFixture;
  let first: Counts;
  let second: Counts;
  let bytesPerScaler: number;
  beforeAll(async () => {
    fixture = await startCountsFixture(SIZE);
    await fixture.rounds(START_ROUNDS);
    first = await fixture.rounds(ROUNDS);
    second = await fixture.rounds(ROUNDS);
    const bytes = fixture.heapBytes();
    await fixture.stop();
    fixture = await startCountsFixture({ ...SIZE, scalers: SIZE.scalers + MORE_SCALERS });
    await fixture.rounds(START_ROUNDS + 2 * ROUNDS);
    bytesPerScaler = (fixture.heapBytes() - bytes) / MORE_SCALERS;
  });
  afterAll(async () => fixture.stop());

  it('decide 150 times, each with all metrics', () => {
    expect(first).toMatchObject({ cycles: ROUNDS * SIZE.scalers, failures: 0 });
  });

  it('send no request for a scaler and no list: only renewals of the Lease', () => {
    const { 'update leases': renewals = 0, ...others } = first.requests;

    expect(others).toEqual({});
    expect(renewals).toBeLessThanOrEqual((ROUNDS * PERIOD_SECONDS) / LEASE_SECONDS + 1);
  });

  it('send each query of the documents once a round for the scalers of a namespace, and the resource query once for all', () => {
    const { 'query own': own = 0, 'query shared': shared = 0, 'query resource': resource } = first.queries;

    expect(own + shared).toBe(ROUNDS * documentQueries(SIZE));
    expect(resource).toBe(ROUNDS);
  });

  it('read the age of the data far less often than there are scalers, look for duplicates once a round, and seldom read the scrape interval', () => {
    const {
      runtimeinfo = 0,
      'query check': checks = 0,
      'query interval': intervals = 0,
      ...queries
    } = first.queries;

    expect(Object.keys(queries).sort()).toEqual(['query own', 'query resource', 'query shared']);
    // How many cycles share a reading depends on when their answers arrive.
    expect(runtimeinfo).toBeLessThan((ROUNDS * SIZE.scalers) / 5);
    expect(checks).toBeLessThanOrEqual(ROUNDS);
    expect(intervals).toBeLessThanOrEqual(1);
  });

  it('leave no timer or abort listener behind', () => {
    expect(second.timers).toBeLessThanOrEqual(first.timers);
    expect(second.abortListeners).toBeLessThanOrEqual(first.abortListeners);
  });

  it('hold a fixed number of connections', () => {
    for (const { connections } of [first, second]) {
      expect(connections.metrics).toBeLessThanOrEqual(PROMETHEUS_CONNECTIONS);
      expect(connections.api).toBeLessThanOrEqual(API_CONNECTIONS);
    }
  });

  it('hold at most 50 kB of heap for a scaler', () => {
    expect(bytesPerScaler).toBeLessThan(HEAP_BYTES_PER_SCALER);
  });

  it('hold timers and abort listeners that do not grow with the number of scalers', () => {
    expect(first.timers).toBeLessThan(SIZE.scalers / 2);
    expect(first.abortListeners).toBeLessThan(SIZE.scalers / 2);
  });
});
