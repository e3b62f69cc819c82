import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { makeResource } from '../../src/simulator/api/resources.js';
import { startSimulator } from '../../src/simulator/simulator.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { CLUSTER, E2E_TIMEOUT_MS } from './waiting.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'dist-e2e/test/e2e/main.js');
const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions';
const HPAS = 'autoscaling/horizontalpodautoscalers';

/** What metrics-server brings: that it is there is all that is asked. */
const POD_METRICS = makeResource({
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  plural: 'pods',
  kind: 'PodMetrics',
});

/** What the HPA controller writes once it has metrics. */
const COMPUTED = {
  currentReplicas: 2,
  desiredReplicas: 2,
  currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageValue: '1m' } } }],
};

/** What a metrics API of the run's own takes. */
const AGGREGATION = [
  makeResource(
    { group: 'apiregistration.k8s.io', version: 'v1', plural: 'apiservices', kind: 'APIService' },
    { namespaced: false, subresources: ['status'] },
  ),
  makeResource({ group: '', version: 'v1', plural: 'services', kind: 'Service' }),
  makeResource({ group: '', version: 'v1', plural: 'endpoints', kind: 'Endpoints' }),
];

/** The simulator stands for a cluster with metrics-server, this test for its HPA controller. */
(CLUSTER === null ? describe : describe.skip)('npm run test:e2e on a cluster with metrics-server', () => {
  let simulator: Simulator;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'promscaler-hpa-'));
    simulator = await startSimulator({ clock: SYSTEM_CLOCK, resources: [POD_METRICS] });
    await writeFile(join(folder, 'kubeconfig'), simulator.kubeconfig({ isForKubectl: true }));
  });

  afterAll(async () => {
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** What the controller writes at its first sync. */
  const answerHpas = async (): Promise<void> => {
    for (const { metadata } of simulator.listObjects(HPAS)) {
      const path = `/apis/autoscaling/v2/namespaces/${metadata.namespace ?? ''}/horizontalpodautoscalers`;
      await fetch(`${simulator.url}${path}/${metadata.name}/status`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify({ status: COMPUTED }),
      });
    }
  };

  it('tries the dry run beside an HPA, which is gone with the namespace afterwards', async () => {
    const kubeconfig = join(folder, 'kubeconfig');
    const env = { ...process.env, TMPDIR: folder, PROMSCALER_E2E_KUBECONFIG: kubeconfig };
    const child = spawn(process.execPath, [MAIN, 'shadow'], { cwd: ROOT, env });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    const timer = setInterval(() => void answerHpas().catch(() => undefined), 500);
    await once(child, 'close').finally(() => clearInterval(timer));

    expect(output).toContain('1 passed');
    expect(output).not.toContain('no metrics-server answers');
    expect(child.exitCode).toBe(0);
    expect(
      simulator.requests().some(({ method, path }) => method === 'POST' && path.includes('horizontal')),
    ).toBe(true);
    expect(simulator.listObjects(HPAS)).toEqual([]);
  });
});

/** The simulator stands for a cluster without metrics-server; this test for its aggregator and its HPA controller. */
(CLUSTER === null ? describe : describe.skip)('npm run test:e2e with a metrics API of its own', () => {
  let simulator: Simulator;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'promscaler-metrics-'));
    simulator = await startSimulator({ clock: SYSTEM_CLOCK, resources: AGGREGATION });
    await writeFile(join(folder, 'kubeconfig'), simulator.kubeconfig({ isForKubectl: true }));
  });

  afterAll(async () => {
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  });

  const patchStatus = async (path: string, status: unknown): Promise<void> => {
    await fetch(`${simulator.url}${path}/status`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ status }),
    });
  };

  /** What the aggregator finds behind the APIService; null while there is none. */
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

  it('registers it, has the HPA answered by it, and removes it and the definition of Scalers', async () => {
    const env = {
      ...process.env,
      TMPDIR: folder,
      PROMSCALER_E2E_KUBECONFIG: join(folder, 'kubeconfig'),
      PROMSCALER_E2E_METRICS_ADDRESS: '127.0.0.1',
    };
    const child = spawn(process.execPath, [MAIN, 'shadow', 'pause', 'custom-resources'], { cwd: ROOT, env });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
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

    expect(output).toContain('3 passed, 0 failed, 0 skipped');
    expect(child.exitCode).toBe(0);
    expect([...answers]).toEqual(['1m']);
    const kinds = ['apiregistration.k8s.io/apiservices', '/services', '/endpoints', HPAS, DEFINITIONS];
    for (const kind of kinds) expect(simulator.listObjects(kind)).toEqual([]);
  });
});

interface PodMetrics {
  readonly containers: readonly { readonly usage: { readonly cpu: string } }[];
}
