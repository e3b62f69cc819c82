import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { constant } from '../../src/simulator/model/curves.js';
import { E2E_TIMEOUT_MS, cpuDocument, pause, startWorld, waitFor } from './world.js';
import type { World } from './world.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const WEB = { namespace: 'shop', name: 'web' };

describe('the service on an embedded cluster and a real Prometheus', () => {
  let world: World;

  beforeAll(async () => {
    // 10 requests/s of 50 ms each over 2 pods that request 0.5 cores: 51 %, where 60 % is asked for.
    const behavior = { load: constant(10) };
    world = await startWorld([{ ...WEB, replicas: 2, behavior }]);
    await world.writeDocument('web.yaml', cpuDocument('web'));
  });

  afterAll(() => world.close());

  it('scales up under load, down after the window and not before, and patches nothing in between', async () => {
    const { simulator } = world;
    const service = await world.startService();
    await waitFor(async () => (await service.metrics('promscaler_metric_value{', 'cpu')).length > 0, {
      what: 'a first value of cpu',
    });
    await pause(3);
    expect(patches(world)).toBe(0);

    simulator.setLoad(WEB, constant(60));
    // 60 requests/s are 3 cores, and 60 % of 0.5 cores 0.3 a pod: 10 pods.
    await waitFor(() => world.replicas('web') >= 10, { what: '10 replicas' });
    expect(world.replicas('web')).toBeLessThanOrEqual(12);

    // Until the load is gone from the rate's window of 10 s, then for the 10 s of the stabilization.
    await pause(12);
    const before = world.replicas('web');
    const patchesBefore = patches(world);
    simulator.setLoad(WEB, constant(4));
    const droppedAt = performance.now();
    await waitFor(() => world.replicas('web') < before, { what: 'a first scale-down' });
    expect((performance.now() - droppedAt) / 1000).toBeGreaterThan(10);
    expect(patches(world)).toBe(patchesBefore + 1);
    await waitFor(() => world.replicas('web') === 2, { what: 'the minimum of 2 replicas' });

    const [rescales] = await service.metrics('promscaler_rescales_total{', 'direction="down"');
    expect(Number(rescales?.split(' ').at(-1))).toBeGreaterThan(0);
    const events = simulator.listObjects('/events', 'shop');
    expect(JSON.stringify(events)).toContain('New size: 2; reason: All metrics below target');
    expect(await service.stop()).toBe(0);
  });
});

function patches({ simulator }: World): number {
  return simulator.requests().filter(({ verb, subresource }) => verb === 'patch' && subresource === 'scale')
    .length;
}
