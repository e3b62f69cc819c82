import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { E2E_TIMEOUT_MS, pause, waitFor } from '../../e2e/waiting.js';
import { startStand } from './stand.js';
import type { ProxiedReplica, Stand } from './stand.js';

jest.setTimeout(2 * E2E_TIMEOUT_MS);

/**
 * K12 of reliability.md: silence for 150 s ends a watch; the limits are not configurable, so this test waits for them.
 */
const WATCHDOG_SECONDS = 150;
const LATEST_SECONDS = 180;

describe('watches with half-open connections, without data and without an end', () => {
  let stand: Stand;
  let service: ProxiedReplica;

  beforeAll(async () => {
    stand = await startStand();
    const installation = await stand.install({
      namespace: 'silent',
      targets: [{ name: 'web', replicas: 2 }],
    });
    stand.source.set('web', 2);
    service = await installation.startReplica();
    await waitFor(
      async () => (await service.metrics('promscaler_metric_value{').catch(() => [])).length === 1,
      { what: 'a value' },
    );
    await pause(2);
  });

  afterAll(() => stand.close());

  it('are ended after 150 s and restarted, and missed changes are read within 180 s', async () => {
    const isWatch = (query: URLSearchParams): boolean => query.get('watch') === '1';
    const abandoned = service.api.abandon(({ query }) => isWatch(query));
    const brokenMs = performance.now();
    expect(abandoned).toBeGreaterThanOrEqual(2);
    // Only a watch can report this change: for the 2 replicas that the service knows nothing is to be done, so it reads
    // nothing.
    stand.simulator.setReplicas({ namespace: 'silent', name: 'web' }, 3);

    const seen = (): Promise<readonly string[]> => service.metrics('promscaler_current_replicas{', ' 3');
    await waitFor(async () => (await seen()).length === 1, {
      what: 'the new count to be seen',
      seconds: LATEST_SECONDS + 20,
    });
    const seconds = (performance.now() - brokenMs) / 1000;

    const again = service.api.passed.filter(
      ({ query, atMs }) => isWatch(query) && atMs > brokenMs + WATCHDOG_SECONDS * 900,
    );
    console.info(`half-open watches: seen after ${seconds.toFixed(0)} s, ${again.length} watches restarted`);
    expect(again.length).toBeGreaterThanOrEqual(abandoned);
    expect(seconds).toBeLessThan(LATEST_SECONDS);
    expect(service.hasEnded()).toBe(false);
  });
});
