import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { makeResource } from '../../src/simulator/api/resources.js';
import { startSimulator } from '../../src/simulator/simulator.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { CLUSTER, E2E_TIMEOUT_MS } from './waiting.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'dist-e2e/test/e2e/main.js');
const HPAS = 'autoscaling/horizontalpodautoscalers';

/** What metrics-server brings: that it is there is all that is asked. */
const POD_METRICS = makeResource({
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  plural: 'pods',
  kind: 'PodMetrics',
});

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
        body: JSON.stringify({ status: { currentReplicas: 2, desiredReplicas: 2 } }),
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
