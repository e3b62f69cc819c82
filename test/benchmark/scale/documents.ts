import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CPU_PERCENT, PERIOD_SECONDS, REQUESTS_PER_SECOND_PER_POD, workloadsOf } from './workloads.js';
import type { Workload, SimulationSize } from './workloads.js';

export interface Addresses {
  readonly prometheusUrl: string;
  readonly kubernetesUrl: string;
  readonly port: number;
}

/** A ConfigMap has at most 1 MiB. */
const DOCUMENTS_PER_CONFIG_MAP = 1000;
const VERSION_DIRECTORY = '..2026_01_01_00_00_00.000000001';

/** Writes one file per document into `folder`, in directories as the kubelet mounts ConfigMaps. */
export async function writeDocuments(folder: string, size: SimulationSize): Promise<void> {
  const workloads = workloadsOf(size);
  for (let first = 0; first < workloads.length; first += DOCUMENTS_PER_CONFIG_MAP) {
    const part = String(first / DOCUMENTS_PER_CONFIG_MAP).padStart(2, '0');
    await mountConfigMap(
      join(folder, 'scalers', part),
      workloads.slice(first, first + DOCUMENTS_PER_CONFIG_MAP),
      size,
    );
  }
}

/** Writes the service config for the documents in `folder`. Returns its path. */
export async function writeConfig(folder: string, addresses: Addresses): Promise<string> {
  const config = join(folder, 'promscaler.yaml');
  await writeFile(config, configOf(addresses));
  return config;
}

async function mountConfigMap(
  mount: string,
  workloads: readonly Workload[],
  size: SimulationSize,
): Promise<void> {
  await mkdir(join(mount, VERSION_DIRECTORY), { recursive: true });
  await symlink(VERSION_DIRECTORY, join(mount, '..data'));
  for (const workload of workloads) {
    const file = `${workload.name}.yaml`;
    await writeFile(join(mount, VERSION_DIRECTORY, file), documentOf(workload, size));
    await symlink(join('..data', file), join(mount, file));
  }
}

/** As in a pod with the Helm chart: leader election and persisted state are on. */
export function configOf({ prometheusUrl, kubernetesUrl, port }: Addresses): string {
  return `prometheus:
  default: { urls: [${prometheusUrl}] }
kubernetes: { url: ${kubernetesUrl} }
scalers: { paths: [scalers] }
server: { port: ${port} }
state: { enabled: true }
leaderElection: { enabled: true }
defaults: { syncPeriodSeconds: ${PERIOD_SECONDS} }
log: { level: warn }
`;
}

function documentOf(
  { namespace, name, kind }: Workload,
  { pods, hasForecasts = false }: SimulationSize,
): string {
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  scaleTargetRef: { name: ${name} }
  minReplicas: 2
  maxReplicas: ${pods * 5}${hasForecasts ? "\n  forecast: { lead: '120s' }" : ''}
  metrics:
${METRICS[kind](name)}`;
}

const OWN_QUERY = 'sum by (pod) (rate(http_requests_total{namespace="$namespace", pod=~"$pods"}[2m]))';
const SHARED_QUERY = 'sum by (service, pod) (rate(http_requests_total{namespace="$namespace"}[2m]))';
const REQUESTS_TARGET = `target: { averageValue: ${REQUESTS_PER_SECOND_PER_POD} }`;

const METRICS: Readonly<Record<Workload['kind'], (name: string) => string>> = {
  cpu: () => `    - resource: { name: cpu, target: { averageUtilization: ${CPU_PERCENT} } }\n`,
  own: () => `    - pods:
        query: ${OWN_QUERY}
        ${REQUESTS_TARGET}
`,
  shared: (name) => `    - pods:
        metric: { selector: { matchLabels: { service: ${name} } } }
        query: ${SHARED_QUERY}
        ${REQUESTS_TARGET}
`,
};
