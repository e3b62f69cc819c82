import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { E2E_TIMEOUT_MS, waitFor } from './waiting.js';
import { cpuDocument, describeOnSimulator, startWorld } from './world.js';
import type { World } from './world.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const WINDOW_SECONDS = 7;

// Its ConfigMaps are not ours to make.
describeOnSimulator('nothing is stored there', 'a service that is killed within its window', () => {
  let world: World;

  beforeAll(async () => {
    // 300 % of what 2 pods request: 10 are wanted, and at most 4 are what the first scale-up may reach.
    world = await startWorld([{ name: 'web', replicas: 2, load: 6 }]);
    const window = `  upscaleForbiddenWindowSeconds: ${WINDOW_SECONDS}\n`;
    await world.writeDocument('web.yaml', cpuDocument(world, 'web', window));
  });

  afterAll(() => world.close());

  /** All changes of replicas that the API server has carried out. */
  const changes = (): readonly { readonly seconds: number; readonly replicas: number | undefined }[] =>
    (world.simulator?.requests() ?? [])
      .filter(({ verb, subresource, isApplied }) => verb === 'patch' && subresource === 'scale' && isApplied)
      .map(({ monotonicMs, body }) => ({
        seconds: monotonicMs / 1000,
        replicas: (JSON.parse(body ?? '{}') as { spec?: { replicas?: number } }).spec?.replicas,
      }));

  it(`scales up once, and after its restart again only when ${WINDOW_SECONDS} s are over`, async () => {
    const killed = await world.startService();
    await waitFor(() => changes().length === 1, { what: 'a first scale-up' });
    await killed.stop('SIGKILL');
    const next = await world.startService();
    await waitFor(
      async () => (await next.metrics('promscaler_limited{', 'limit="forbidden_window"', ' 1')).length === 1,
      { what: 'the window to hold' },
    );
    expect(changes()).toHaveLength(1);
    await waitFor(() => changes().length === 2, { what: 'a second scale-up' });

    const [first, second] = changes();
    expect(first?.replicas).toBeLessThanOrEqual(4);
    expect(second?.replicas).toBeGreaterThan(first?.replicas ?? Infinity);
    // The window begins with the decision, and its PATCH comes up to a second later on a busy machine.
    expect((second?.seconds ?? 0) - (first?.seconds ?? 0)).toBeGreaterThan(WINDOW_SECONDS - 1);
    expect(await (await fetch(`${next.url}/api/v1/scalers`)).text()).toContain('"NotHeld"');
    expect(await next.stop()).toBe(0);
  });
});
