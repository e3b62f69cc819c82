import { createServer } from 'node:http';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { listAt, stringAt } from '../../../src/simulator/kinds/json.js';
import { type Simulator, startSimulator } from '../../../src/simulator/simulator.js';
import { listen, shut } from '../../../src/simulator/sockets.js';
import type { WrittenSeries } from '../../support/remote-write.js';
import {
  CORES_PER_POD,
  CPU_RULE,
  NAMESPACE,
  NODES,
  REPLICAS,
  REQUESTS_PER_POD,
  REQUESTS_RULE,
  SUBJECTS,
  WINDOW_SECONDS,
} from './plan.js';

/** The API server with the workloads, and the exporters of the nodes with the load of their pods. */
export interface LagCluster {
  readonly url: string;
  readonly simulator: Simulator;
  /** `host:port` of the exporters; the page of a node is `/node/N`. */
  readonly exporters: string;
  /** The scrapes of these nodes fail with 503. */
  readonly failingNodes: Set<number>;
  readonly nodes: readonly number[];
  /** Sets the load of a workload, in pods that it suits, which its ready pods share evenly. */
  readonly setLoad: (workload: string, pods: number) => void;
  /** Returns the current rates as the results of recording rules, with this time, and the ends of earlier series. */
  readonly ruleResults: (seconds: number) => readonly WrittenSeries[];
  readonly replicas: (workload: string) => number;
  readonly scaleDowns: () => readonly ScaleDown[];
  readonly close: () => Promise<void>;
}

/** A PATCH that lowered the replicas. */
export interface ScaleDown {
  readonly workload: string;
  readonly atMs: number;
  readonly replicas: number;
}

interface CountedPod {
  readonly name: string;
  readonly workload: string;
  readonly node: number;
  isReady: boolean;
  /** Seconds with the load of one pod. */
  used: number;
  /** The samples within the range of the recording rule. */
  readonly history: { readonly seconds: number; readonly used: number }[];
}

/** Pods are listed at most this often. */
const LIST_MS = 100;

export async function startLagCluster(): Promise<LagCluster> {
  const simulator = await startSimulator({
    clock: SYSTEM_CLOCK,
    seed: 0.5,
    requestLogSize: 100_000,
    workloads: SUBJECTS.map(({ name }) => ({ namespace: NAMESPACE, name, replicas: REPLICAS })),
  });
  const loads = new Map(SUBJECTS.map(({ name }) => [name, REPLICAS]));
  const pods = new Map<string, CountedPod>();
  const failingNodes = new Set<number>();
  let countedMs = performance.now();
  let listedMs = -Infinity;
  let lastResults: readonly WrittenSeries[] = [];

  const readyOf = (workload: string): readonly CountedPod[] =>
    [...pods.values()].filter((pod) => pod.workload === workload && pod.isReady);
  /** The counters are exact at any moment, so that rates are smooth. */
  const count = (): void => {
    const nowMs = performance.now();
    const seconds = (nowMs - countedMs) / 1000;
    countedMs = nowMs;
    for (const [workload, load] of loads) {
      const ready = readyOf(workload);
      for (const pod of ready) pod.used += (load / ready.length) * seconds;
    }
    if (nowMs - listedMs < LIST_MS) return;
    listedMs = nowMs;
    const listed = simulator.listObjects('/pods', NAMESPACE);
    const names = new Set<string>();
    for (const object of listed) {
      const name = stringAt(object, 'metadata', 'name') ?? '';
      names.add(name);
      const workload = stringAt(object, 'metadata', 'labels', 'app') ?? '';
      const pod = pods.get(name) ?? {
        name,
        workload,
        node: emptiestNode(workload),
        isReady: false,
        used: 0,
        history: [],
      };
      const isReady = listAt(object, 'status', 'conditions').some(
        (one) => stringAt(one, 'type') === 'Ready' && stringAt(one, 'status') === 'True',
      );
      pod.isReady = isReady && stringAt(object, 'metadata', 'deletionTimestamp') === null;
      pods.set(name, pod);
    }
    for (const name of pods.keys()) if (!names.has(name)) pods.delete(name);
  };
  const emptiestNode = (workload: string): number => {
    const counts = Array.from({ length: NODES }, () => 0);
    for (const pod of pods.values())
      if (pod.workload === workload) counts[pod.node] = (counts[pod.node] ?? 0) + 1;
    return counts.indexOf(Math.min(...counts));
  };

  const server = createServer((request, response) => {
    const node = Number((request.url ?? '').slice('/node/'.length));
    count();
    const isFailing = failingNodes.has(node);
    response.writeHead(isFailing ? 503 : 200, { 'content-type': 'text/plain; version=0.0.4' });
    response.end(isFailing ? '' : pageOf([...pods.values()].filter((pod) => pod.node === node)));
  });
  const exporters = new URL(await listen(server, 0)).host;
  const replicas = (name: string): number => simulator.describe({ namespace: NAMESPACE, name }).replicas;
  count();
  return {
    url: simulator.url,
    simulator,
    exporters,
    failingNodes,
    nodes: Array.from({ length: NODES }, (_, node) => node),
    setLoad: (workload, load) => {
      count();
      loads.set(workload, load);
    },
    ruleResults: (seconds) => {
      count();
      const results = [...pods.values()].flatMap((pod) => ruleSeries(pod, seconds));
      const keys = new Set(results.map(keyOf));
      const ended = lastResults.filter((one) => !keys.has(keyOf(one)));
      lastResults = results;
      return [...results, ...ended.map(({ labels }) => ({ labels, samples: [[seconds, null]] as const }))];
    },
    replicas,
    scaleDowns: () => scaleDownsOf(simulator),
    close: async () => {
      await Promise.all([shut(server), simulator.close()]);
    },
  };
}

function pageOf(pods: readonly CountedPod[]): string {
  const lines = ['# TYPE container_cpu_usage_seconds_total counter'];
  for (const { name, used } of pods)
    lines.push(
      `container_cpu_usage_seconds_total{namespace="${NAMESPACE}",pod="${name}",container="app"} ${used * CORES_PER_POD}`,
    );
  lines.push('# TYPE requests_total counter');
  for (const { name, workload, used } of pods)
    lines.push(
      `requests_total{namespace="${NAMESPACE}",pod="${name}",workload="${workload}"} ${used * REQUESTS_PER_POD}`,
    );
  return `${lines.join('\n')}\n`;
}

/** As `rate` over the range; none for a pod with less than two samples. */
function ruleSeries(counted: CountedPod, seconds: number): readonly WrittenSeries[] {
  const { name: pod, workload, history, used } = counted;
  history.push({ seconds, used });
  while ((history[0]?.seconds ?? seconds) < seconds - WINDOW_SECONDS) history.shift();
  const [first] = history;
  if (first === undefined || first.seconds === seconds) return [];
  const load = (used - first.used) / (seconds - first.seconds);
  const labels = { namespace: NAMESPACE, pod };
  return [
    {
      labels: { __name__: CPU_RULE, ...labels, container: 'app' },
      samples: [[seconds, load * CORES_PER_POD]],
    },
    {
      labels: { __name__: REQUESTS_RULE, ...labels, workload },
      samples: [[seconds, load * REQUESTS_PER_POD]],
    },
  ];
}

function keyOf({ labels }: WrittenSeries): string {
  return `${labels['__name__'] ?? ''} ${labels['pod'] ?? ''}`;
}

function scaleDownsOf(simulator: Simulator): readonly ScaleDown[] {
  const current = new Map(SUBJECTS.map(({ name }) => [name, REPLICAS]));
  const downs: ScaleDown[] = [];
  for (const { verb, subresource, name, isApplied, at, body } of simulator.requests()) {
    if (verb !== 'patch' || subresource !== 'scale' || name === null || !isApplied) continue;
    const { spec } = JSON.parse(body ?? '{}') as { spec?: { replicas?: number } };
    const replicas = spec?.replicas ?? 0;
    if (replicas < (current.get(name) ?? 0)) downs.push({ workload: name, atMs: at, replicas });
    current.set(name, replicas);
  }
  return downs;
}
