import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/parts/free-port.js';
import { PERIOD_SECONDS, writeDocuments } from './documents.js';
import { readPage } from './exposition.js';
import { pause } from './pause.js';
import { print } from './report.js';
import type { Stage } from './rounds.js';
import { startService } from './service.js';
import type { RunningService } from './service.js';

/** Connections that send many requests at once and never read an answer. */
export interface Flood {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  /** Of each connection. */
  readonly requests: number;
}

const FLOODS = [
  { path: '/api/v1/openapi.json', connections: 60, requests: 1000 },
  { path: '/api/v1/openapi.json', connections: 120, requests: 800 },
  { path: '/api/v1/scalers', connections: 120, requests: 800 },
  { path: '/metrics', connections: 300, requests: 12 },
] as const;

/** Whole rounds, of which each figure is the worst. */
const ROUNDS = 3;
const PROBE_MS = 100;

/** What clients that never read do to decisions, probes and memory, beside the same time without them. */
export async function benchFlood(stage: Stage): Promise<void> {
  console.log('\n1,000 scalers: a quiet run, and clients that never read');
  const scalers = { title: '', shared: 0, own: 0 };
  for (const flood of [null, ...FLOODS]) {
    const port = await freePort();
    const folder = join(
      stage.folder,
      `flood-${flood?.connections ?? 0}-${flood?.path.replaceAll('/', '-') ?? ''}`,
    );
    const addresses = { prometheusUrl: stage.prometheus.url, kubernetesUrl: stage.cluster.url, port };
    const configFile = await writeDocuments(folder, scalers, addresses);
    const service = await startService({
      configFile,
      port,
      nodeFlags: stage.nodeFlags,
      signal: stage.signal,
    });
    try {
      await pause(1.5 * PERIOD_SECONDS * 1000, stage.signal);
      printFigures(
        titleOf(flood),
        await measure(service, flood === null ? null : { ...flood, port }, stage.signal),
      );
    } finally {
      await service.stop();
    }
  }
}

interface Figures {
  /** The slowest answers, in seconds. */
  readonly healthSeconds: number;
  readonly afterSeconds: number;
  /** From the instant a decision was due to its end, the latest one. */
  readonly decisionSeconds: number;
  readonly peakBytes: number;
}

async function measure(service: RunningService, flood: Flood | null, signal: AbortSignal): Promise<Figures> {
  const before = await readPage(`${service.url}/metrics`);
  const client = flood === null ? null : await startFlood(flood);
  let healthSeconds: number;
  try {
    healthSeconds = await slowestProbe(service.url, ROUNDS * PERIOD_SECONDS * 1000, signal);
  } finally {
    client?.disconnect();
  }
  const afterSeconds = await slowestProbe(service.url, 2000, signal);
  const after = await readPage(`${service.url}/metrics`);
  const slowest = (name: string): number => highestBucket(before, after, name);
  return {
    healthSeconds,
    afterSeconds,
    decisionSeconds:
      slowest('promscaler_sync_lateness_seconds') + slowest('promscaler_sync_duration_seconds'),
    peakBytes: peakMemory(service.pid),
  };
}

async function startFlood(flood: Flood): Promise<{ readonly disconnect: () => void }> {
  const child = fork(fileURLToPath(new URL('flood-process.js', import.meta.url)));
  await once(child, 'message');
  child.send(flood);
  return { disconnect: () => child.disconnect() };
}

/** The slowest of the answers to /healthz within so long, each asked for over a connection of its own. */
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

/** Seconds until /healthz has answered; infinite where it was turned away. */
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

/** The upper edge of the highest bucket of a histogram that has grown. */
function highestBucket(before: string, after: string, name: string): number {
  const [old, now] = [bucketsOf(before, name), bucketsOf(after, name)];
  const grown = [...now].map(([edge, count]) => [edge, count - (old.get(edge) ?? 0)] as const);
  const all = Math.max(...grown.map(([, count]) => count));
  return Math.min(...grown.filter(([, count]) => count === all).map(([edge]) => edge));
}

function bucketsOf(page: string, name: string): ReadonlyMap<number, number> {
  const lines = page.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"\\} (\\d+)$`, 'gm'));
  return new Map(
    [...lines].map(([, edge, count]) => [Number(edge?.replace('+Inf', 'Infinity')), Number(count)]),
  );
}

/** The most memory that a process ever had, where the system tells (Linux). */
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

function printFigures(title: string, figures: Figures): void {
  console.log(title);
  print('  slowest /healthz', `${figures.healthSeconds.toFixed(3)} s`, 'below 1 s');
  print('  slowest /healthz afterwards', `${figures.afterSeconds.toFixed(3)} s`, 'below 1 s');
  print('  latest decision, at most', `${figures.decisionSeconds} s`, 'at most 1 s');
  print('  memory (peak RSS)', `${(figures.peakBytes / 1e6).toFixed(0)} MB`, 'below 400 MB');
}
