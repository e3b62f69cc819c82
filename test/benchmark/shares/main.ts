import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild, type Child } from '../../../src/cli/demo/programs/child-process.js';
import { freePort } from '../../../src/cli/demo/programs/prometheus-server.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { listen, shut } from '../../../src/simulator/sockets.js';
import { countOf, readPage, sumOf } from '../exposition.js';
import { pause } from '../pause.js';
import { CLI, describeMachine } from '../report.js';
import { writeConfig, writeDocuments } from '../scale/documents.js';
import { startSimulation } from '../scale/simulation-client.js';
import { createLeaseProxy } from './lease-proxy.js';

export const SHARES_USAGE = `npm run bench -- shares [--scalers N] [--replicas N]

  --scalers N   default 2000, of 10 pods each
  --replicas N  replicas that divide the scalers; default 3. They are compared with one without sharding`;

const PODS = 10;
const LONGEST_START_MS = 150_000;
const WARMUP_MS = 20_000;
const MEASURED_MS = 60_000;

/** Measures what each of several replicas keeps and sends, next to a single one. */
export async function benchShares(
  args: readonly string[],
  version: string,
  signal: AbortSignal,
): Promise<void> {
  const flag = (name: string, value: number): number => {
    const at = args.indexOf(name);
    return at === -1 ? value : Number(args[at + 1]);
  };
  const scalers = flag('--scalers', 2000);
  const replicas = flag('--replicas', 3);
  console.log(describeMachine({ promscaler: version }));
  console.log(`${scalers} scalers of ${PODS} pods\n`);
  for (const count of [1, replicas]) await benchReplicas({ scalers, count, signal });
}

interface Run {
  readonly scalers: number;
  readonly count: number;
  readonly signal: AbortSignal;
}

async function benchReplicas({ scalers, count, signal }: Run): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-shares-'));
  const simulation = await startSimulation({ scalers, pods: PODS });
  const proxy = createLeaseProxy(simulation.kubernetesUrl);
  const services: Child[] = [];
  try {
    const kubernetesUrl = await listen(proxy, 0);
    const urls: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const port = await freePort();
      const place = join(folder, String(index));
      const addresses = { kubernetesUrl, prometheusUrl: simulation.prometheusUrl, port };
      await writeDocuments(place, { scalers, pods: PODS });
      const config = await writeConfig(place, addresses);
      const sharding = count > 1 ? 'sharding: { enabled: true }\n' : '';
      await writeFile(config, `${await readFile(config, 'utf8')}${sharding}`);
      const flags = ['--expose-gc', CLI, 'run', '--config', config];
      const env = { ...process.env, POD_IP: '127.0.0.1', POD_NAME: `promscaler-${index}` };
      services.push(
        startChild({ title: 'the service', file: process.execPath, args: flags, env, clock: SYSTEM_CLOCK }),
      );
      urls.push(`http://127.0.0.1:${port}`);
    }
    await untilAllDecided(urls, { scalers, signal });
    await pause(WARMUP_MS, signal);
    const before = await Promise.all(urls.map(readFigures));
    await pause(MEASURED_MS, signal);
    const after = await Promise.all(urls.map(readFigures));
    console.log(count === 1 ? 'one replica without sharding' : `${count} replicas with sharding`);
    after.forEach((figures, index) => print(figures, before[index] ?? figures));
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    await shut(proxy);
    await simulation.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Figures {
  readonly scalers: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly cpuSeconds: number;
  readonly queries: number;
  readonly requests: number;
}

async function readFigures(url: string): Promise<Figures> {
  const page = await readPage(`${url}/metrics`);
  return {
    scalers: scalersOn(page),
    residentBytes: sumOf(page, 'process_resident_memory_bytes'),
    heapBytes: sumOf(page, 'nodejs_heap_size_used_bytes'),
    cpuSeconds: sumOf(page, 'process_cpu_seconds_total'),
    queries: sumOf(page, 'promscaler_queries_total'),
    requests: sumOf(page, 'promscaler_kubernetes_requests_total'),
  };
}

function scalersOn(page: string): number {
  return countOf(page, 'promscaler_desired_replicas');
}

async function untilAllDecided(
  urls: readonly string[],
  { scalers, signal }: { readonly scalers: number; readonly signal: AbortSignal },
): Promise<void> {
  const startMs = performance.now();
  for (;;) {
    const counts = await Promise.all(urls.map((url) => readPage(`${url}/metrics`).then(scalersOn, () => 0)));
    if (counts.reduce((sum, count) => sum + count, 0) >= scalers) return;
    if (performance.now() - startMs > LONGEST_START_MS) throw new Error(`only ${counts.join(' + ')} scalers`);
    await pause(1000, signal);
  }
}

function print(after: Figures, before: Figures): void {
  const per = (value: number): string => ((value * 1000) / MEASURED_MS).toFixed(1);
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
  console.log(
    `  ${after.scalers} scalers: RSS ${megabytes(after.residentBytes)}, heap ${megabytes(after.heapBytes)}, ` +
      `CPU ${per((after.cpuSeconds - before.cpuSeconds) * 1000)} ms/s, queries ${per(after.queries - before.queries)}/s, ` +
      `requests to the API server ${per(after.requests - before.requests)}/s`,
  );
}
