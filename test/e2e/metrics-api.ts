import { once } from 'node:events';
import { createServer } from 'node:https';
import { TEST_CERTIFICATE, TEST_KEY } from '../prometheus/tls-fixture.js';
import type { PresentPod } from './pod-exporter.js';

/** The name of the APIService: that of metrics-server. */
export const METRICS_API_SERVICE = 'v1beta1.metrics.k8s.io';

const GROUP_VERSION = 'metrics.k8s.io/v1beta1';
const NAME = 'promscaler-e2e-metrics';

/** Almost nothing of the 10m that a pod requests: an HPA wants its minimum. */
const USAGE = { cpu: '1m', memory: '1Mi' };

/** The part of the metrics API that the HPA controller reads. */
export interface MetricsApi {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/**
 * Serves PodMetrics of the pods that `list` returns, on `address`, by which the API server of the cluster reaches this
 * machine. Its values are artificial and not secret.
 */
export async function startMetricsApi(
  namespace: string,
  address: string,
  list: () => readonly PresentPod[],
): Promise<MetricsApi> {
  const server = createServer({ cert: TEST_CERTIFICATE, key: TEST_KEY }, (incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'https://localhost');
    const body = answerTo(namespace, list(), pathname, searchParams.get('labelSelector') ?? '');
    response.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }));
  });
  server.listen(0, address);
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the metrics API has no port');
  return {
    port: bound.port,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * Returns the objects with which the API server of the cluster requests metrics from `address`:`port`, in the order of
 * their creation.
 */
export function metricsApiObjects(
  namespace: string,
  address: string,
  port: number,
): readonly { readonly path: string; readonly body: Readonly<Record<string, unknown>> }[] {
  const metadata = { name: NAME, namespace };
  const ports = [{ name: 'https', port: 443, targetPort: port, protocol: 'TCP' }];
  return [
    { path: '/services', body: { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports } } },
    {
      path: '/endpoints',
      body: {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata,
        subsets: [{ addresses: [{ ip: address }], ports: [{ name: 'https', port, protocol: 'TCP' }] }],
      },
    },
    {
      path: '/apis/apiregistration.k8s.io/v1/apiservices',
      body: {
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: { name: METRICS_API_SERVICE, labels: { 'promscaler.dev/e2e': 'run' } },
        spec: {
          group: 'metrics.k8s.io',
          version: 'v1beta1',
          groupPriorityMinimum: 100,
          versionPriority: 100,
          insecureSkipTLSVerify: true,
          service: { name: NAME, namespace, port: 443 },
        },
      },
    },
  ];
}

function answerTo(namespace: string, pods: readonly PresentPod[], path: string, selector: string): unknown {
  const root = `/apis/${GROUP_VERSION}`;
  if (path === root)
    return {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: GROUP_VERSION,
      resources: [
        { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
      ],
    };
  if (path !== `${root}/namespaces/${namespace}/pods`) return null;
  const wanted = /^app=([^,]+)$/.exec(selector)?.[1];
  const items = pods
    .filter(({ workload }) => wanted === undefined || workload === wanted)
    .map(({ name, workload }) => ({
      metadata: { name, namespace, labels: { app: workload } },
      timestamp: new Date().toISOString(),
      window: '10s',
      containers: [{ name: 'app', usage: USAGE }],
    }));
  return { kind: 'PodMetricsList', apiVersion: GROUP_VERSION, metadata: {}, items };
}
