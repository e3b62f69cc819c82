import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { findPrometheus } from '../../src/cli/demo/programs/find-prometheus.js';
import { startPrometheus } from '../../src/cli/demo/programs/prometheus-server.js';
import { startService } from './service-process.js';
import type { ServiceProcess } from './service-process.js';

/**
 * The common part of all worlds: a real Prometheus that scrapes every second, and a directory for config and documents.
 */
export interface Stage {
  readonly folder: string;
  readonly stopPrometheus: () => Promise<void>;
  /** Starts it at the same address, without data. */
  readonly startPrometheusAgain: () => Promise<void>;
  readonly writeDocument: (file: string, text: string) => Promise<void>;
  readonly removeDocument: (file: string) => Promise<void>;
  readonly startService: (args?: readonly string[]) => Promise<ServiceProcess>;
  /** Stops all processes and servers. */
  readonly close: () => Promise<void>;
}

export interface StageOptions {
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
  const clock = SYSTEM_CLOCK;
  const env = process.env;
  const config = `global: { scrape_interval: 1s }\nscrape_configs: ${options.scrapeConfigs}\n`;
  const binary = await findPrometheus({ env, clock });
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-e2e-'));
  let prometheus = await startPrometheus({ binary, config, env, clock });
  const { port } = prometheus;
  await mkdir(join(folder, 'scalers'));
  const configFile = join(folder, 'promscaler.yaml');
  await writeFile(configFile, serviceConfig(prometheus.url, options));
  const services: ServiceProcess[] = [];
  return {
    folder,
    stopPrometheus: () => prometheus.stop(),
    startPrometheusAgain: async () => {
      prometheus = await startPrometheus({ binary, config, env, clock, port });
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
  { kubernetes, keepsState }: Pick<StageOptions, 'kubernetes' | 'keepsState'>,
): string {
  return `prometheus:
  default: { urls: ['${prometheusUrl}'], scrapeIntervalSeconds: 1, resourceWindowSeconds: 10 }
kubernetes: ${JSON.stringify(kubernetes)}
state: { enabled: ${keepsState} }
server: { port: 0 }
defaults: { syncPeriodSeconds: 1 }
`;
}
