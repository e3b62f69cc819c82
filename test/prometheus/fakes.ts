import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Pod } from '../../src/decision/snapshot.js';
import type { Answer, Series } from '../../src/prometheus/answer.js';
import type { SourceConfig } from '../../src/prometheus/source-config.js';
import type { ExternalMetric, MetricSpec, Scaler } from '../../src/scaler/spec.js';
import type { Clock } from '../../src/units/clock.js';
import { addSeconds, type Instant, instantFromMs } from '../../src/units/time.js';

/** 2026-01-01T00:00:00Z. */
export const T0: Instant = instantFromMs(Date.UTC(2026, 0, 1));

export const at = (seconds: number): Instant => addSeconds(T0, seconds);

/** Real timers, for real sockets. */
export const realClock: Clock = {
  now: () => instantFromMs(Date.now()),
  monotonicMs: () => performance.now(),
  random: () => 0.5,
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

export function aSource(overrides: Partial<SourceConfig> = {}): SourceConfig {
  return {
    name: 'default',
    urls: ['http://127.0.0.1:1'],
    flavor: 'prometheus',
    timeoutSeconds: 10,
    maxConcurrentQueries: 10,
    scrapeIntervalSeconds: 30,
    headers: {},
    bearerTokenFile: null,
    basicAuth: null,
    signIn: null,
    tls: null,
    resourceWindowSeconds: 120,
    resourceQueries: {
      cpu: 'sum by (namespace, pod, container) (rate(cpu_seconds_total{namespace=~"$namespaces"}[$window]))',
      memory: 'sum by (namespace, pod, container) (memory_bytes{namespace=~"$namespaces"})',
    },
    namespaces: [],
    ...overrides,
  };
}

export function aPod(name: string): Pod {
  return {
    name,
    phase: 'Running',
    deleting: false,
    startTime: T0,
    ready: true,
    readyChangedAt: T0,
    requests: new Map(),
    podRequests: null,
  };
}

export const cpuMetric: MetricSpec = {
  type: 'Resource',
  name: 'cpu',
  identity: 'cpu',
  source: 'default',
  target: { type: 'Utilization', percent: 80 },
};

export function externalMetric(overrides: Partial<ExternalMetric> = {}): ExternalMetric {
  return {
    type: 'External',
    name: 'queue',
    identity: 'queue',
    source: 'default',
    target: { type: 'Value', milli: 1000n },
    query: 'sum(queue)',
    selector: [],
    activation: null,
    onMissing: 'error',
    onNaN: 'error',
    guard: null,
    freshness: null,
    ...overrides,
  };
}

export function aScaler(metrics: readonly MetricSpec[], namespace = 'shop', name = 'web'): Scaler {
  return {
    namespace,
    name,
    document: {
      apiVersion: 'promscaler.dev/v1',
      kind: 'Scaler',
      metadata: { name, namespace },
      spec: {},
    },
    spec: {
      preset: 'hpa',
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      minReplicas: 1,
      maxReplicas: 10,
      metrics,
      behavior: null,
      tolerance: 0.1,
      scaleUpLimit: { factor: 2, minimum: 4, isExplicit: false },
      upscaleForbiddenWindowSeconds: 0,
      downscaleForbiddenWindowSeconds: 0,
      forbiddenWindowsSince: 'SameDirection',
      cpuInitializationPeriodSeconds: 300,
      initialReadinessDelaySeconds: 30,
      downscaleStabilizationSeconds: 300,
      downscaleConfirmation: null,
      maxScaleDownPercentPerWindow: null,
      podWarmupSeconds: 0,
      syncPeriodSeconds: 15,
      dryRun: false,
      paused: false,
      schedules: [],
      fallback: null,
      podDeletionCost: null,
      cooldownSeconds: 300,
    },
  };
}

export function values(series: readonly Series[], evaluatedAt: Instant = T0): Answer {
  return { class: 'value', series, evaluatedAt };
}

/** A Prometheus API body with a vector. */
export function vectorBody(series: readonly Series[], seconds = T0 / 1000): string {
  const result = series.map(({ labels, value }) => ({ metric: labels, value: [seconds, String(value)] }));
  return JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
}

export interface FakeServer {
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  readonly close: () => Promise<void>;
}

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly form: URLSearchParams;
}

/** A server on an ephemeral loopback port that keeps what it was asked. */
export async function startServer(
  respond: (response: Parameters<RequestListener>[1], request: RecordedRequest) => void,
): Promise<FakeServer> {
  const requests: RecordedRequest[] = [];
  const server: Server = createServer((message, response) => {
    let body = '';
    message.setEncoding('utf8');
    message.on('data', (chunk: string) => (body += chunk));
    message.on('end', () => {
      const { method = '', url = '', headers } = message;
      const request = { method, url, headers, form: new URLSearchParams(body) };
      requests.push(request);
      respond(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
