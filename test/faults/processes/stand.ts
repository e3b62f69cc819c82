import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoStateMaps } from '../../../src/cli/demo/workloads.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { freePort } from '../../../src/cli/demo/programs/prometheus-server.js';
import { startSimulator } from '../../../src/simulator/simulator.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { startFakeSource } from './fake-source.js';
import type { FakeSource } from './fake-source.js';
import { Proxy } from './proxy.js';
import { startReplica } from './replica.js';
import type { Replica } from './replica.js';

/** A workload, and the document that scales it by `load_NAME`, one replica per unit. */
export interface Target {
  readonly name: string;
  readonly replicas: number;
  /** Lines of the document's spec, indented by two. */
  readonly spec?: string;
  /** The data source; default: `default`. */
  readonly source?: string;
}

/** An installation of the service: a namespace with workloads, and replicas that scale them. */
export interface Installation {
  readonly namespace: string;
  /** Starts a replica that connects to the API server through its own proxy. */
  readonly startReplica: (options?: ReplicaOptions) => Promise<ProxiedReplica>;
}

export interface ReplicaOptions {
  readonly nodeFlags?: readonly string[];
  /** A file descriptor for the log; default: a pipe. */
  readonly logTo?: number;
  /** More lines of the service config. */
  readonly config?: string;
}

/** A replica, and its proxy to the API server. */
export interface ProxiedReplica extends Replica {
  readonly api: Proxy;
  readonly url: string;
  /** Starts a new process with the same config and proxy. */
  readonly restart: (options?: Pick<ReplicaOptions, 'logTo' | 'nodeFlags'>) => ProxiedReplica;
}

/** A cluster, a source of metrics, and several installations of the service. */
export interface Stand {
  readonly simulator: Simulator;
  readonly source: FakeSource;
  readonly install: (options: {
    readonly namespace: string;
    readonly targets: readonly Target[];
    /** Data sources in addition to `default`, by name: their urls. */
    readonly sources?: Readonly<Record<string, string>>;
    /** The url of `default`, if it is not the fake source. */
    readonly defaultSource?: string;
  }) => Promise<Installation>;
  /** Stops all processes and servers. */
  readonly close: () => Promise<void>;
}

/** With these, another process leads within 3 + 2 x 2.2 x 1 s. */
export const SHORT_LEASE =
  'leaderElection: { enabled: true, leaseDurationSeconds: 3, renewDeadlineSeconds: 2, retryPeriodSeconds: 1 }\n';

/** Below those that the system gives to sockets without a port: nothing takes one while its process is restarted. */
const LOWEST_PORT = 15_000;
const PORTS = 15_000;

/** Starts cluster and source, without an installation. */
export async function startStand(): Promise<Stand> {
  const simulator = await startSimulator({ clock: SYSTEM_CLOCK, requestLogSize: 100_000 });
  const source = await startFakeSource();
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-faults-'));
  const closing: (() => Promise<unknown>)[] = [];

  const start = async (namespace: string, options: ReplicaOptions, head: string): Promise<ProxiedReplica> => {
    const api = await Proxy.start(simulator.url);
    closing.push(() => api.close());
    const port = await freePort(LOWEST_PORT + Math.floor(Math.random() * PORTS));
    const configFile = join(folder, namespace, `service-${port}.yaml`);
    const text = `${head}kubernetes: { url: '${api.url}', namespaces: [${namespace}] }\nserver: { port: ${port} }\n`;
    await writeFile(configFile, text + (options.config ?? ''));
    const url = `http://127.0.0.1:${port}`;
    const run = (more: Pick<ReplicaOptions, 'logTo' | 'nodeFlags'>): ProxiedReplica => {
      const env = { POD_NAMESPACE: namespace, POD_NAME: `promscaler-${port}` };
      const replica = startReplica({ ...more, configFile, port, env });
      closing.unshift(() => replica.end('SIGKILL'));
      return { ...replica, api, url, restart: (again = {}) => run(again) };
    };
    const { logTo, nodeFlags } = options;
    return run({
      ...(logTo === undefined ? {} : { logTo }),
      ...(nodeFlags === undefined ? {} : { nodeFlags }),
    });
  };

  return {
    simulator,
    source,
    install: async ({ namespace, targets, sources = {}, defaultSource = source.url }) => {
      for (const manifest of demoStateMaps(namespace)) simulator.addObject(manifest);
      for (const { name, replicas } of targets) simulator.addWorkload({ namespace, name, replicas });
      await mkdir(join(folder, namespace, 'scalers'), { recursive: true });
      const documents = targets.map((target) => documentOf(namespace, target)).join('---\n');
      await writeFile(join(folder, namespace, 'scalers', 'all.yaml'), documents);
      const head = headOf({ default: defaultSource, ...sources });
      return { namespace, startReplica: (options = {}) => start(namespace, options, head) };
    },
    close: async () => {
      for (const end of closing) await end();
      await source.close();
      await simulator.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function headOf(sources: Readonly<Record<string, string>>): string {
  const lines = Object.entries(sources).map(
    ([name, url]) =>
      `  ${name}: { urls: ['${url}'], timeoutSeconds: 2, scrapeIntervalSeconds: 1, resourceWindowSeconds: 120 }\n`,
  );
  return `prometheus:\n${lines.join('')}state: { enabled: true }\ndefaults: { syncPeriodSeconds: 1 }\n`;
}

function documentOf(namespace: string, { name, spec = '', source = 'default' }: Target): string {
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  scaleTargetRef: { name: ${name} }
  minReplicas: 1
  maxReplicas: 200
  metrics:
    - external:
        source: ${source}
        query: sum(rate(load_${name}[2s]))
        target: { averageValue: 1 }
${spec}`;
}
