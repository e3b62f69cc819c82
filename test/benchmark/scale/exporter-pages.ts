import type { FakeDeployment, FakePod } from './objects.js';
import { CPU_REQUEST, PERIOD_SECONDS, usageOf } from './workloads.js';
import type { Simulation } from './simulation.js';
import type { SimulationClock } from './simulation-clock.js';

/** The metrics of all pods in the text format of Prometheus, divided into pages. */
export interface ExporterPages {
  readonly count: number;
  /** Advances the counters of the pods on the page. Null: there is no such page. */
  readonly page: (index: number) => string | null;
}

/** At the start. Pods that are added later are on the page of their Deployment. */
const PODS_PER_PAGE = 5000;
const MEMORY_BYTES = 180 * 1024 * 1024;
const REQUESTED_CORES = parseInt(CPU_REQUEST, 10) / 1000;

interface Counters {
  atMs: number;
  cpuSeconds: number;
  requests: number;
}

/** Lines of each metric of a page. */
interface Lines {
  readonly cpu: string[];
  readonly memory: string[];
  readonly requested: string[];
  readonly requests: string[];
}

/**
 * Series as the kubelet, kube-state-metrics and a gateway export them: cpu of the container and of its pod, memory, the
 * cpu request, and requests of the half of the workloads that the gateway knows.
 */
export function createExporterPages(simulation: Simulation, clock: SimulationClock): ExporterPages {
  const deployments = Array.from(simulation.deployments.values(), (namespace) => [
    ...namespace.values(),
  ]).flat();
  const perPage = Math.max(1, Math.floor(PODS_PER_PAGE / simulation.size.pods));
  const counters = new WeakMap<FakePod, Counters>();

  const advance = (deployment: FakeDeployment, pod: FakePod, ready: number): Counters => {
    const nowMs = clock.now();
    const now = counters.get(pod) ?? { atMs: nowMs, cpuSeconds: 0, requests: 0 };
    counters.set(pod, now);
    const slot = Math.floor((nowMs - clock.startMs) / 1000 / PERIOD_SECONDS);
    const load = { pod: pod.number, ready, slot, pods: simulation.size.pods };
    const seconds = (nowMs - now.atMs) / 1000;
    now.cpuSeconds += usageOf(deployment.workload, load, 'cpu') * seconds;
    now.requests += usageOf(deployment.workload, load, 'requests') * seconds;
    now.atMs = nowMs;
    return now;
  };

  return {
    count: Math.ceil(deployments.length / perPage),
    page: (index) => {
      const shown = deployments.slice(index * perPage, (index + 1) * perPage);
      if (shown.length === 0) return null;
      const lines: Lines = { cpu: [], memory: [], requested: [], requests: [] };
      for (const deployment of shown) {
        const ready = [...deployment.pods.values()].filter(({ isReady }) => isReady);
        for (const pod of ready) addPod(lines, deployment, pod, advance(deployment, pod, ready.length));
      }
      return [
        family('container_cpu_usage_seconds_total', 'counter', lines.cpu),
        family('container_memory_working_set_bytes', 'gauge', lines.memory),
        family('kube_pod_container_resource_requests', 'gauge', lines.requested),
        family('http_requests_total', 'counter', lines.requests),
      ].join('');
    },
  };
}

function addPod(
  { cpu, memory, requested, requests }: Lines,
  { workload: { index, namespace, name, kind } }: FakeDeployment,
  pod: FakePod,
  counters: Counters,
): void {
  const of = `namespace="${namespace}",pod="${pod.name}"`;
  const id = `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${pod.uid}.slice`;
  const container = `container="app",id="${id}/app",image="registry.example.com/team/${name}:1.42.0",name="${pod.uid}",${of}`;
  cpu.push(`{cpu="total",${container}} ${counters.cpuSeconds.toFixed(6)}`);
  cpu.push(`{cpu="total",container="",id="${id}",${of}} ${(counters.cpuSeconds * 1.01).toFixed(6)}`);
  memory.push(`{${container}} ${MEMORY_BYTES}`);
  requested.push(
    `{container="app",${of},uid="${pod.uid}",node="node-${index % 300}",resource="cpu",unit="core"} ${REQUESTED_CORES}`,
  );
  if (kind !== 'cpu') requests.push(`{${of},service="${name}"} ${counters.requests.toFixed(3)}`);
}

function family(name: string, type: 'counter' | 'gauge', lines: readonly string[]): string {
  return `# TYPE ${name} ${type}\n${lines.map((line) => `${name}${line}\n`).join('')}`;
}
