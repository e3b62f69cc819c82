import { once } from 'node:events';
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

/** Represents metrics-server: only its presence matters. */
const POD_METRICS = makeResource({
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  plural: 'pods',
  kind: 'PodMetrics',
});

/** The simulator replaces a cluster with metrics-server, and this test its HPA controller. */
(CLUSTER === null ? describe : describe.skip)('npm run test:e2e on a cluster with metrics-server', () => {
  let simulator: Simulator;
  let runs: InnerRuns;

  beforeAll(async () => {
    simulator = await startSimulator({ clock: SYSTEM_CLOCK, resources: [POD_METRICS] });
    runs = await openInnerRuns(simulator, 'hpa');
  });

  afterAll(async () => {
    await simulator.close();
    await runs.close();
  });

  /** Writes the status as the controller does at its first sync. */
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

  it('tests the dry run next to an HPA, which is deleted with the namespace afterwards', async () => {
    const { child, output } = runs.start(['shadow']);
    const timer = setInterval(() => void answerHpas().catch(() => undefined), 500);
    await once(child, 'close').finally(() => clearInterval(timer));

    expect(output()).toContain('1 passed');
    expect(output()).not.toContain('no metrics-server answers');
    expect(child.exitCode).toBe(0);
    expect(
      simulator.requests().some(({ method, path }) => method === 'POST' && path.includes('horizontal')),
    ).toBe(true);
    expect(simulator.listObjects(HPAS)).toEqual([]);
  });
});
