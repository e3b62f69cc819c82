import { serialize } from 'node:v8';
import { resolveServiceConfig } from '../../src/config/resolve-service-config.js';
import type { ClusterPod } from '../../src/kubernetes/api/types.js';
import type { PrometheusClient, PrometheusServer } from '../../src/prometheus/client/client.js';
import type { SourceConfig } from '../../src/prometheus/data-source/source-config.js';
import { parseScaler } from '../../src/scaler/read/parse-scaler.js';
import type { ExternalMetric, MetricSpec, Scaler, TargetRef } from '../../src/scaler/spec.js';
import { addSeconds, type Instant, instantFromMs } from '../../src/units/time.js';

/** 2026-01-01T00:00:00Z, where a `ManualClock` starts. */
export const T0: Instant = instantFromMs(Date.UTC(2026, 0, 1));

export function at(seconds: number): Instant {
  return addSeconds(T0, seconds);
}

/** The target of `aScaler()`. */
export const WORKLOAD: TargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

interface Place {
  readonly name?: string;
  readonly namespace?: string;
}

/** Builds a document with this spec, by default `shop/web`, without validation. */
export function aDocument<Spec>(
  spec: Spec,
  { name = 'web', namespace = 'shop' }: Place = {},
): Readonly<Record<string, unknown>> & { readonly spec: Spec } {
  return { apiVersion: 'promscaler.dev/v1', kind: 'Scaler', metadata: { name, namespace }, spec };
}

const MOST_SCALERS = 1000;
/** By spec and place. They are frozen, so that tests can share them. */
const scalers = new Map<string, Scaler>();

/** Builds the scaler of a document with this spec, by default `shop/web`. Throws for an invalid one. */
export function scalerOf(spec: Readonly<Record<string, unknown>>, place: Place = {}): Scaler {
  const key = serialize([spec, place]).toString('latin1');
  const scaler = scalers.get(key) ?? parse(spec, place);
  if (scalers.size >= MOST_SCALERS) scalers.clear();
  scalers.set(key, scaler);
  return scaler;
}

function parse(spec: Readonly<Record<string, unknown>>, place: Place): Scaler {
  const { scaler, problems } = parseScaler(aDocument(spec, place));
  if (scaler === null || problems.some(({ severity }) => severity === 'error'))
    throw new Error(JSON.stringify(problems));
  return scaler;
}

/** Builds a scaler of 1 to 10 replicas for the Deployment of its name with these metrics and defaults. */
export function aScaler(metrics: readonly MetricSpec[], namespace = 'shop', name = 'web'): Scaler {
  const scaler = scalerOf({ scaleTargetRef: { name }, maxReplicas: 10 }, { name, namespace });
  return { ...scaler, spec: { ...scaler.spec, metrics } };
}

export const cpuMetric: MetricSpec = {
  type: 'Resource',
  name: 'cpu',
  identity: 'cpu',
  source: 'default',
  target: { type: 'Utilization', percent: 80 },
};

/** Builds a metric with a total target of 1. */
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

const [DEFAULT_SOURCE] = Object.values(
  resolveServiceConfig({ prometheus: { default: { resourceWindowSeconds: 120 } } }, null).prometheus,
);

/** Builds the data source `default` with its default settings and a window of 120 s, at an address where nothing listens. */
export function aSource(overrides: Partial<SourceConfig> = {}): SourceConfig {
  if (DEFAULT_SOURCE === undefined) throw new Error('no data source by default');
  return { ...DEFAULT_SOURCE, urls: ['http://127.0.0.1:1'], ...overrides };
}

/** Builds the client of a data source with one server. */
export function aClient(config: SourceConfig, server: PrometheusServer): PrometheusClient {
  return {
    ...server,
    servers: [server],
    recognize: () => Promise.resolve(true),
    fittingConfig: () => config,
    series: () => ({ known: 0, read: 0 }),
  };
}

/** Builds a pod that is ready since T0 and requests nothing. */
export function aPod(name = 'web-1', overrides: Partial<ClusterPod> = {}): ClusterPod {
  return {
    name,
    phase: 'Running',
    deleting: false,
    startTime: T0,
    ready: true,
    readyChangedAt: T0,
    requests: new Map(),
    podRequests: null,
    ...overrides,
  };
}
