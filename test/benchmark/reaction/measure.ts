import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startChild } from '../../../src/cli/demo/programs/child-process.js';
import { freePort } from '../../../src/cli/demo/programs/prometheus-server.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { readPage, sumOf } from '../exposition.js';
import { pause } from '../pause.js';
import { statusOf } from '../status-of.js';
import {
  MAX_REPLICAS,
  NAMES,
  NAMESPACE,
  RATE_WINDOW_SECONDS,
  REQUESTS_PER_REPLICA,
  SCRAPE_SECONDS,
  START_REPLICAS,
  type Step,
  type StepsOrder,
} from './plan.js';
import { CLI } from '../report.js';

/** The API server and the exporter, in their own process. */
export interface LoadProcess {
  readonly url: string;
  readonly exporterUrl: string;
  readonly run: (order: StepsOrder) => Promise<readonly Step[]>;
  readonly stop: () => void;
}

/** The results of one sync period. Rates are per second of real time, for all scalers together. */
export interface ReactionFigures {
  readonly syncPeriodSeconds: number;
  readonly steps: readonly Step[];
  readonly queriesPerSecond: number;
  /** CPU time of the service, in milliseconds a second. */
  readonly serviceCpuMs: number;
  readonly prometheusCpuMs: number;
}

interface Stage {
  readonly load: LoadProcess;
  readonly prometheusUrl: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}

const LONGEST_START_MS = 60_000;

/** Runs the built CLI on its stage, and all steps of the load. */
export async function measureReaction(stage: Stage, order: StepsOrder): Promise<ReactionFigures> {
  const { load, prometheusUrl, signal } = stage;
  const port = await freePort();
  const configFile = await writeConfig(stage, port, order.syncPeriodSeconds);
  const args = [CLI, 'run', '--config', configFile];
  const service = startChild({
    title: 'the service',
    file: process.execPath,
    args,
    env: process.env,
    clock: SYSTEM_CLOCK,
  });
  const url = `http://127.0.0.1:${port}`;
  const look = async (): Promise<Look> => {
    const [own, prometheus] = await Promise.all([
      readPage(`${url}/metrics`),
      readPage(`${prometheusUrl}/metrics`),
    ]);
    return {
      atMs: performance.now(),
      queries: sumOf(own, 'promscaler_queries_total'),
      serviceCpu: sumOf(own, 'process_cpu_seconds_total'),
      prometheusCpu: sumOf(prometheus, 'process_cpu_seconds_total'),
    };
  };
  try {
    await untilDecided(url, signal);
    const before = await look();
    const steps = await load.run(order);
    const after = await look();
    const seconds = (after.atMs - before.atMs) / 1000;
    return {
      syncPeriodSeconds: order.syncPeriodSeconds,
      steps,
      queriesPerSecond: (after.queries - before.queries) / seconds,
      serviceCpuMs: ((after.serviceCpu - before.serviceCpu) * 1000) / seconds,
      prometheusCpuMs: ((after.prometheusCpu - before.prometheusCpu) * 1000) / seconds,
    };
  } finally {
    await service.stop();
  }
}

interface Look {
  readonly atMs: number;
  readonly queries: number;
  readonly serviceCpu: number;
  readonly prometheusCpu: number;
}

/** Waits until each scaler has decided on a value. */
async function untilDecided(url: string, signal: AbortSignal): Promise<void> {
  const startMs = performance.now();
  for (;;) {
    const statuses = await Promise.all(
      NAMES.map((name) => statusOf(`${url}/api/v1/scalers/${NAMESPACE}/${name}`)),
    );
    if (statuses.every((status) => status === 200)) return;
    if (performance.now() - startMs > LONGEST_START_MS) throw new Error('the service has not decided');
    await pause(100, signal);
  }
}

async function writeConfig(
  { folder, load, prometheusUrl }: Stage,
  port: number,
  syncPeriodSeconds: number,
): Promise<string> {
  const scalers = join(folder, 'scalers');
  await mkdir(scalers, { recursive: true });
  await writeFile(join(scalers, 'scalers.yaml'), NAMES.map(documentOf).join('---\n'));
  const file = join(folder, 'promscaler.yaml');
  await writeFile(
    file,
    `prometheus: { default: { urls: [${prometheusUrl}], scrapeIntervalSeconds: ${SCRAPE_SECONDS} } }
kubernetes: { url: ${load.url} }
scalers: { paths: [scalers] }
server: { port: ${port} }
defaults: { syncPeriodSeconds: ${syncPeriodSeconds} }
log: { level: warn }
`,
  );
  return file;
}

/** Allows every step at once: only measuring and deciding take time. */
function documentOf(name: string): string {
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: ${NAMESPACE} }
spec:
  scaleTargetRef: { name: ${name} }
  minReplicas: ${START_REPLICAS}
  maxReplicas: ${MAX_REPLICAS}
  metrics:
    - external:
        metric: { name: requests }
        query: sum(rate(load_requests_total{workload="${name}"}[${RATE_WINDOW_SECONDS}s]))
        target: { averageValue: ${REQUESTS_PER_REPLICA} }
  behavior:
    scaleUp:
      stabilizationWindowSeconds: 0
      policies: [{ type: Percent, value: 900, periodSeconds: 1 }]
`;
}
