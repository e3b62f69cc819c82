import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Engine } from './engine.js';
import { pause, waitFor } from './waiting.js';
import { cpuDocument, startFixture } from './fixture.js';
import type { Fixture } from './fixture.js';

/** Defines the tests of load that rises and falls, for a service with this engine as its data source. */
export function describeLoad(engine: Engine, title: string): void {
  describe(`the service on a cluster and a real ${title}`, () => loadTests(engine));
}

function loadTests(engine: Engine): void {
  let fixture: Fixture;

  beforeAll(async () => {
    // 50 % of the requests of 2 pods, with a target of 60 %: the minimum.
    fixture = await startFixture([{ name: 'web', replicas: 2, load: 1 }], engine);
    await fixture.writeDocument('web.yaml', cpuDocument(fixture, 'web'));
  });

  afterAll(() => fixture.close());

  it('scales up under load, scales down after the window and not before, and patches nothing in between', async () => {
    const service = await fixture.startService();
    await waitFor(async () => (await service.metrics('promscaler_metric_value{', 'cpu')).length > 0, {
      what: 'a first value of cpu',
    });
    await pause(3);
    expect(await fixture.changes('web')).toBe(0);

    fixture.setLoad('web', 6);
    // 6 times the request of a pod is 60 % of the requests of 10 pods.
    await waitFor(async () => (await fixture.replicas('web')) >= 10, { what: '10 replicas' });
    expect(await fixture.replicas('web')).toBeLessThanOrEqual(12);

    // Longer than the window of the rate and the stabilization, of 10 s each.
    await settle(fixture);
    const before = await fixture.replicas('web');
    const changesBefore = await fixture.changes('web');
    fixture.setLoad('web', 0.4);
    const droppedAt = performance.now();
    await waitFor(async () => (await fixture.replicas('web')) < before, { what: 'a first scale-down' });
    // 10 s from the last decision under the old load, which is up to one period of 1 s older than the drop.
    expect((performance.now() - droppedAt) / 1000).toBeGreaterThan(9);
    expect(await fixture.changes('web')).toBe(changesBefore + 1);
    await waitFor(async () => (await fixture.replicas('web')) === 2, { what: 'the minimum of 2 replicas' });

    const [rescales] = await service.metrics('promscaler_rescales_total{', 'direction="down"');
    expect(Number(rescales?.split(' ').at(-1))).toBeGreaterThan(0);
    expect(await fixture.events()).toContain('New size: 2; reason: All metrics below target');
    expect(await service.stop()).toBe(0);
  });
}

/** Waits until nothing has changed for 12 s. */
async function settle(fixture: Fixture): Promise<void> {
  let last = -1;
  const isSettled = async (): Promise<boolean> => {
    const before = last;
    last = await fixture.changes('web');
    if (last !== before) await pause(12);
    return last === before;
  };
  await waitFor(isSettled, { what: '12 s without a change' });
}
