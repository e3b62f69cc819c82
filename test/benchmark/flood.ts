import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/cli/demo/programs/prometheus-server.js';
import { PERIOD_SECONDS, writeDocuments } from './documents.js';
import { pause } from './pause.js';
import { print } from './report.js';
import type { Stage } from './rounds.js';
import { startService } from './service.js';
import type { RunningService } from './service.js';
import { figuresOf, readWatched, watchFlags } from './watch.js';
import type { WatchFigures } from './watch.js';

/** Connections that send many requests at once and never read an answer. */
export interface Flood {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  /** Requests of each connection. */
  readonly requests: number;
}

const FLOODS = [
  { path: '/api/v1/openapi.json', connections: 60, requests: 1000 },
  { path: '/api/v1/openapi.json', connections: 120, requests: 800 },
  { path: '/api/v1/scalers', connections: 120, requests: 800 },
  { path: '/metrics', connections: 300, requests: 12 },
] as const;

/** Complete rounds; each figure is the worst of them. */
const ROUNDS = 3;
const PROBE_MS = 100;

/**
 * Measures the effect of clients that never read on decisions, probes and memory, compared with the same time without
 * them.
 */
export async function benchFlood(stage: Stage): Promise<void> {
  console.log('\n1,000 scalers: a quiet run, and clients that never read');
  const scalers = { title: '', shared: 0, own: 0 };
  for (const [index, flood] of [null, ...FLOODS].entries()) {
    const port = await freePort();
    const folder = join(stage.folder, `flood-${index}`);
    const addresses = { prometheusUrl: stage.prometheus.url, kubernetesUrl: stage.cluster.url, port };
    const configFile = await writeDocuments(folder, scalers, addresses);
    const watchFile = join(folder, 'watched.json');
    const service = await startService({
      configFile,
      port,
      nodeFlags: [...stage.nodeFlags, ...watchFlags(watchFile)],
      signal: stage.signal,
    });
    let figures: Figures;
    try {
      await pause(1.5 * PERIOD_SECONDS * 1000, stage.signal);
      figures = await measure(service, flood === null ? null : { ...flood, port }, stage.signal);
    } finally {
      await service.stop();
    }
    printFigures(titleOf(flood), figures, figuresOf(readWatched(watchFile), figures));
  }
}

interface Figures {
  /** Wall time of the run, in milliseconds since 1970. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The slowest answers, in seconds. */
  readonly healthSeconds: number;
  readonly afterSeconds: number;
  readonly peakBytes: number;
  /** Resources of the clients; null without clients. */
  readonly client: FloodUse | null;
}

/** Requests and resources of the clients. */
export interface FloodUse {
  readonly cpuMs: number;
  readonly connections: number;
}

async function measure(service: RunningService, flood: Flood | null, signal: AbortSignal): Promise<Figures> {
  const fromMs = Date.now();
  const client = flood === null ? null : await startFlood(flood);
  let healthSeconds: number;
  let use: FloodUse | null;
  try {
    healthSeconds = await slowestProbe(service.url, ROUNDS * PERIOD_SECONDS * 1000, signal);
    use = client === null ? null : await client.use();
  } finally {
    client?.disconnect();
  }
  const toMs = Date.now();
  const afterSeconds = await slowestProbe(service.url, 2000, signal);
  return { fromMs, toMs, healthSeconds, afterSeconds, peakBytes: peakMemory(service.pid), client: use };
}

async function startFlood(
  flood: Flood,
): Promise<{ readonly use: () => Promise<FloodUse>; readonly disconnect: () => void }> {
  const child = fork(fileURLToPath(new URL('flood-process.js', import.meta.url)));
  await once(child, 'message');
  child.send(flood);
  return {
    use: async () => {
      child.send('use');
      const [use] = (await once(child, 'message')) as [FloodUse];
      return use;
    },
    disconnect: () => child.disconnect(),
  };
}

/** Returns the slowest of the answers to /healthz within `ms`, each on its own connection. */
async function slowestProbe(url: string, ms: number, signal: AbortSignal): Promise<number> {
  const endMs = performance.now() + ms;
  let slowest = 0;
  const probes: Promise<void>[] = [];
  while (performance.now() < endMs) {
    probes.push(
      probe(url).then((seconds) => {
        slowest = Math.max(slowest, seconds);
      }),
    );
    await pause(PROBE_MS, signal);
  }
  await Promise.all(probes);
  return slowest;
}

/** Returns the seconds until /healthz has answered; infinite if it was rejected. */
async function probe(url: string): Promise<number> {
  const startMs = performance.now();
  try {
    const response = await fetch(`${url}/healthz`, {
      headers: { Connection: 'close' },
      signal: AbortSignal.timeout(60_000),
    });
    await response.text();
    return response.status === 200 ? (performance.now() - startMs) / 1000 : Infinity;
  } catch {
    return Infinity;
  }
}

/** Returns the peak memory of a process, if the system reports it (Linux). */
function peakMemory(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
  } catch {
    return NaN;
  }
}

function titleOf(flood: (typeof FLOODS)[number] | null): string {
  return flood === null ? 'quiet' : `${flood.connections} x ${flood.requests} ${flood.path}`;
}

function printFigures(title: string, figures: Figures, watched: WatchFigures): void {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;
  console.log(title);
  print('  slowest /healthz', `${figures.healthSeconds.toFixed(3)} s`, 'below 1 s');
  print('  slowest /healthz afterwards', `${figures.afterSeconds.toFixed(3)} s`, 'below 1 s');
  print('  latest decision', seconds(watched.decisionMs), 'at most 1 s');
  print('  ... without the wait for a processor', seconds(watched.ownDecisionMs), '');
  print('  latest start of a round', seconds(watched.roundMs), '');
  print('  longest query', seconds(watched.queryMs), '');
  print('  decisions', `${watched.cycles}`, `${ROUNDS} of each scaler`);
  print('  longest delay of the event loop', seconds(watched.loopDelayMs), '');
  print('  ... without the wait for a processor', seconds(watched.ownLoopDelayMs), '');
  print('  cpu time of the service', seconds(watched.cpuMs), '');
  print('  ... and waited for a processor', seconds(watched.waitedMs), '');
  if (figures.client !== null) {
    print('  cpu time of the clients', seconds(figures.client.cpuMs), '');
    print('  connections that they opened', `${figures.client.connections}`, '');
  }
  print('  memory (peak RSS)', `${(figures.peakBytes / 1e6).toFixed(0)} MB`, 'below 400 MB');
}
