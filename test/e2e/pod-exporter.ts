import { once } from 'node:events';
import { createServer } from 'node:http';
import { pause } from './waiting.js';

/** A pod that exists. */
export interface PresentPod {
  readonly name: string;
  readonly workload: string;
  readonly isReady: boolean;
}

/** Replaces cAdvisor for pods that do nothing. */
export interface PodExporter {
  /** `127.0.0.1:PORT`; its page is `/metrics`. */
  readonly address: string;
  /** Sets the total cpu of all pods of a workload, shared evenly among the ready ones. */
  readonly setCores: (workload: string, cores: number) => void;
  /** Returns the existing and ready pods. */
  readonly readyPods: () => readonly PresentPod[];
  readonly close: () => Promise<void>;
}

const CONTAINER = 'app';
const MEMORY_BYTES = 1024 * 1024;

/** Starts an exporter of cpu and memory of the pods that `list` returns, called every second. */
export async function startPodExporter(
  namespace: string,
  list: () => Promise<readonly PresentPod[]>,
): Promise<PodExporter> {
  const coresByWorkload = new Map<string, number>();
  const cpuSeconds = new Map<string, number>();
  let present: readonly PresentPod[] = [];
  let countedMs = performance.now();
  let isOpen = true;

  // At every list of the pods and at every scrape: the counters are exact at any moment, so that rates are smooth.
  const count = (): void => {
    const nowMs = performance.now();
    const elapsedSeconds = (nowMs - countedMs) / 1000;
    countedMs = nowMs;
    for (const { name, workload, isReady } of present) {
      const ready = present.filter((pod) => pod.isReady && pod.workload === workload).length;
      const cores = isReady ? (coresByWorkload.get(workload) ?? 0) / ready : 0;
      cpuSeconds.set(name, (cpuSeconds.get(name) ?? 0) + cores * elapsedSeconds);
    }
  };
  const look = (pods: readonly PresentPod[]): void => {
    count();
    present = pods;
    const names = new Set(pods.map(({ name }) => name));
    for (const name of cpuSeconds.keys()) if (!names.has(name)) cpuSeconds.delete(name);
  };
  const run = async (): Promise<void> => {
    while (isOpen) {
      // While the API server does not answer, the last known pods continue unchanged.
      await list().then(look, () => undefined);
      await pause(1);
    }
  };
  const running = run();

  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' });
    count();
    response.end(pageOf(namespace, cpuSeconds));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the exporter has no port');
  return {
    address: `127.0.0.1:${address.port}`,
    setCores: (workload, cores) => {
      count();
      coresByWorkload.set(workload, cores);
    },
    readyPods: () => present.filter(({ isReady }) => isReady),
    close: async () => {
      isOpen = false;
      server.closeAllConnections();
      server.close();
      await running;
    },
  };
}

function pageOf(namespace: string, cpuSeconds: ReadonlyMap<string, number>): string {
  const lines: string[] = [];
  for (const [pod, seconds] of cpuSeconds) {
    const labels = `{namespace="${namespace}",pod="${pod}",container="${CONTAINER}"}`;
    lines.push(`container_cpu_usage_seconds_total${labels} ${seconds}`);
    lines.push(`container_memory_working_set_bytes${labels} ${MEMORY_BYTES}`);
  }
  return `${lines.join('\n')}\n`;
}
