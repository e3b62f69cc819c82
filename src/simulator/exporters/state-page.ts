import { milliToNumber, parseQuantity } from '../../units/quantity.js';
import { listAt, numberAt, objectAt, stringAt } from '../json/json.js';
import type { PodState } from '../model/pods.js';
import type { Runtime } from '../controllers/runtime.js';

type Lines = Map<string, string[]>;

/** Help of each metric, in the order of the page. */
const METRICS = {
  kube_deployment_spec_replicas: 'Number of desired pods for a deployment.',
  kube_deployment_status_replicas_ready: 'The number of ready replicas per deployment.',
  kube_statefulset_replicas: 'Number of desired pods for a StatefulSet.',
  kube_statefulset_status_replicas_ready: 'The number of ready replicas per StatefulSet.',
  kube_pod_created: 'Unix creation timestamp',
  kube_pod_status_ready_time: 'Readiness achieved time in unix timestamp for a pod.',
  kube_pod_container_resource_requests: 'The number of requested resource by a container.',
  kube_pod_container_resource_limits: 'The number of requested limit resource by a container.',
} as const;

type Metric = keyof typeof METRICS;

/**
 * Returns the metrics of kube-state-metrics that a back-test reads: replicas, requests, limits, and the start of pods.
 */
export function statePage(runtimes: Iterable<Runtime>): string {
  const lines: Lines = new Map();
  for (const runtime of runtimes) {
    addReplicas(lines, runtime);
    for (const pod of runtime.pods) addPod(lines, runtime, pod);
  }
  return Object.entries(METRICS)
    .flatMap(([metric, help]) => [
      `# HELP ${metric} ${help}`,
      `# TYPE ${metric} gauge`,
      ...(lines.get(metric) ?? []),
    ])
    .concat('')
    .join('\n');
}

function add(lines: Lines, metric: Metric, labels: string, value: number): void {
  const own = lines.get(metric) ?? [];
  own.push(`${metric}{${labels}} ${value}`);
  lines.set(metric, own);
}

function addReplicas(lines: Lines, { kind, namespace, name, object }: Runtime): void {
  if (object === null) return;
  const replicas = numberAt(object, 'spec', 'replicas') ?? 1;
  const ready = numberAt(object, 'status', 'readyReplicas') ?? 0;
  if (kind.kind === 'Deployment') {
    const labels = `namespace="${namespace}",deployment="${name}"`;
    add(lines, 'kube_deployment_spec_replicas', labels, replicas);
    add(lines, 'kube_deployment_status_replicas_ready', labels, ready);
  } else if (kind.kind === 'StatefulSet') {
    const labels = `namespace="${namespace}",statefulset="${name}"`;
    add(lines, 'kube_statefulset_replicas', labels, replicas);
    add(lines, 'kube_statefulset_status_replicas_ready', labels, ready);
  }
}

function addPod(lines: Lines, { namespace, object, written }: Runtime, pod: PodState): void {
  const base = `namespace="${namespace}",pod="${pod.name}"`;
  add(lines, 'kube_pod_created', base, pod.createdAt / 1000);
  // Pods that exist from the start of the simulation never started.
  if (written.get(pod.name) === 'ready' && pod.readyAt > pod.createdAt)
    add(lines, 'kube_pod_status_ready_time', base, pod.readyAt / 1000);
  for (const container of listAt(objectAt(object ?? undefined, 'spec', 'template'), 'spec', 'containers')) {
    const labels = `${base},container="${stringAt(container, 'name') ?? 'app'}"`;
    for (const [resource, unit] of [
      ['cpu', 'core'],
      ['memory', 'byte'],
    ] as const)
      for (const which of ['requests', 'limits'] as const) {
        const amount = parseQuantity(stringAt(container, 'resources', which, resource) ?? '');
        if (amount === null) continue;
        const ofResource = `${labels},resource="${resource}",unit="${unit}"`;
        add(lines, `kube_pod_container_resource_${which}`, ofResource, milliToNumber(amount));
      }
  }
}
