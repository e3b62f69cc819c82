import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { E2E_TIMEOUT_MS, pause, waitFor } from '../../e2e/waiting.js';
import { acceptedPatches } from './history.js';
import { Proxy } from './proxy.js';
import type { Effect } from './proxy.js';
import { startStand } from './stand.js';
import type { ProxiedReplica, Stand } from './stand.js';

jest.setTimeout(E2E_TIMEOUT_MS);

/** Every fault between the service and a data source; `timeoutSeconds` of each is 2. */
const TROUBLES: Readonly<Record<string, Effect>> = {
  html: { kind: 'answer', status: 200, contentType: 'text/html', body: '<html>please sign in</html>' },
  internal: { kind: 'answer', status: 500, contentType: 'text/plain', body: 'no' },
  slow: { kind: 'delay', ms: 4000 },
  drip: { kind: 'drip', bytesPerSecond: 5 },
  hole: { kind: 'black-hole' },
  reset: { kind: 'reset', afterBytes: 20 },
  cut: { kind: 'cut', afterBytes: 60 },
};

/** Initial replicas of every target and values of every source; values during the faults. */
const BEFORE = 6;
const DURING = 3;

describe('a service whose data sources have every kind of fault at once', () => {
  let stand: Stand;
  let service: ProxiedReplica;
  const proxies = new Map<string, Proxy>();
  const names = ['sound', ...Object.keys(TROUBLES)];
  const lowered = (name: string): boolean =>
    acceptedPatches(stand.simulator, { namespace: 'sources', name, first: BEFORE }).some(
      ({ from, to }) => to < from,
    );

  beforeAll(async () => {
    stand = await startStand();
    for (const name of names) {
      proxies.set(name, await Proxy.start(stand.source.url));
      stand.source.set(name, BEFORE);
    }
    const spec = '  downscaleStabilizationSeconds: 1\n';
    const installation = await stand.install({
      namespace: 'sources',
      targets: names.map((name) => ({ name, replicas: BEFORE, source: name, spec })),
      sources: Object.fromEntries([...proxies].map(([name, { url }]) => [name, url])),
    });
    service = await installation.startReplica();
    await waitFor(
      async () => {
        const values = await service.metrics('promscaler_metric_value{').catch(() => []);
        return values.length === names.length;
      },
      { what: 'a value from each source' },
    );
  });

  afterAll(async () => {
    for (const proxy of proxies.values()) await proxy.close();
    await stand.close();
  });

  it('scales down only targets with a healthy source, and the others after the faults', async () => {
    const removals = Object.entries(TROUBLES).map(([name, effect]) =>
      proxies.get(name)?.add(() => true, effect),
    );
    // Answers in flight have the old load.
    await pause(2.5);
    for (const name of names) stand.source.set(name, DURING);

    await waitFor(() => lowered('sound'), { what: 'a scale-down of the sound one', seconds: 30 });
    await pause(4);
    expect(names.filter(lowered)).toEqual(['sound']);
    expect(await service.metrics('type="ScalingActive",status="False"')).toHaveLength(names.length - 1);

    for (const remove of removals) remove?.();
    await waitFor(() => names.every(lowered), { what: 'a scale-down of all of them' });
    expect(service.hasEnded()).toBe(false);
  });
});
