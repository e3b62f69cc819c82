import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPrometheus } from '../../src/cli/demo/programs/prometheus-release.js';
import { startPrometheus } from '../../src/cli/demo/programs/prometheus-server.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { startVictoriaMetrics } from '../support/victoria-metrics.js';

/** A server with the API of Prometheus that scrapes; also the `flavor` of its data source. */
export type Engine = 'prometheus' | 'victoriametrics';

export interface RunningEngine {
  readonly url: string;
  readonly port: number;
  /** Deletes its data. */
  readonly stop: () => Promise<void>;
}

interface EngineOptions {
  /** Contents of prometheus.yml. */
  readonly config: string;
  /** 0: any free port. */
  readonly port: number;
}

/** Starts an engine without data, and with its own defaults for queries. */
export function startEngine(engine: Engine, options: EngineOptions): Promise<RunningEngine> {
  return engine === 'prometheus' ? startRealPrometheus(options) : startScrapingVictoriaMetrics(options);
}

async function startRealPrometheus(options: EngineOptions): Promise<RunningEngine> {
  const [env, clock] = [process.env, SYSTEM_CLOCK];
  return startPrometheus({ ...options, binary: await findPrometheus({ env, clock }), env, clock });
}

async function startScrapingVictoriaMetrics({ config, port }: EngineOptions): Promise<RunningEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-scrape-'));
  const file = join(folder, 'prometheus.yml');
  await writeFile(file, config);
  const args = [
    `-promscrape.config=${file}`,
    // It has a flag in place of `refresh_interval`.
    '-promscrape.config.strictParse=false',
    '-promscrape.httpSDCheckInterval=1s',
  ];
  const { kill, ...running } = await startVictoriaMetrics({ port, args });
  return {
    ...running,
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
