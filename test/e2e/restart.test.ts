import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { E2E_TIMEOUT_MS, waitFor } from './waiting.js';
import { cpuDocument, describeWhereAble, startFixture } from './fixture.js';
import type { ReplicaChange } from './replica-history.js';
import type { Fixture } from './fixture.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const WINDOW_SECONDS = 7;

describeWhereAble('state', 'a service that is killed within its window', () => {
  let fixture: Fixture;

  beforeAll(async () => {
    // 300 % of the requests of 2 pods: 10 are wanted, and the first scale-up can reach 4 at most.
    fixture = await startFixture([{ name: 'web', replicas: 2, load: 6 }]);
    const window = `  upscaleForbiddenWindowSeconds: ${WINDOW_SECONDS}\n`;
    await fixture.writeDocument('web.yaml', cpuDocument(fixture, 'web', window));
  });

  afterAll(() => fixture.close());

  const changes = (): readonly ReplicaChange[] => fixture.history('web');

  it(`scales up once, and after its restart again only when ${WINDOW_SECONDS} s are over`, async () => {
    const killed = await fixture.startService();
    await waitFor(() => changes().length === 1, { what: 'a first scale-up' });
    await killed.stop('SIGKILL');
    const next = await fixture.startService();
    await waitFor(
      async () => (await next.metrics('promscaler_limited{', 'limit="forbidden_window"', ' 1')).length === 1,
      { what: 'the window to hold' },
    );
    expect(changes()).toHaveLength(1);
    await waitFor(() => changes().length === 2, { what: 'a second scale-up' });

    const [first, second] = changes();
    expect(first?.replicas).toBeLessThanOrEqual(4);
    expect(second?.replicas).toBeGreaterThan(first?.replicas ?? Infinity);
    // The window begins with the decision, and its PATCH is sent up to a second later on a busy machine.
    expect((second?.seconds ?? 0) - (first?.seconds ?? 0)).toBeGreaterThan(WINDOW_SECONDS - 1);
    expect(await (await fetch(`${next.url}/api/v1/scalers`)).text()).toContain('"NotHeld"');
    expect(await next.stop()).toBe(0);
  });
});
