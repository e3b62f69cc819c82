import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { constant } from '../../src/simulator/controllers/load.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { startFilled } from '../support/filled-server.js';
import type { WrittenSeries } from '../support/remote-write.js';
import { type ServiceProcess, startService } from './service-process.js';

export interface OnHistory {
  readonly service: ServiceProcess;
  readonly simulator: Simulator;
  /** Returns the answer to `GET /api/v1/PATH`. */
  readonly read: (path: string) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

/** Starts a service on a real Prometheus with a history, and on the embedded cluster with 10 pods per scaler. */
export async function startOnHistory({
  names,
  series,
  stepSeconds,
  spec,
  config = '',
}: {
  readonly names: readonly string[];
  readonly series: readonly WrittenSeries[];
  readonly stepSeconds: number;
  /** Returns further lines of `spec`. */
  readonly spec: (name: string) => string;
  /** Further lines of the service config. */
  readonly config?: string;
}): Promise<OnHistory> {
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-history-'));
  const simulator = await startSimulator({
    clock: SYSTEM_CLOCK,
    workloads: names.map((name) => ({
      namespace: 'shop',
      name,
      replicas: 10,
      behavior: { load: constant(1) },
    })),
  });
  const prometheus = await startFilled('Prometheus', series);
  const configFile = join(folder, 'promscaler.yaml');
  await writeFile(
    configFile,
    `kubernetes: { url: '${simulator.url}' }
scalers: { paths: [scalers.yaml] }
prometheus: { default: { urls: ['${prometheus.url}'], scrapeIntervalSeconds: ${stepSeconds} } }
server: { port: 0 }
leaderElection: { enabled: false }
${config}`,
  );
  const documents = names.map((name) => documentOf(name, spec(name)));
  await writeFile(join(folder, 'scalers.yaml'), documents.join('---\n'));
  const service = await startService(['run', '--config', configFile]);
  return {
    service,
    simulator,
    read: async (path) => (await fetch(`${service.url}/api/v1/${path}`)).json(),
    close: async () => {
      await service.stop();
      await prometheus.stop();
      await simulator.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function documentOf(name: string, spec: string): string {
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: shop }
spec:
  scaleTargetRef: { name: ${name} }
  minReplicas: 1
  maxReplicas: 60
  metrics:
    - external: { metric: { name: load }, query: sum(load), target: { averageValue: 4 } }
${spec}`;
}
