import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { findPrometheus } from '../../src/parts/find-part.js';
import { startPrometheus } from '../../src/parts/prometheus-server.js';
import type { RunningPrometheus } from '../../src/parts/prometheus-server.js';
import { startSimulator } from '../../src/simulator/simulator.js';
import type { Simulator, WorkloadOptions } from '../../src/simulator/simulator.js';

/** The built command line, as a user starts it. */
export const CLI = join(import.meta.dirname, '../../dist/cli/main.js');

/** Bringing Prometheus on a fresh machine is part of the first test's time. */
export const E2E_TIMEOUT_MS = 240_000;

/** An embedded cluster, a real Prometheus that scrapes it every second, and a folder for config and documents. */
export interface World {
  readonly simulator: Simulator;
  readonly folder: string;
  readonly prometheus: () => RunningPrometheus;
  readonly stopPrometheus: () => Promise<void>;
  /** On the same address, with an empty store. */
  readonly startPrometheusAgain: () => Promise<void>;
  readonly writeDocument: (file: string, text: string) => Promise<void>;
  readonly removeDocument: (file: string) => Promise<void>;
  readonly startService: (args?: readonly string[]) => Promise<ServiceProcess>;
  readonly replicas: (name: string) => number;
  /** Ends everything that was started. */
  readonly close: () => Promise<void>;
}

/** `promscaler run` as a process. */
export interface ServiceProcess {
  readonly url: string;
  /** All that it has written. */
  readonly output: () => string;
  /** The lines of `/metrics` that hold all of the given texts. */
  readonly metrics: (...texts: readonly string[]) => Promise<readonly string[]>;
  /** Sends the signal and gives the exit code. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>;
}

const PROMETHEUS_CONFIG = (sdUrl: string): string => `global: { scrape_interval: 1s }
scrape_configs:
  - job_name: cluster
    honor_labels: true
    http_sd_configs: [{ url: '${sdUrl}', refresh_interval: 1s }]
`;

/** A world with the given workloads in it. */
export async function startWorld(workloads: readonly WorkloadOptions[]): Promise<World> {
  const clock = SYSTEM_CLOCK;
  const env = process.env;
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-e2e-'));
  const simulator = await startSimulator({ clock, workloads });
  const binary = await findPrometheus({ env, clock });
  const config = PROMETHEUS_CONFIG(simulator.sdUrl);
  let prometheus = await startPrometheus({ binary, config, env, clock });
  const { port } = prometheus;
  await mkdir(join(folder, 'scalers'));
  await writeFile(join(folder, 'promscaler.yaml'), serviceConfig(prometheus.url, simulator.url));
  const services: ServiceProcess[] = [];
  return {
    simulator,
    folder,
    prometheus: () => prometheus,
    stopPrometheus: () => prometheus.stop(),
    startPrometheusAgain: async () => {
      prometheus = await startPrometheus({ binary, config, env, clock, port });
    },
    writeDocument: (file, text) => writeFile(join(folder, 'scalers', file), text),
    removeDocument: (file) => rm(join(folder, 'scalers', file)),
    startService: async (args = []) => {
      const service = await startService(['run', '--config', join(folder, 'promscaler.yaml'), ...args]);
      services.push(service);
      return service;
    },
    replicas: (name) => simulator.describe({ namespace: 'shop', name }).replicas,
    close: async () => {
      await Promise.all(services.map((service) => service.stop('SIGKILL')));
      await prometheus.stop();
      await simulator.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function serviceConfig(prometheusUrl: string, kubernetesUrl: string): string {
  return `prometheus:
  default: { urls: ['${prometheusUrl}'], scrapeIntervalSeconds: 1, resourceWindowSeconds: 10 }
kubernetes: { url: '${kubernetesUrl}' }
server: { port: 0 }
defaults: { syncPeriodSeconds: 1 }
`;
}

async function startService(args: readonly string[]): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  }
  const url = await waitFor(() => /"url":"(http:[^"]+)"/.exec(output)?.[1] ?? ended(child, output), {
    what: 'the service to listen',
  });
  return {
    url,
    output: () => output,
    metrics: async (...texts) => {
      const page = await (await fetch(`${url}/metrics`)).text();
      return page.split('\n').filter((line) => texts.every((text) => line.includes(text)));
    },
    stop: async (signal = 'SIGTERM') => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      child.kill(signal);
      await once(child, 'exit');
      return child.exitCode;
    },
  };
}

function ended(child: ChildProcess, output: string): undefined {
  if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}:\n${output}`);
  return undefined;
}

/** The first answer of `look` that is neither undefined nor false; throws when it does not come in time. */
export async function waitFor<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  options: { readonly what: string; readonly seconds?: number },
): Promise<T> {
  const { what, seconds = 60 } = options;
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const answer = await look();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > end) throw new Error(`waited ${seconds} s in vain for ${what}`);
    await pause(0.1);
  }
}

/** Real seconds: what is tested here lives in real time. */
export function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

/** A document that keeps `name` at 60 % of its cpu requests, with a stabilization of 10 s. */
export function cpuDocument(name: string, more = ''): string {
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: shop }
spec:
  scaleTargetRef: { name: ${name} }
  minReplicas: 2
  maxReplicas: 12
  metrics:
    - resource: { name: cpu, target: { averageUtilization: 60 } }
  downscaleStabilizationSeconds: 10
${more}`;
}
