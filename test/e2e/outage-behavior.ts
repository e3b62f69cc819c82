import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Engine } from './engine.js';
import type { ServiceProcess } from './service-process.js';
import { pause, waitFor } from './waiting.js';
import { cpuDocument, itOnSimulator, startFixture } from './fixture.js';
import type { Fixture } from './fixture.js';

/** Defines the tests of an engine that loses its data, is empty, or does not answer. */
export function describeOutage(engine: Engine, title: string): void {
  describe(`when ${title} restarts without data`, () => outageTests(engine));
}

function outageTests(engine: Engine): void {
  let fixture: Fixture;
  let service: ServiceProcess;

  beforeAll(async () => {
    fixture = await startFixture([{ name: 'web', replicas: 6, load: 3.2 }], engine);
    await fixture.writeDocument('web.yaml', cpuDocument(fixture, 'web'));
    service = await fixture.startService();
  });

  afterAll(() => fixture.close());

  const isInactive = async (): Promise<boolean> =>
    (await service.metrics('type="ScalingActive",status="False"')).length === 1;

  it('holds 6 replicas while the store is empty', async () => {
    await waitFor(async () => (await service.metrics('promscaler_metric_value{')).length > 0, {
      what: 'a value',
    });

    await fixture.stopPrometheus();
    await fixture.startPrometheusAgain({ scrapes: false });
    fixture.setLoad('web', 0.4);
    await waitFor(isInactive, { what: 'the condition ScalingActive to be false', seconds: 15 });
    await pause(3);
    expect(await fixture.replicas('web')).toBe(6);
    expect(await service.metrics('promscaler_metric_value{')).toEqual([]);
    expect(await service.metrics('promscaler_queries_total{')).not.toEqual([]);
  });

  it('holds 6 replicas during the outage and until the data can be trusted again, then scales down', async () => {
    await fixture.stopPrometheus();
    await pause(5);
    expect(await fixture.replicas('web')).toBe(6);
    expect(await service.metrics('promscaler_metric_value{')).toEqual([]);
    expect(service.output().match(/data source failed/g)).toHaveLength(1);

    await fixture.startPrometheusAgain();
    const backAt = performance.now();
    await waitFor(
      async () => (await service.metrics('promscaler_limited{', 'limit="recovery_hold"')).length === 1,
      {
        what: 'the recovery hold to hold',
        seconds: 30,
      },
    );
    expect(await fixture.replicas('web')).toBe(6);
    await waitFor(async () => (await fixture.replicas('web')) < 6, { what: 'a scale-down after the hold' });
    // A server must be 10 s old (the range of the query), and return values for 10 s from then on.
    expect((performance.now() - backAt) / 1000).toBeGreaterThan(19);
    expect(service.output()).toContain('data source answers again');
  });

  // The engine has no part in it.
  if (engine === 'prometheus') apiServerTests(() => ({ fixture, service }));
}

function apiServerTests(get: () => { readonly fixture: Fixture; readonly service: ServiceProcess }): void {
  const reason = 'only the simulator can reject requests on demand';
  itOnSimulator(
    reason,
    'holds while the API server is unavailable, and continues automatically',
    async () => {
      const { fixture, service } = get();
      const { simulator } = fixture;
      if (simulator === null) throw new Error('this is a test of the simulator');
      const before = await fixture.replicas('web');
      const removeFault = simulator.faults.add({}, { kind: 'refuse', status: 503 });
      simulator.watches.close({}, 'destroy');
      fixture.setLoad('web', 6);
      await pause(8);
      expect(await fixture.replicas('web')).toBe(before);
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200);

      removeFault();
      await waitFor(async () => (await fixture.replicas('web')) >= 10, {
        what: '10 replicas after the API server is back',
      });
      expect(await service.stop()).toBe(0);
    },
  );
}
