import { serialize } from 'node:v8';
import { resolveServiceConfig } from '../../src/config/resolve-service-config.js';
import type { ClusterPod } from '../../src/kubernetes/types.js';
import type { SourceConfig } from '../../src/prometheus/source-config.js';
import { parseScaler } from '../../src/scaler/parse-scaler.js';
import type { ExternalMetric, MetricSpec, Scaler } from '../../src/scaler/spec.js';
import { addSeconds, instantFromMs } from '../../src/units/time.js';
import type { Instant } from '../../src/units/time.js';

/** 2026-01-01T00:00:00Z, where a `ManualClock` starts. */
export const T0: Instant = instantFromMs(Date.UTC(2026, 0, 1));

/** T0 plus seconds. */
export function at(seconds: number): Instant {
  return addSeconds(T0, seconds);
}

interface Place {
  readonly name?: string;
  readonly namespace?: string;
}

/** A document with this spec, `shop/web` unless said otherwise; nothing of it is checked. */
export function aDocument<Spec>(
  spec: Spec,
  { name = 'web', namespace = 'shop' }: Place = {},
): Readonly<Record<string, unknown>> & { readonly spec: Spec } {
  return { apiVersion: 'promscaler.dev/v1', kind: 'Scaler', metadata: { name, namespace }, spec };
}

const MOST_SCALERS = 1000;
/** By spec and place. They are frozen, so that tests can share them. */
const scalers = new Map<string, Scaler>();

/** The scaler of a document with this spec, `shop/web` unless said otherwise. Throws where it is refused. */
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

/** 1 to 10 replicas of the Deployment of its name by these metrics, all else by default. */
export function aScaler(metrics: readonly MetricSpec[], namespace = 'shop', name = 'web'): Scaler {
  const scaler = scalerOf({ scaleTargetRef: { name }, maxReplicas: 10 }, { name, namespace });
  return { ...scaler, spec: { ...scaler.spec, metrics } };
}

/** Cpu at 80 % of the requests. */
export const cpuMetric: MetricSpec = {
  type: 'Resource',
  name: 'cpu',
  identity: 'cpu',
  source: 'default',
  target: { type: 'Utilization', percent: 80 },
};

/** A queue that is held at 1 in all. */
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

const [DEFAULT_SOURCE] = Object.values(resolveServiceConfig({}, null).prometheus);

/** The data source `default` as a config without a word has it, at an address where nobody listens. */
export function aSource(overrides: Partial<SourceConfig> = {}): SourceConfig {
  if (DEFAULT_SOURCE === undefined) throw new Error('no data source by default');
  return { ...DEFAULT_SOURCE, urls: ['http://127.0.0.1:1'], ...overrides };
}

/** A pod that stands ready since T0 and requests nothing. */
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
