import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { findPrometheus } from '../../src/cli/demo/programs/prometheus-release.js';
import {
  freePort,
  startPrometheus,
  type RunningPrometheus,
} from '../../src/cli/demo/programs/prometheus-server.js';
import { startCluster } from './cluster.js';
import type { ClusterAddresses, RequestCounts, RunningCluster } from './cluster.js';
import { distinctQueries, metricsOf, PERIOD_SECONDS, SCRAPE_SECONDS, writeDocuments } from './documents.js';
import type { Variant } from './documents.js';
import { countOf, readPage, sumOf } from './exposition.js';
import { pause } from './pause.js';
import { median, print } from './report.js';
import { startService } from './service.js';
import type { RunningService } from './service.js';
import { PODS } from './workloads.js';

/** The environment of the service, and its end. */
export interface Stage {
  readonly cluster: RunningCluster;
  readonly prometheus: RunningPrometheus;
  /** Directory for files; removed at the end. */
  readonly folder: string;
  /** Flags of node for the service. */
  readonly nodeFlags: readonly string[];
  /** Aborted to end the benchmark early. */
  readonly signal: AbortSignal;
}

/** Starts cluster and Prometheus for `work`, and stops both in any case. */
export async function onStage(
  { nodeFlags, signal }: Pick<Stage, 'nodeFlags' | 'signal'>,
  work: (stage: Stage) => Promise<void>,
): Promise<void> {
  const report = (line: string): void => console.log(line);
  const binary = await findPrometheus({ env: process.env, clock: SYSTEM_CLOCK, report });
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-bench-'));
  try {
    const cluster = await startCluster();
    try {
      const config = prometheusConfig(cluster);
      const prometheus = await startPrometheus({ binary, config, env: process.env, clock: SYSTEM_CLOCK });
      try {
        await waitForRates(prometheus.url, signal);
        await work({ cluster, prometheus, folder, nodeFlags, signal });
      } finally {
        await prometheus.stop();
      }
    } finally {
      await cluster.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function prometheusConfig({ sdUrl, gatewayUrl }: ClusterAddresses): string {
  return `global: { scrape_interval: ${SCRAPE_SECONDS}s }
scrape_configs:
  - job_name: cluster
    honor_labels: true
    http_sd_configs: [{ url: '${sdUrl}' }]
  - job_name: gateway
    honor_labels: true
    static_configs: [{ targets: ['${new URL(gatewayUrl).host}'] }]
`;
}

/** Returns the version of a running Prometheus. */
export async function versionOf({ url }: RunningPrometheus): Promise<string> {
  const info = /^prometheus_build_info\{.*version="([^"]*)"/m.exec(await readPage(`${url}/metrics`));
  return info?.[1] ?? 'unknown';
}

/** Waits until each pod has a rate: otherwise the first decision would have no metrics. */
async function waitForRates(url: string, signal: AbortSignal): Promise<void> {
  const rates = ['container_cpu_usage_seconds_total{container="app"}', 'http_requests_total'];
  const query = rates.map((name) => `count(rate(${name}[10s])) == ${PODS}`).join(' and ');
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const page = await readPage(`${url}/api/v1/query?query=${encodeURIComponent(query)}`);
    if (page.includes('"value"')) return;
    await pause(500, signal);
  }
  throw new Error(`Prometheus has no rates of ${PODS} pods after 30 s`);
}

/** The first rounds, in which the code is still being compiled and the HPAs are listed, are not measured. */
const WARMUP_ROUNDS = 2;
const ROUNDS = 5;

/** Measures start, rounds and idle traffic of a service with the documents of one variant. */
export async function benchRounds(stage: Stage, variant: Variant): Promise<void> {
  console.log(`\n${variant.title}`);
  const port = await freePort();
  const folder = join(stage.folder, `${variant.shared}`);
  const addresses = { prometheusUrl: stage.prometheus.url, kubernetesUrl: stage.cluster.url, port };
  const configFile = await writeDocuments(folder, variant, addresses);
  const { nodeFlags, signal } = stage;
  const service = await startService({ configFile, port, nodeFlags, signal });
  try {
    // Half a period away from the rounds, so that each interval contains exactly one of them.
    await pause((WARMUP_ROUNDS + 0.5) * PERIOD_SECONDS * 1000, signal);
    const figures = await measure(stage, service);
    checkWork(figures.page, variant);
    printFigures(service, figures, variant);
  } finally {
    await service.stop();
  }
}

interface Figures {
  readonly roundCpuSeconds: readonly number[];
  readonly pageCpuSeconds: readonly number[];
  readonly pageSeconds: readonly number[];
  readonly residentBytes: readonly number[];
  readonly heapBytes: readonly number[];
  readonly ownQueries: number;
  readonly prometheusQueries: number;
  readonly requests: RequestCounts;
  readonly page: string;
}

async function measure({ cluster, prometheus, signal }: Stage, { url }: RunningService): Promise<Figures> {
  const requestsBefore = await cluster.countRequests();
  const queriesBefore = await queriesOf(prometheus);
  const startMs = performance.now();
  const looks = [await look(url, signal)];
  for (let round = 1; round <= ROUNDS; round += 1) {
    await pause(startMs + round * PERIOD_SECONDS * 1000 - performance.now(), signal);
    looks.push(await look(url, signal));
  }
  const rounds = looks.slice(1).map((after, index) => ({ before: looks[index] ?? after, after }));
  const queries = (page: string): number => sumOf(page, 'promscaler_queries_total');
  const last = looks.at(-1);
  const first = looks.at(0);
  if (last === undefined || first === undefined) throw new Error('nothing was measured');
  return {
    roundCpuSeconds: rounds.map(({ before, after }) => after.cpuBefore - before.cpuAfter - before.pageCpu),
    pageCpuSeconds: looks.map(({ pageCpu }) => pageCpu),
    pageSeconds: looks.map(({ pageSeconds }) => pageSeconds),
    residentBytes: looks.map(({ page }) => sumOf(page, 'process_resident_memory_bytes')),
    heapBytes: looks.map(({ page }) => sumOf(page, 'nodejs_heap_size_used_bytes')),
    ownQueries: (queries(last.page) - queries(first.page)) / ROUNDS,
    prometheusQueries: ((await queriesOf(prometheus)) - queriesBefore) / ROUNDS,
    requests: difference(await cluster.countRequests(), requestsBefore),
    page: last.page,
  };
}

/** A page is cached for 1 s for all clients. */
const PAGE_KEPT_MS = 1100;

/**
 * Reads two pages, 1.1 s apart and between two rounds. The cpu counter is read at the start of a page, so the second
 * page has the cost of the first one; the cost of the second one, assumed equal, must be subtracted from the round that
 * follows.
 */
async function look(
  url: string,
  signal: AbortSignal,
): Promise<{
  readonly page: string;
  readonly cpuBefore: number;
  readonly cpuAfter: number;
  readonly pageCpu: number;
  readonly pageSeconds: number;
}> {
  const startMs = performance.now();
  const first = await readPage(`${url}/metrics`);
  const pageSeconds = (performance.now() - startMs) / 1000;
  await pause(PAGE_KEPT_MS, signal);
  const page = await readPage(`${url}/metrics`);
  const [cpuBefore, cpuAfter] = [sumOf(first, CPU), sumOf(page, CPU)];
  return { page, cpuBefore, cpuAfter, pageCpu: cpuAfter - cpuBefore, pageSeconds };
}

const CPU = 'process_cpu_seconds_total';

/** Returns the number of queries as Prometheus counts them. */
async function queriesOf({ url }: RunningPrometheus): Promise<number> {
  return sumOf(await readPage(`${url}/metrics`), 'prometheus_http_requests_total', 'handler="/api/v1/query"');
}

function difference(after: RequestCounts, before: RequestCounts): RequestCounts {
  const changed = Object.entries(after).map(([what, count]) => [what, count - (before[what] ?? 0)] as const);
  return Object.fromEntries(changed.filter(([, count]) => count > 0));
}

/** Throws if the service does not do its work: its figures would be too good. */
function checkWork(page: string, variant: Variant): void {
  const proposals = countOf(page, 'promscaler_metric_proposal_replicas');
  if (proposals !== metricsOf(variant))
    throw new Error(`${proposals} of ${metricsOf(variant)} metrics have a proposal`);
}

function printFigures(service: RunningService, figures: Figures, variant: Variant): void {
  print('first decision after the start', `${service.firstDecisionSeconds.toFixed(2)} s`, 'at most 3 s');
  print('all scalers have decided', `${service.lastDecisionSeconds.toFixed(2)} s`, 'at most 3 s');
  print('cpu time until then', `${service.startCpuSeconds.toFixed(2)} s`, '');
  print('cpu time of a round', `${median(figures.roundCpuSeconds).toFixed(3)} s`, 'at most 0.5 s');
  print('... smallest and largest', rangeOf(figures.roundCpuSeconds), '');
  print('memory (RSS)', `${(Math.max(...figures.residentBytes) / 1e6).toFixed(0)} MB`, 'below 300 MB');
  print('heap in use', `${(Math.max(...figures.heapBytes) / 1e6).toFixed(0)} MB`, '');
  const distinct = distinctQueries(variant);
  print('queries a round', `${figures.ownQueries}`, `${distinct}, as many as distinct ones`);
  print('queries a round, as Prometheus counts', `${figures.prometheusQueries}`, `${distinct}`);
  print(`requests to the API server, ${ROUNDS} rounds`, listRequests(figures.requests), 'watches');
  print('/metrics, cpu time', `${median(figures.pageCpuSeconds).toFixed(3)} s`, '');
  print('/metrics, to the last byte', `${median(figures.pageSeconds).toFixed(3)} s`, '');
}

function rangeOf(seconds: readonly number[]): string {
  return `${Math.min(...seconds).toFixed(3)}-${Math.max(...seconds).toFixed(3)} s`;
}

function listRequests(requests: RequestCounts): string {
  const list = Object.entries(requests).map(([what, count]) => `${count} ${what}`);
  return list.length === 0 ? 'none' : list.join(', ');
}
