import { type Server, type ServerResponse, createServer } from 'node:http';
import { type Runtime, podTotals } from './controllers/runtime.js';
import type { WorkloadControllers } from './controllers/workloads.js';
import { listAt, stringAt, numberAt } from './kinds/json.js';
import { milliToNumber, parseQuantity } from '../units/quantity.js';
import type { PodState } from './controllers/step-workload.js';

export interface ExporterFaults {
  /** Whether every scrape gets 503. */
  isDown: boolean;
  /** `NAMESPACE/POD` of the pods whose application answers 503. */
  readonly failingPods: Set<string>;
}

interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Creates the server that Prometheus scrapes. Its pages are `/cadvisor`, `/state` (kube-state-metrics), `/queues` and
 * `/pods/NAMESPACE/NAME`. For http_sd, `/sd` lists all targets, and for example `/sd/cadvisor` only the targets of that
 * kind. All targets have the label `job`; targets of pods also have `namespace` and `pod`.
 */
export function makeExporterServer(controllers: WorkloadControllers, faults: ExporterFaults): Server {
  return createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const host = request.headers.host ?? 'localhost';
    const [root = '', ...rest] = pathname.split('/').filter((part) => part !== '');
    if (root === 'sd') {
      send(
        response,
        200,
        JSON.stringify(discoverTargets(controllers, host, rest[0] ?? null)),
        'application/json',
      );
      return;
    }
    const page = faults.isDown ? null : pageFor(controllers, faults, [root, ...rest]);
    if (page === null) send(response, faults.isDown ? 503 : 404, 'no such page\n');
    else send(response, page === '' ? 503 : 200, page);
  });
}

function send(response: ServerResponse, code: number, body: string, type?: string): void {
  response.writeHead(code, { 'content-type': type ?? 'text/plain; version=0.0.4; charset=utf-8' });
  response.end(body);
}

/** Returns the content of a page; empty: the answer is 503; null: the answer is 404. */
function pageFor(
  controllers: WorkloadControllers,
  faults: ExporterFaults,
  path: readonly string[],
): string | null {
  const [root, namespace = '', pod = ''] = path;
  switch (root) {
    case 'cadvisor':
      for (const runtime of controllers.runtimes) controllers.accrue(runtime);
      return cadvisorPage(controllers.runtimes);
    case 'state':
      return statePage(controllers.runtimes);
    case 'queues':
      for (const runtime of controllers.runtimes)
        if (runtime.behavior.queue !== null) controllers.accrue(runtime);
      return queuePage(controllers.runtimes);
    case 'pods': {
      const runtime = controllers.runtimeOfPod(namespace, pod);
      if (runtime === null) return null;
      if (faults.failingPods.has(`${namespace}/${pod}`)) return '';
      controllers.accrue(runtime);
      return applicationPage(runtime, pod);
    }
    default:
      return null;
  }
}

function discoverTargets(
  controllers: WorkloadControllers,
  host: string,
  sort: string | null,
): readonly TargetGroup[] {
  const wants = (name: string): boolean => sort === null || sort === name;
  const single = (name: string): TargetGroup => ({
    targets: [host],
    labels: { job: name, __metrics_path__: `/${name}` },
  });
  const groups = ['cadvisor', 'state', 'queues'].filter(wants).map(single);
  if (wants('pods')) for (const runtime of controllers.runtimes) groups.push(...podTargets(runtime, host));
  return groups;
}

/**
 * Returns targets for the pods whose containers have started. Their `instance` is the name of the pod, because all of
 * them have the same address.
 */
function podTargets(runtime: Runtime, host: string): readonly TargetGroup[] {
  const groups: TargetGroup[] = [];
  for (const [pod, phase] of runtime.written) {
    if (phase === 'pending') continue;
    const { namespace } = runtime;
    const labels = {
      job: 'pods',
      namespace,
      pod,
      instance: pod,
      __metrics_path__: `/pods/${namespace}/${pod}`,
    };
    groups.push({ targets: [host], labels });
  }
  return groups;
}

type Lines = Map<string, string[]>;

/** The metrics of a page in their order: type and help string. */
type Metrics = Readonly<Record<string, readonly [type: 'counter' | 'gauge', help: string]>>;

function add(lines: Lines, metric: string, labels: string, value: number): void {
  const own = lines.get(metric) ?? [];
  own.push(`${metric}{${labels}} ${value}`);
  lines.set(metric, own);
}

function pageOf(metrics: Metrics, lines: Lines): string {
  return Object.entries(metrics)
    .flatMap(([metric, [type, help]]) => [
      `# HELP ${metric} ${help}`,
      `# TYPE ${metric} ${type}`,
      ...(lines.get(metric) ?? []),
    ])
    .concat('')
    .join('\n');
}

const CADVISOR_METRICS = {
  container_cpu_usage_seconds_total: ['counter', 'Cumulative cpu time consumed in seconds.'],
  container_memory_working_set_bytes: ['gauge', 'Current working set in bytes.'],
} as const;

/** Returns the metrics of cAdvisor: CPU and memory of the containers of all started pods. */
function cadvisorPage(runtimes: Iterable<Runtime>): string {
  const lines: Lines = new Map();
  for (const runtime of runtimes) {
    const containers = containersOf(runtime);
    for (const [pod, phase] of runtime.written) {
      if (phase === 'pending') continue;
      const cpuSeconds = podTotals(runtime, pod).cpuSeconds;
      const bytes = runtime.behavior.memoryBytes;
      const base = `namespace="${runtime.namespace}",pod="${pod}"`;
      // Like cAdvisor, reports the cgroup of the pod, too, not only the cgroups of its containers.
      for (const { name, image, share } of [{ name: '', image: '', share: 1 }, ...containers]) {
        const labels = `container="${name}",image="${image}",${base}`;
        add(lines, 'container_cpu_usage_seconds_total', labels, cpuSeconds * share);
        add(lines, 'container_memory_working_set_bytes', labels, bytes * share);
      }
    }
  }
  return pageOf(CADVISOR_METRICS, lines);
}

interface ContainerShare {
  readonly name: string;
  readonly image: string;
  /**
   * Share of the pod's usage. Each container except the first has a tenth (with more than ten, equal shares); the first
   * has the rest.
   */
  readonly share: number;
}

function containersOf({ object }: Runtime): readonly ContainerShare[] {
  const containers = listAt(object ?? undefined, 'spec', 'template', 'spec', 'containers');
  if (containers.length === 0) return [{ name: 'app', image: '', share: 1 }];
  const besides = Math.min(0.1, 1 / containers.length);
  return containers.map((container, index) => ({
    name: stringAt(container, 'name') ?? 'app',
    image: stringAt(container, 'image') ?? '',
    share: index === 0 ? 1 - besides * (containers.length - 1) : besides,
  }));
}

const APPLICATION_METRICS = {
  http_requests_total: ['counter', 'Requests that were received, by status code.'],
  http_requests_per_second: ['gauge', 'Requests that are received now.'],
} as const;

function applicationPage(runtime: Runtime, pod: string): string {
  const { requests, failedRequests } = podTotals(runtime, pod);
  const labels = `namespace="${runtime.namespace}",pod="${pod}",service="${runtime.name}"`;
  const rate = runtime.written.get(pod) === 'ready' ? runtime.load.requestsPerSecond : 0;
  const lines: Lines = new Map();
  add(lines, 'http_requests_total', `${labels},code="200"`, requests - failedRequests);
  add(lines, 'http_requests_total', `${labels},code="503"`, failedRequests);
  add(lines, 'http_requests_per_second', labels, rate);
  return pageOf(APPLICATION_METRICS, lines);
}

/** Returns the metrics of a queue exporter: the backlog of each queue from which a workload takes messages. */
function queuePage(runtimes: Iterable<Runtime>): string {
  const lines: Lines = new Map();
  for (const { behavior, namespace, load } of runtimes) {
    if (behavior.queue === null) continue;
    const labels = `namespace="${namespace}",queue="${behavior.queue}"`;
    add(lines, 'rabbitmq_queue_messages', labels, load.backlog);
  }
  return pageOf({ rabbitmq_queue_messages: ['gauge', 'Messages that wait in a queue.'] }, lines);
}

const STATE_METRICS = {
  kube_deployment_spec_replicas: ['gauge', 'Number of desired pods for a deployment.'],
  kube_deployment_status_replicas_ready: ['gauge', 'The number of ready replicas per deployment.'],
  kube_statefulset_replicas: ['gauge', 'Number of desired pods for a StatefulSet.'],
  kube_statefulset_status_replicas_ready: ['gauge', 'The number of ready replicas per StatefulSet.'],
  kube_pod_created: ['gauge', 'Unix creation timestamp'],
  kube_pod_status_ready_time: ['gauge', 'Readiness achieved time in unix timestamp for a pod.'],
  kube_pod_container_resource_requests: ['gauge', 'The number of requested resource by a container.'],
  kube_pod_container_resource_limits: ['gauge', 'The number of requested limit resource by a container.'],
} as const;

/** Returns the metrics of kube-state-metrics that a back-test reads: replicas, requests, limits, start of pods. */
function statePage(runtimes: Iterable<Runtime>): string {
  const lines: Lines = new Map();
  for (const runtime of runtimes) {
    addReplicas(lines, runtime);
    for (const pod of runtime.pods) addPod(lines, runtime, pod);
  }
  return pageOf(STATE_METRICS, lines);
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
  // Initial pods were created as ready pods, so they have no ready time.
  if (written.get(pod.name) === 'ready' && pod.readyAt > pod.createdAt)
    add(lines, 'kube_pod_status_ready_time', base, pod.readyAt / 1000);
  for (const container of listAt(object ?? undefined, 'spec', 'template', 'spec', 'containers')) {
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
