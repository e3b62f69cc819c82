import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { allWorkloads, CPU_PERCENT, REQUESTS_PER_SECOND_PER_POD } from './workloads.js';
import type { Workload } from './workloads.js';

/** The documents of the service. */
export interface Variant {
  readonly title: string;
  /** Number of scalers that also have a Pods metric with a query that is the same for all, without variables. */
  readonly shared: number;
  /** Number of scalers that also have a Pods metric with their own query. */
  readonly own: number;
}

export const SCRAPE_SECONDS = 2;
export const PERIOD_SECONDS = 4;
const RATE_SECONDS = 10;

/** Returns the queries of a round: cpu and the shared query once for all namespaces, the others once for each. */
export function distinctQueries(variant: Variant): number {
  const owners = allWorkloads().filter((_, index) => hasOwnQuery(index, variant));
  return 1 + Math.min(variant.shared, 1) + new Set(owners.map(({ namespace }) => namespace)).size;
}

/** Returns the number of metrics of all documents of a variant. */
export function metricsOf({ shared, own }: Variant): number {
  return allWorkloads().length + shared + own;
}

/** Writes service config and documents, one file each, into a directory; returns the path of the config. */
export async function writeDocuments(
  folder: string,
  variant: Variant,
  addresses: { readonly prometheusUrl: string; readonly kubernetesUrl: string; readonly port: number },
): Promise<string> {
  await mkdir(join(folder, 'scalers'), { recursive: true });
  for (const [index, workload] of allWorkloads().entries()) {
    const file = join(folder, 'scalers', `${workload.namespace}-${workload.name}.yaml`);
    await writeFile(file, documentOf(workload, index, variant));
  }
  const config = join(folder, 'promscaler.yaml');
  await writeFile(
    config,
    `prometheus:
  default:
    urls: [${addresses.prometheusUrl}]
    scrapeIntervalSeconds: ${SCRAPE_SECONDS}
    resourceWindowSeconds: ${RATE_SECONDS}
kubernetes: { url: ${addresses.kubernetesUrl} }
scalers: { paths: [scalers] }
server: { port: ${addresses.port} }
defaults: { syncPeriodSeconds: ${PERIOD_SECONDS} }
log: { level: warn }
`,
  );
  return config;
}

/** Builds a document; every other one has the shared query, so that all namespaces have it. */
function documentOf({ namespace, name }: Workload, index: number, variant: Variant): string {
  const hasShared = index % 2 === 0 && index / 2 < variant.shared;
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  scaleTargetRef: { name: ${name} }
  minReplicas: 2
  maxReplicas: 20
  metrics:
    - resource: { name: cpu, target: { averageUtilization: ${CPU_PERCENT} } }
${hasShared ? podsMetric('requests', sharedQuery(), `, selector: { matchLabels: { service: ${name} } }`) : ''}${
    hasOwnQuery(index, variant) ? podsMetric('own-requests', OWN_QUERY, '') : ''
  }`;
}

function hasOwnQuery(index: number, { own }: Variant): boolean {
  return index % 100 === 1 && (index - 1) / 100 < own;
}

function podsMetric(name: string, query: string, selector: string): string {
  return `    - pods:
        metric: { name: ${name}${selector} }
        query: ${query}
        target: { averageValue: ${REQUESTS_PER_SECOND_PER_POD} }
`;
}

function sharedQuery(): string {
  return `sum by (namespace, service, pod) (rate(http_requests_total[${RATE_SECONDS}s]))`;
}

const OWN_QUERY = `sum by (pod) (rate(http_requests_total{namespace="$namespace", pod=~"$pods"}[${RATE_SECONDS}s]))`;
