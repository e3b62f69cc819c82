import { once } from 'node:events';
import { get } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { makeResource } from '../../src/simulator/objects/resources.js';
import { startSimulator } from '../../src/simulator/simulator.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { COMPUTED, HPAS } from './hpa-controller.js';
import { openInnerRuns } from './inner-run.js';
import type { InnerRuns } from './inner-run.js';
import { CLUSTER, E2E_TIMEOUT_MS } from './waiting.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions';

/** Permissions for the run's own metrics API. */
const AGGREGATION = [
  makeResource(
    { group: 'apiregistration.k8s.io', version: 'v1', plural: 'apiservices', kind: 'APIService' },
    { namespaced: false, subresources: ['status'] },
  ),
  makeResource({ group: '', version: 'v1', plural: 'services', kind: 'Service' }),
  makeResource({ group: '', version: 'v1', plural: 'endpoints', kind: 'Endpoints' }),
];

/** The simulator replaces a cluster without metrics-server, and this test its aggregator and its HPA controller. */
(CLUSTER === null ? describe : describe.skip)('npm run test:e2e with its own metrics API', () => {
  let simulator: Simulator;
  let runs: InnerRuns;

  beforeAll(async () => {
    simulator = await startSimulator({ clock: SYSTEM_CLOCK, resources: AGGREGATION });
    runs = await openInnerRuns(simulator, 'metrics');
  });

  afterAll(async () => {
    await simulator.close();
    await runs.close();
  });

  const patchStatus = async (path: string, status: unknown): Promise<void> => {
    await fetch(`${simulator.url}${path}/status`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ status }),
    });
  };

  /** Returns the answer of the API behind the APIService, as the aggregator reads it; null without an APIService. */
  const ask = async (path: string): Promise<string | null> => {
    const [endpoints] = simulator.listObjects('/endpoints') as readonly {
      subsets?: readonly { addresses: readonly { ip: string }[]; ports: readonly { port: number }[] }[];
    }[];
    const subset = endpoints?.subsets?.[0];
    if (subset === undefined) return null;
    const options = {
      host: subset.addresses[0]?.ip,
      port: subset.ports[0]?.port,
      path,
      rejectUnauthorized: false,
    };
    const [response] = (await once(get(options), 'response')) as [IncomingMessage];
    return response.statusCode === 200 ? text(response) : null;
  };

  it('registers it, lets the HPA use it, and removes it and the definition of Scalers', async () => {
    const { child, output } = runs.start(['shadow', 'custom-resources'], {
      PROMSCALER_E2E_METRICS_ADDRESS: '127.0.0.1',
    });
    const answers = new Set<string>();
    const play = async (): Promise<void> => {
      for (const { metadata } of simulator.listObjects('apiregistration.k8s.io/apiservices')) {
        const isThere = (await ask('/apis/metrics.k8s.io/v1beta1'))?.includes('PodMetrics') === true;
        const conditions = [{ type: 'Available', status: isThere ? 'True' : 'False' }];
        await patchStatus(`/apis/apiregistration.k8s.io/v1/apiservices/${metadata.name}`, { conditions });
      }
      for (const { metadata } of simulator.listObjects(HPAS)) {
        const namespace = metadata.namespace ?? '';
        const page = await ask(
          `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods?labelSelector=app%3Dweb`,
        );
        const items = (JSON.parse(page ?? '{}') as { items?: readonly PodMetrics[] }).items ?? [];
        for (const { containers } of items) answers.add(containers[0]?.usage.cpu ?? '');
        if (items.length !== 2) continue;
        const path = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
        await patchStatus(`${path}/${metadata.name}`, COMPUTED);
      }
    };
    const timer = setInterval(() => void play().catch(() => undefined), 500);
    await once(child, 'close').finally(() => clearInterval(timer));

    expect(output()).toContain('2 passed, 0 failed, 0 skipped');
    expect(child.exitCode).toBe(0);
    expect([...answers]).toEqual(['1m']);
    const kinds = ['apiregistration.k8s.io/apiservices', '/services', '/endpoints', HPAS, DEFINITIONS];
    for (const kind of kinds) expect(simulator.listObjects(kind)).toEqual([]);
  });
});

interface PodMetrics {
  readonly containers: readonly { readonly usage: { readonly cpu: string } }[];
}
