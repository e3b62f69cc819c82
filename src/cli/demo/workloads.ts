import { NODE_CORES, NODE_NAME } from '../../simulator/controllers/kinds.js';
import { ALL_BUCKETS, configMapName } from '../../kubernetes/state/state-key.js';
import type { JsonObject } from '../../simulator/kinds/json.js';
import type { WorkloadOptions } from '../../simulator/simulator.js';
import { lastAtOrBefore, type Load } from '../../backtest/simulation/load.js';
import { type Curve, bursts, dailyWave, faster, flashCrowd } from '../../simulator/controllers/load.js';

/** Namespace of the workloads and of the service. The kubeconfig context has the same namespace. */
export const DEMO_NAMESPACE = 'shop';

export const DEMO_SERVICE = 'promscaler';

/** The scalers checkout, search and mailer. */
export const DEMO_SCALERS = 3;

/** Number of pods at the start: 2 of checkout, 2 of search, 1 of mailer. */
export const DEMO_PODS = 5;

/** Returns the ConfigMaps in which the service keeps its state, as in the chart. */
export function demoStateMaps(namespace: string): readonly {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
}[] {
  return ALL_BUCKETS.map((bucket) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: configMapName(bucket), namespace },
  }));
}

interface DemoWorkload extends WorkloadOptions {
  readonly load: Curve;
  /** Requests or messages per second until the load starts. The initial replicas can serve it. */
  readonly atRest: number;
}

/** Returns the Service with which `status` finds promscaler, as in the chart. */
export function demoService(port: number): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: DEMO_SERVICE,
      namespace: DEMO_NAMESPACE,
      labels: { 'app.kubernetes.io/name': 'promscaler' },
    },
    spec: { type: 'ClusterIP', ports: [{ name: 'http', port, targetPort: port, protocol: 'TCP' }] },
  };
}

/** Returns the node of all pods, for `kubectl get nodes`. */
export function demoNode(): JsonObject {
  const resources = { cpu: String(NODE_CORES) };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: NODE_NAME },
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
    },
  };
}

/**
 * The CPU limit is the request. With a higher limit, a pod could serve more than it does at the target of the document,
 * and a static fleet at the peak would cost fewer pod-hours than the document.
 */
const SHOP_CONTAINER = {
  name: 'app',
  cpuRequest: '500m',
  cpuLimit: '500m',
  memoryRequest: '256Mi',
  memoryLimit: '512Mi',
} as const;

/**
 * Returns three workloads: a web shop limited by CPU, a search limited by requests, and a worker limited by its queue.
 * `trace` replaces the daily wave of the shop.
 */
export function demoWorkloads(speed: number, trace: Curve | null): readonly DemoWorkload[] {
  const timing = { startSeconds: 2, readySeconds: 2, terminationSeconds: 2, jitterRatio: 0.5 };
  return [
    {
      namespace: DEMO_NAMESPACE,
      name: 'checkout',
      replicas: 2,
      containers: [SHOP_CONTAINER],
      behavior: { timing, cpuSecondsPerRequest: 0.05 },
      load: faster(trace ?? MORNING, speed),
      atRest: trace === null ? 11 : trace(0),
    },
    {
      kind: 'StatefulSet',
      namespace: DEMO_NAMESPACE,
      name: 'search',
      replicas: 2,
      behavior: { timing, cpuSecondsPerRequest: 0.01 },
      load: faster(CROWD, speed),
      atRest: 30,
    },
    {
      namespace: DEMO_NAMESPACE,
      name: 'mailer',
      replicas: 1,
      behavior: { timing, requestsPerSecondPerPod: 4, queue: 'mails' },
      load: faster(MAIL_BURSTS, speed),
      // A single pod cannot serve this load, so the queue fills. If the queue were empty, the demo would start with a
      // scale-down on hold.
      atRest: 5,
    },
  ];
}

/** Returns a curve that repeats a trace. In a gap, it has the last value before the gap. */
export function traceCurve({ start, end, data: { times, values } }: Load): Curve {
  const known = values.findIndex((value) => !Number.isNaN(value));
  return (seconds) => {
    let index = lastAtOrBefore(times, start + ((seconds * 1000) % (end - start)));
    while (index > 0 && Number.isNaN(values[index])) index -= 1;
    return values[Math.max(index, known)] ?? NaN;
  };
}

/** Returns a workload at its initial load. Its objects are created now, so that their ages are true. */
export function atRest({ atRest: requestsPerSecond, ...workload }: DemoWorkload): WorkloadOptions {
  return { ...workload, podAgeSeconds: 0, behavior: { ...workload.behavior, load: () => requestsPerSecond } };
}

/** Length of a day of the shop in seconds, at speed 1. */
export const DAY_SECONDS = 1200;

const day = dailyWave({ low: 0, high: 1, periodSeconds: DAY_SECONDS });

/**
 * The load of days that begin in the morning. The exponent makes the peak shorter than the night: with a plain wave, a
 * static fleet at the peak would cost no more than a document with a reserve.
 */
const MORNING: Curve = (seconds) => 10 + 65 * day(seconds + 220) ** 3;

const CROWD = flashCrowd({
  base: 30,
  peak: 150,
  atSeconds: 150,
  riseSeconds: 60,
  holdSeconds: 300,
  fallSeconds: 200,
});

const MAIL_BURSTS = bursts({ base: 2, peak: 20, everySeconds: 900, burstSeconds: 300 });
