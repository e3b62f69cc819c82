import { listAt, objectAt, stringAt } from '../json/json.js';
import { type Runtime, podTotals } from '../controllers/runtime.js';

/** Returns the metrics of cAdvisor: CPU and memory of the containers of all started pods. */
export function cadvisorPage(runtimes: Iterable<Runtime>): string {
  const cpu: string[] = [];
  const memory: string[] = [];
  for (const runtime of runtimes) {
    const containers = containersOf(runtime);
    for (const [pod, phase] of runtime.written) {
      if (phase === 'pending') continue;
      const cpuSeconds = podTotals(runtime, pod).cpuSeconds;
      const bytes = memoryOf(runtime, phase === 'ready');
      const base = `namespace="${runtime.namespace}",pod="${pod}"`;
      // cAdvisor exposes the cgroup of the pod as well as those of its containers.
      const sum = `{container="",image="",${base}}`;
      cpu.push(`container_cpu_usage_seconds_total${sum} ${cpuSeconds}`);
      memory.push(`container_memory_working_set_bytes${sum} ${bytes}`);
      for (const { name, image, share } of containers) {
        const labels = `{container="${name}",image="${image}",${base}}`;
        cpu.push(`container_cpu_usage_seconds_total${labels} ${cpuSeconds * share}`);
        memory.push(`container_memory_working_set_bytes${labels} ${bytes * share}`);
      }
    }
  }
  return [
    '# HELP container_cpu_usage_seconds_total Cumulative cpu time consumed in seconds.',
    '# TYPE container_cpu_usage_seconds_total counter',
    ...cpu,
    '# HELP container_memory_working_set_bytes Current working set in bytes.',
    '# TYPE container_memory_working_set_bytes gauge',
    ...memory,
    '',
  ].join('\n');
}

interface ContainerShare {
  readonly name: string;
  readonly image: string;
  /** Share of the pod's usage: a tenth for each further container, the rest for the first one. */
  readonly share: number;
}

function containersOf({ object }: Runtime): readonly ContainerShare[] {
  const containers = listAt(objectAt(object ?? undefined, 'spec', 'template'), 'spec', 'containers');
  if (containers.length === 0) return [{ name: 'app', image: '', share: 1 }];
  const besides = Math.min(0.1, 1 / containers.length);
  return containers.map((container, index) => ({
    name: stringAt(container, 'name') ?? 'app',
    image: stringAt(container, 'image') ?? '',
    share: index === 0 ? 1 - besides * (containers.length - 1) : besides,
  }));
}

function memoryOf({ behavior, load }: Runtime, isReady: boolean): number {
  const rate = isReady ? load.requestsPerSecond : 0;
  return Math.round(behavior.memoryBytes + rate * behavior.memoryBytesPerRequestRate);
}

export function applicationPage(runtime: Runtime, pod: string): string {
  const { requests, failedRequests } = podTotals(runtime, pod);
  const labels = (code: string): string =>
    `{namespace="${runtime.namespace}",pod="${pod}",service="${runtime.name}",code="${code}"}`;
  return [
    '# HELP http_requests_total Requests that were received, by status code.',
    '# TYPE http_requests_total counter',
    `http_requests_total${labels('200')} ${requests - failedRequests}`,
    `http_requests_total${labels('503')} ${failedRequests}`,
    '# HELP http_requests_per_second Requests that are received now.',
    '# TYPE http_requests_per_second gauge',
    `http_requests_per_second{namespace="${runtime.namespace}",pod="${pod}",service="${runtime.name}"} ${
      runtime.written.get(pod) === 'ready' ? runtime.load.requestsPerSecond : 0
    }`,
    '',
  ].join('\n');
}

/** Returns the metrics of a queue exporter: the backlog of each queue that a workload consumes. */
export function queuePage(runtimes: Iterable<Runtime>): string {
  const lines: string[] = [];
  for (const { behavior, namespace, load } of runtimes) {
    if (behavior.queue === null) continue;
    lines.push(`rabbitmq_queue_messages{namespace="${namespace}",queue="${behavior.queue}"} ${load.backlog}`);
  }
  return [
    '# HELP rabbitmq_queue_messages Messages that wait in a queue.',
    '# TYPE rabbitmq_queue_messages gauge',
    ...lines,
    '',
  ].join('\n');
}
