import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngine } from './engine.js';
import type { Engine } from './engine.js';
import { startService } from './service-process.js';
import type { ServiceProcess } from './service-process.js';

/**
 * The common part of all fixtures: a real Prometheus or VictoriaMetrics that scrapes every second, and a directory for
 * config and documents.
 */
export interface Stage {
  readonly folder: string;
  readonly stopPrometheus: () => Promise<void>;
  /** Starts it at the same address, without data; without `scrapes` it stays empty. */
  readonly startPrometheusAgain: (options?: { readonly scrapes: boolean }) => Promise<void>;
  readonly writeDocument: (file: string, text: string) => Promise<void>;
  readonly removeDocument: (file: string) => Promise<void>;
  readonly startService: (args?: readonly string[]) => Promise<ServiceProcess>;
  /** Stops all processes and servers. */
  readonly close: () => Promise<void>;
}

export interface StageOptions {
  readonly engine: Engine;
  /** The list below `scrape_configs`, as YAML or JSON. */
  readonly scrapeConfigs: string;
  /** The value of `kubernetes` in the service config. */
  readonly kubernetes: Readonly<Record<string, unknown>>;
  /** Whether the state of the service survives it, in existing ConfigMaps. */
  readonly keepsState: boolean;
  /** The namespace of the service itself, for its Lease and its state. */
  readonly ownNamespace: string;
}

/** Starts Prometheus and writes the service config. */
export async function startStage(options: StageOptions): Promise<Stage> {
  const { engine } = options;
  const config = (scrapeConfigs: string): string =>
    `global: { scrape_interval: 1s }\nscrape_configs: ${scrapeConfigs}\n`;
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-e2e-'));
  let prometheus = await startEngine(engine, { config: config(options.scrapeConfigs), port: 0 });
  const { port } = prometheus;
  await mkdir(join(folder, 'scalers'));
  const configFile = join(folder, 'promscaler.yaml');
  await writeFile(configFile, serviceConfig(prometheus.url, options));
  const services: ServiceProcess[] = [];
  return {
    folder,
    stopPrometheus: () => prometheus.stop(),
    startPrometheusAgain: async ({ scrapes } = { scrapes: true }) => {
      prometheus = await startEngine(engine, {
        config: config(scrapes ? options.scrapeConfigs : '[]'),
        port,
      });
    },
    writeDocument: (file, text) => writeFile(join(folder, 'scalers', file), text),
    removeDocument: (file) => rm(join(folder, 'scalers', file)),
    startService: async (args = []) => {
      const variables = { POD_NAMESPACE: options.ownNamespace };
      const service = await startService(['run', '--config', configFile, ...args], variables);
      services.push(service);
      return service;
    },
    close: async () => {
      await Promise.all(services.map((service) => service.stop('SIGKILL')));
      await prometheus.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function serviceConfig(
  prometheusUrl: string,
  { engine, kubernetes, keepsState }: Pick<StageOptions, 'engine' | 'kubernetes' | 'keepsState'>,
): string {
  return `prometheus:
  default: { urls: ['${prometheusUrl}'], flavor: ${engine}, scrapeIntervalSeconds: 1, resourceWindowSeconds: 10 }
kubernetes: ${JSON.stringify(kubernetes)}
state: { enabled: ${keepsState} }
server: { port: 0 }
# On VictoriaMetrics the default CPU query has a selector without a range: otherwise the hold has 300 s.
recoveryHoldMaxSeconds: 10
defaults: { syncPeriodSeconds: 1 }
`;
}
