import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { E2E_TIMEOUT_MS, pause, waitFor } from '../../e2e/waiting.js';
import { type Passing, Proxy } from './proxy.js';
import { SHORT_LEASE, startStand } from './stand.js';
import type { ProxiedReplica, Stand } from './stand.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const SCALERS = 50;
const WINDOW_SECONDS = 10;
/** In any 10 s, up to 11 periods of 1 s begin. A slow machine sends fewer requests than these. */
const PERIODS = WINDOW_SECONDS + 1;
/** One of each scaler, and one for the start time of the server. */
const STEADY_QUERIES = PERIODS * (SCALERS + 1);
/** Renewals of the Lease. */
const STEADY_REQUESTS = PERIODS;
/**
 * Cost of one recovery, for any number of scalers: lists and watches of pods, Deployments and HPAs. An idle service
 * requests little more than its Lease, so twice as much would be less than this.
 */
const ONCE = 6;
/** ConfigMaps that a new leader reads. On a loaded machine, the only replica may lose its Lease more than once. */
const PER_TERM = 16;
/** An Event reports a failed query, of which a loaded machine has some, and has a limit of its own. */
const isEvent = ({ path }: Passing): boolean => /\/events(?:\/|$)/.test(path);

/** Returns the highest number of requests in any 10 s from `fromMs` on. */
function busiest(timesMs: readonly number[], fromMs: number): number {
  const late = timesMs.filter((ms) => ms >= fromMs);
  return Math.max(
    0,
    ...late.map((start) => late.filter((ms) => ms >= start && ms < start + WINDOW_SECONDS * 1000).length),
  );
}

describe('50 scalers with a query each, after an outage', () => {
  let stand: Stand;
  let source: Proxy;
  let service: ProxiedReplica;

  const queries = (): readonly number[] => source.passed.map(({ atMs }) => atMs);
  const requests = (): readonly number[] =>
    service.api.passed.filter((passing) => !isEvent(passing)).map(({ atMs }) => atMs);

  beforeAll(async () => {
    stand = await startStand();
    source = await Proxy.start(stand.source.url);
    const names = Array.from({ length: SCALERS }, (_, index) => `w${index}`);
    for (const name of names) stand.source.set(name, 2);
    const installation = await stand.install({
      namespace: 'herd',
      targets: names.map((name) => ({ name, replicas: 2 })),
      defaultSource: source.url,
    });
    service = await installation.startReplica({ config: SHORT_LEASE });
    await waitFor(
      async () =>
        (await service.metrics('promscaler_metric_value{').catch(() => [])).length === SCALERS || undefined,
      { what: 'a value of each', seconds: 180 },
    );
  });

  afterAll(async () => {
    await source.close();
    await stand.close();
  });

  it('sends Prometheus at most twice as many queries in any 10 s after it recovers', async () => {
    const removeFault = source.add(() => true, {
      kind: 'answer',
      status: 503,
      contentType: 'text/plain',
      body: 'Service Unavailable',
    });
    await pause(3);
    removeFault();
    const backMs = performance.now();
    await pause(WINDOW_SECONDS);

    const most = busiest(queries(), backMs);
    expect(most).toBeGreaterThan(SCALERS);
    expect(most).toBeLessThanOrEqual(2 * STEADY_QUERIES);
  });

  it('sends the API server at most twice as many requests, plus 6 and 16 for each term, in any 10 s after it recovers, and at most one Event for each scaler and term', async () => {
    const removeFault = stand.simulator.faults.add({}, { kind: 'refuse', status: 503 });
    stand.simulator.watches.close({}, 'destroy');
    await pause(3);
    removeFault();
    const backMs = performance.now();
    await pause(WINDOW_SECONDS);

    const after = service.api.passed.filter(({ atMs }) => atMs >= backMs);
    const terms = after.filter(({ path }) => path.endsWith('/configmaps/promscaler-state-00')).length;
    expect(terms).toBeGreaterThan(0);
    // A new leader does not know the Events of the last term. A further failure of a loaded machine is counted by a
    // PATCH, and creates no Event.
    const created = after.filter((passing) => isEvent(passing) && passing.method === 'POST');
    expect(created.length).toBeLessThanOrEqual(terms * SCALERS);
    const most = busiest(requests(), backMs);
    const limit = 2 * STEADY_REQUESTS + ONCE + terms * PER_TERM;
    const sent = after.map(({ method, path, atMs }) => `${Math.round(atMs - backMs)} ms ${method} ${path}`);
    expect({ most, isWithinLimit: most <= limit, sent }).toEqual({ most, isWithinLimit: true, sent });
  });
});
