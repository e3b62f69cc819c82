import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { LEASE_NAME } from '../../src/service/own-objects.js';
import { demoStateMaps } from '../../src/cli/demo/workloads.js';
import { openClusterApi } from './cluster-api.js';
import type { ClusterApi } from './cluster-api.js';
import { hpaManifest } from './hpa-manifest.js';
import { METRICS_API_SERVICE, metricsApiObjects, startMetricsApi } from './metrics-api.js';
import { startPodExporter } from './pod-exporter.js';
import type { PodExporter, PresentPod } from './pod-exporter.js';
import type { ReplicaHistory } from './replica-history.js';
import type { Engine } from './engine.js';
import { startStage } from './stage.js';
import { pause, waitFor } from './waiting.js';
import type { GivenCluster } from './waiting.js';
import type { Workload, Fixture } from './fixture.js';

/** Small enough for twelve pods on the smallest cluster. */
const REQUEST_CORES = 0.01;
/** Ten thousand cores: no machine has them. */
const TOO_MANY_MILLICORES = 10_000_000;
/** A pod's sample counts once it has been ready for the window of the rate (10 s). */
const FIRST_WINDOW_SECONDS = 12;

/**
 * Starts a fixture in one namespace of a real cluster. Its pods do nothing; an exporter of this process reports their
 * usage, and a Prometheus on this machine scrapes it. The service runs on this machine, too, with the permissions of
 * the kubeconfig.
 */
export async function startClusterFixture(
  cluster: GivenCluster,
  workloads: readonly Workload[],
  engine: Engine,
): Promise<Fixture> {
  const { namespace, kubeconfig, abilities } = cluster;
  const keepsState = abilities.has('state');
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'k-'));
    closers.push(() => rm(folder, { recursive: true, force: true }));
    const api = await openClusterApi(cluster, folder);
    closers.push(api.close);
    const exporter = await startPodExporter(namespace, () => listPods(api));
    closers.push(exporter.close);
    closers.push(() => removeWorkloads(api, workloads));
    if (keepsState) await createState(api, namespace, closers);
    closers.push(async () => {
      await api.send('DELETE', `/leases/${LEASE_NAME}`).catch(() => undefined);
    });
    const stage = await startStage({
      engine,
      scrapeConfigs: JSON.stringify([
        { job_name: 'pods', honor_labels: true, static_configs: [{ targets: [exporter.address] }] },
      ]),
      kubernetes: { kubeconfig, namespaces: [namespace] },
      keepsState,
      ownNamespace: namespace,
    });
    closers.push(stage.close);
    const histories = new Map<string, ReplicaHistory>();
    const setLoad = (name: string, load: number): void => exporter.setCores(name, load * REQUEST_CORES);
    for (const workload of workloads) {
      setLoad(workload.name, workload.load);
      await api.send('POST', '/deployments', deploymentOf(workload));
      histories.set(workload.name, api.recordReplicas(workload.name));
    }
    await waitUntilReady(api, workloads);
    const addHpa = hpaAdder({ api, cluster, exporter, closers });
    const history: Fixture['history'] = (name) => histories.get(name)?.changes() ?? [];
    const own = { addHpa, history, kubeconfig, namespace, simulator: null, setLoad, close };
    return { ...stage, ...views(api), ...own };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Creates ConfigMaps for the state of the service, in the namespace of the run. */
async function createState(
  api: ClusterApi,
  namespace: string,
  closers: (() => Promise<void>)[],
): Promise<void> {
  const maps = demoStateMaps(namespace);
  closers.push(async () => {
    for (const { metadata } of maps)
      await api.send('DELETE', `/configmaps/${metadata.name}`).catch(() => undefined);
  });
  for (const map of maps) await api.send('POST', '/configmaps', map);
}

function views(api: ClusterApi): Pick<Fixture, 'replicas' | 'changes' | 'events' | 'leaseHolder'> {
  const read = async (name: string, field: readonly string[]): Promise<number> =>
    numberAt(await api.send('GET', `/deployments/${name}`), field);
  return {
    replicas: (name) => read(name, ['spec', 'replicas']),
    // The generation counts changes of the spec; only the replicas change.
    changes: async (name) => (await read(name, ['metadata', 'generation'])) - 1,
    events: async () => JSON.stringify(await api.send('GET', '/events')),
    leaseHolder: async () => {
      const holder = at(await api.send('GET', `/leases/${LEASE_NAME}`), ['spec', 'holderIdentity']);
      return typeof holder === 'string' ? holder : undefined;
    },
  };
}

/** Creates HPAs. An HPA has desired replicas once it has metrics of the pods; those here use almost nothing. */
function hpaAdder({ api, cluster, exporter, closers }: HpaParts): Fixture['addHpa'] {
  const { namespace, metricsAddress } = cluster;
  return async (name, min) => {
    if (metricsAddress !== '') await registerMetricsApi({ api, cluster, exporter, closers });
    const path = `/horizontalpodautoscalers/${name}`;
    closers.push(async () => {
      await api.send('DELETE', path).catch(() => undefined);
    });
    await api.send('POST', '/horizontalpodautoscalers', hpaManifest(namespace, name, min));
    const hasSaid = async (): Promise<boolean> =>
      at(await api.send('GET', path), ['status', 'desiredReplicas']) === min;
    await waitFor(hasSaid, { what: `the HPA ${name} to want ${min}` });
  };
}

interface HpaParts {
  readonly api: ClusterApi;
  readonly cluster: GivenCluster;
  readonly exporter: PodExporter;
  readonly closers: (() => Promise<void>)[];
}

/** Registers a metrics API of this process with an APIService, until the fixture is closed. */
async function registerMetricsApi({ api, cluster, exporter, closers }: HpaParts): Promise<void> {
  const { namespace, metricsAddress } = cluster;
  const metricsApi = await startMetricsApi(namespace, metricsAddress, exporter.readyPods);
  closers.push(metricsApi.close);
  for (const { path, body } of metricsApiObjects(namespace, metricsAddress, metricsApi.port)) {
    const name = String(at(body, ['metadata', 'name']));
    closers.push(async () => {
      await api.send('DELETE', `${path}/${name}`).catch(() => undefined);
    });
    await api.send('POST', path, body);
  }
  const path = `/apis/apiregistration.k8s.io/v1/apiservices/${METRICS_API_SERVICE}`;
  const isAvailable = async (): Promise<boolean> => {
    const conditions = at(await api.send('GET', path), ['status', 'conditions']);
    return (
      Array.isArray(conditions) &&
      conditions.some((one) => at(one, ['type']) === 'Available' && at(one, ['status']) === 'True')
    );
  };
  await waitFor(isAvailable, { what: `the API server to reach ${metricsAddress}` });
}

async function listPods(api: ClusterApi): Promise<readonly PresentPod[]> {
  const pods = itemsOf(await api.send('GET', '/pods'));
  return pods.map((pod) => {
    const conditions = at(pod, ['status', 'conditions']);
    const isReady =
      Array.isArray(conditions) &&
      conditions.some((one) => at(one, ['type']) === 'Ready' && at(one, ['status']) === 'True');
    return {
      name: String(at(pod, ['metadata', 'name'])),
      workload: String(at(pod, ['metadata', 'labels', 'app'])),
      isReady: isReady && at(pod, ['metadata', 'deletionTimestamp']) === undefined,
    };
  });
}

async function waitUntilReady(api: ClusterApi, workloads: readonly Workload[]): Promise<void> {
  for (const { name, replicas, isTooLarge = false } of workloads) {
    if (isTooLarge) continue;
    const isThere = async (): Promise<boolean> => {
      const deployment = await api.send('GET', `/deployments/${name}`);
      return at(deployment, ['status', 'readyReplicas']) === replicas;
    };
    await waitFor(isThere, { what: `${replicas} ready pods of ${name}` });
  }
  await pause(FIRST_WINDOW_SECONDS);
}

/** Removes workloads, because the next fixture may use the same names. The namespace removal deletes the rest. */
async function removeWorkloads(api: ClusterApi, workloads: readonly Workload[]): Promise<void> {
  const names = new Set(workloads.map(({ name }) => name));
  for (const name of names) await api.send('DELETE', `/deployments/${name}`).catch(() => undefined);
  const areGone = async (): Promise<boolean> =>
    !(await listPods(api)).some(({ workload }) => names.has(workload));
  await waitFor(areGone, { what: 'the pods to be deleted' }).catch(() => undefined);
}

/** Builds pods that do nothing and meet the restricted Pod Security Standard. */
function deploymentOf({ name, replicas, isTooLarge = false }: Workload): unknown {
  const millicores = isTooLarge ? TOO_MANY_MILLICORES : REQUEST_CORES * 1000;
  const manifest: unknown = parse(`
apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name} }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 1
      securityContext: { runAsNonRoot: true, runAsUser: 65535, seccompProfile: { type: RuntimeDefault } }
      containers:
        - name: app
          image: registry.k8s.io/pause:3.10
          resources: { requests: { cpu: ${millicores}m, memory: 8Mi }, limits: { memory: 32Mi } }
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
`);
  return manifest;
}

function itemsOf(list: unknown): readonly unknown[] {
  const items = at(list, ['items']);
  return Array.isArray(items) ? (items as readonly unknown[]) : [];
}

function numberAt(value: unknown, path: readonly string[]): number {
  const found = at(value, path);
  if (typeof found !== 'number') throw new Error(`${path.join('.')} is no number: ${JSON.stringify(found)}`);
  return found;
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (current, step) =>
      typeof current === 'object' && current !== null
        ? (current as Readonly<Record<string, unknown>>)[step]
        : undefined,
    value,
  );
}
