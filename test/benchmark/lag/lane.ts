import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../../../src/cli/demo/programs/child-process.js';
import { freePort } from '../../../src/cli/demo/programs/prometheus-server.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { pause } from '../pause.js';
import { statusOf } from '../status-of.js';
import { type LagCluster, startLagCluster } from './cluster.js';
import { type DelayedWrites, startRule, startWriteProxy } from './delayed-writes.js';
import { type LagEngine, startLagEngine } from './engines.js';
import { documents, type EngineName, NAMESPACE, NODES, type Path, serviceConfig, SUBJECTS } from './plan.js';
import { CLI } from '../report.js';

/** The whole product on one engine: cluster, exporters, engine, and the built command line. */
export interface Lane {
  readonly cluster: LagCluster;
  readonly engine: LagEngine;
  /** Of the path `agent`: the Prometheus that scrapes and writes to the engine. */
  readonly agent: LagEngine | null;
  /** Of the paths `agent` and `rule`. */
  readonly writes: DelayedWrites | null;
  /** File with all decisions. */
  readonly record: string;
  readonly close: () => Promise<void>;
}

const LONGEST_START_MS = 60_000;

/** Resolves when every scaler has decided. */
export async function startLane(name: EngineName, path: Path, signal: AbortSignal): Promise<Lane> {
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const stop of closing.toReversed()) await stop();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'promscaler-lag-'));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    const cluster = await startLagCluster();
    closing.push(cluster.close);
    const engine = await startLagEngine(name, path === 'scrape' ? scrapeConfigs(cluster) : []);
    closing.push(engine.stop);
    let writes: DelayedWrites | null = null;
    let agent: LagEngine | null = null;
    if (path === 'agent') {
      const proxy = await startWriteProxy(engine.url);
      writes = proxy;
      closing.push(proxy.close);
      agent = await startLagEngine('prometheus', scrapeConfigs(cluster), proxy.url);
      closing.push(agent.stop);
    } else if (path === 'rule') {
      writes = startRule(engine.url, cluster.ruleResults);
      closing.push(writes.close);
    }
    const record = join(folder, 'record.ndjson');
    const service = await startService(path, { folder, record, engine, cluster, signal });
    closing.push(service.stop);
    return { cluster, engine, agent, writes, record, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A page of each node. The job is that of the kubelet and of the workloads at once. */
function scrapeConfigs({ exporters }: LagCluster): readonly Readonly<Record<string, unknown>>[] {
  const static_configs = Array.from({ length: NODES }, (_, node) => ({
    targets: [exporters],
    labels: { __metrics_path__: `/node/${node}`, instance: `node-${node}` },
  }));
  return [{ job_name: 'pods', static_configs }];
}

async function startService(
  path: Path,
  given: {
    readonly folder: string;
    readonly record: string;
    readonly engine: LagEngine;
    readonly cluster: LagCluster;
    readonly signal: AbortSignal;
  },
): Promise<Child> {
  const { folder, record, engine, cluster, signal } = given;
  const port = await freePort();
  const config = join(folder, 'promscaler.yaml');
  await writeFile(join(folder, 'scalers.yaml'), documents(path));
  await writeFile(
    config,
    serviceConfig(path, { engineUrl: engine.url, kubernetesUrl: cluster.url, port, record }),
  );
  const service = startChild({
    title: 'the service',
    file: process.execPath,
    args: [CLI, 'run', '--config', config],
    env: process.env,
    clock: SYSTEM_CLOCK,
  });
  const startMs = performance.now();
  const urls = SUBJECTS.map(({ name }) => `http://127.0.0.1:${port}/api/v1/scalers/${NAMESPACE}/${name}`);
  try {
    while ((await Promise.all(urls.map(statusOf))).some((status) => status !== 200)) {
      if (service.endedSignal.aborted) throw new Error(await service.ended);
      if (performance.now() - startMs > LONGEST_START_MS) throw new Error('the service has not decided');
      await pause(200, signal);
    }
  } catch (error) {
    await service.stop();
    throw error;
  }
  return service;
}
