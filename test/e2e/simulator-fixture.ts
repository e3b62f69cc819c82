import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { demoStateMaps } from '../../src/cli/demo/workloads.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { constant, type Curve } from '../../src/simulator/controllers/load.js';
import { startSimulator } from '../../src/simulator/simulator.js';
import type { Engine } from './engine.js';
import { hpaManifest } from './hpa-manifest.js';
import { startStage } from './stage.js';
import type { Workload, Fixture } from './fixture.js';

const NAMESPACE = 'shop';
/** The namespace of the service, for its Lease and its state. */
const OWN_NAMESPACE = 'default';
/** A request takes 50 ms of a core and a pod requests 0.5 cores: 10 requests/s use the request of one pod. */
const REQUESTS_PER_SECOND = 10;

/**
 * Starts a fixture on the embedded cluster, with ready pods that are an hour old and ConfigMaps for the state of the
 * service.
 */
export async function startSimulatorFixture(
  workloads: readonly Workload[],
  engine: Engine,
): Promise<Fixture> {
  const simulator = await startSimulator({
    clock: SYSTEM_CLOCK,
    workloads: workloads.map(({ name, replicas, load, isTooLarge = false }) => ({
      namespace: NAMESPACE,
      name,
      replicas,
      behavior: {
        load: curveOf(load),
        ...(isTooLarge ? { timing: { startSeconds: Number.POSITIVE_INFINITY } } : {}),
      },
      ...(isTooLarge ? { podAgeSeconds: null } : {}),
    })),
  });
  for (const manifest of demoStateMaps(OWN_NAMESPACE)) simulator.addObject(manifest);
  const scrapeConfigs = [
    {
      job_name: 'cluster',
      honor_labels: true,
      http_sd_configs: [{ url: simulator.sdUrl, refresh_interval: '1s' }],
    },
  ];
  const stage = await startStage({
    engine,
    scrapeConfigs: JSON.stringify(scrapeConfigs),
    kubernetes: { url: simulator.url },
    keepsState: true,
    ownNamespace: OWN_NAMESPACE,
  });
  const kubeconfig = join(stage.folder, 'kubeconfig');
  await writeFile(kubeconfig, simulator.kubeconfig({ namespace: NAMESPACE, isForKubectl: true }));
  const workload = (name: string): { namespace: string; name: string } => ({ namespace: NAMESPACE, name });
  return {
    ...stage,
    namespace: NAMESPACE,
    kubeconfig,
    simulator,
    setLoad: (name, load) => simulator.setLoad(workload(name), curveOf(load)),
    replicas: (name) => Promise.resolve(simulator.describe(workload(name)).replicas),
    changes: (name) => {
      const patches = simulator
        .requests()
        .filter((one) => one.name === name && one.subresource === 'scale' && one.verb === 'patch');
      return Promise.resolve(patches.length);
    },
    history: (name) =>
      simulator
        .requests()
        .filter(
          (one) => one.name === name && one.subresource === 'scale' && one.verb === 'patch' && one.isApplied,
        )
        .map(({ monotonicMs, body }) => ({
          seconds: monotonicMs / 1000,
          replicas: (JSON.parse(body ?? '{}') as { spec: { replicas: number } }).spec.replicas,
        })),
    leaseHolder: () => {
      const lease = simulator.getObject('coordination.k8s.io/leases', OWN_NAMESPACE, 'promscaler');
      return Promise.resolve((lease?.['spec'] as { holderIdentity?: string } | undefined)?.holderIdentity);
    },
    addHpa: (name, min) => {
      // There is no HPA controller: its status does not change.
      simulator.addObject({
        ...hpaManifest(NAMESPACE, name, min),
        status: {
          currentReplicas: min,
          desiredReplicas: min,
          currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageValue: '1m' } } }],
        },
      });
      return Promise.resolve();
    },
    events: () => Promise.resolve(JSON.stringify(simulator.listObjects('/events', NAMESPACE))),
    close: async () => {
      await stage.close();
      await simulator.close();
    },
  };
}

function curveOf(load: number): Curve {
  return constant(load * REQUESTS_PER_SECOND);
}
