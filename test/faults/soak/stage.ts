import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoStateMaps } from '../../../src/cli/demo/workloads.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { findPrometheus } from '../../../src/cli/demo/programs/prometheus-release.js';
import { freePort, startPrometheus } from '../../../src/cli/demo/programs/prometheus-server.js';
import { dailyWave } from '../../../src/simulator/controllers/load.js';
import { startSimulator } from '../../../src/simulator/simulator.js';
import type { Simulator, WorkloadOptions } from '../../../src/simulator/simulator.js';
import { waitFor } from '../../e2e/waiting.js';
import { Proxy } from '../processes/proxy.js';
import { startReplica } from '../processes/replica.js';
import type { Replica } from '../processes/replica.js';

/** A replica, and the proxies between it and the two servers it needs. */
export interface SoakedReplica extends Replica {
  readonly api: Proxy;
  readonly metricsProxy: Proxy;
  readonly url: string;
}

/** A cluster under a changing load, a real Prometheus, and two replicas of the service. */
export interface SoakStage {
  readonly simulator: Simulator;
  /** The replica that is sampled: it lives from the start to the end. */
  readonly watched: SoakedReplica;
  /** The other replica, which is killed now and then. */
  readonly other: () => SoakedReplica;
  readonly restartOther: () => Promise<void>;
  /** Makes the watched replica the leader: samples of a standby, which does half of the work, are not comparable. */
  readonly letWatchedLead: () => Promise<void>;
  readonly stopPrometheus: () => Promise<void>;
  /** Starts it at the same address, without data. */
  readonly startPrometheus: () => Promise<void>;
  /** Rewrites all documents, with another comment. */
  readonly rewriteDocuments: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const SCALERS = 20;
const NAMESPACE = 'shop';
/** At least ten times normal speed (periods are whole seconds): 1 s for 15 s, 1 s for 30 s, 10 s for 120 s. */
const PERIOD_SECONDS = 1;
const WINDOW_SECONDS = 10;
const LEASE = '{ enabled: true, leaseDurationSeconds: 3, renewDeadlineSeconds: 2, retryPeriodSeconds: 1 }';

/** Starts all processes. `probe`: the module that answers samples. */
export async function startSoakStage(probe: string): Promise<SoakStage> {
  const clock = SYSTEM_CLOCK;
  const { env } = process;
  const simulator = await startSimulator({ clock, workloads: workloads(), requestLogSize: 1000 });
  for (const manifest of demoStateMaps(NAMESPACE)) simulator.addObject(manifest);
  const pages = ['cadvisor', 'queues', 'pods'].map((page) => `${simulator.sdUrl}/${page}`);
  const sd = JSON.stringify(pages.map((url) => ({ url, refresh_interval: '1s' })));
  const config = `global: { scrape_interval: 1s }
scrape_configs: [{ job_name: cluster, honor_labels: true, http_sd_configs: ${sd} }]
`;
  const binary = await findPrometheus({ env, clock, report: console.error });
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-soak-'));
  let prometheus = await startPrometheus({ binary, config, env, clock });
  const { port } = prometheus;
  await mkdir(join(folder, 'scalers'));
  let generation = 0;
  const writeAll = async (): Promise<void> => {
    generation += 1;
    const text = Array.from({ length: SCALERS }, (_, index) => documentOf(index, generation)).join('---\n');
    await writeFile(join(folder, 'scalers', 'all.yaml'), text);
  };
  await writeAll();

  const start = async (): Promise<SoakedReplica> => {
    const api = await Proxy.start(simulator.url);
    const metricsProxy = await Proxy.start(prometheus.url);
    const ownPort = await freePort();
    const configFile = join(folder, `service-${ownPort}.yaml`);
    await writeFile(configFile, serviceConfig({ api: api.url, source: metricsProxy.url, port: ownPort }));
    const replica = startReplica({
      configFile,
      port: ownPort,
      env: { POD_NAMESPACE: NAMESPACE, POD_NAME: `promscaler-${ownPort}` },
      nodeFlags: ['--expose-gc', '--import', probe],
    });
    return { ...replica, api, metricsProxy, url: `http://127.0.0.1:${ownPort}` };
  };
  const end = async (replica: SoakedReplica): Promise<void> => {
    await replica.end('SIGKILL');
    await Promise.all([replica.api.close(), replica.metricsProxy.close()]);
  };
  const watched = await start();
  let other = await start();
  const stage: SoakStage = {
    simulator,
    watched,
    other: () => other,
    restartOther: async () => {
      await end(other);
      other = await start();
    },
    letWatchedLead: async () => {
      if (await leads(watched)) return;
      other.signal('SIGKILL');
      await waitFor(async () => (await leads(watched)) || undefined, { what: 'the watched replica leads' });
      await stage.restartOther();
    },
    stopPrometheus: () => prometheus.stop(),
    startPrometheus: async () => {
      prometheus = await startPrometheus({ binary, config, env, clock, port });
    },
    rewriteDocuments: writeAll,
    close: async () => {
      await Promise.all([end(watched), end(other)]);
      await prometheus.stop();
      await simulator.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await Promise.all([watched.listening(), other.listening()]);
  } catch (error) {
    await stage.close();
    throw error;
  }
  return stage;
}

async function leads({ url }: SoakedReplica): Promise<boolean> {
  const response = await fetch(`${url}/metrics`);
  return /^promscaler_leader 1$/m.test(await response.text());
}

/** Their loads change, each with its own period, so that there is always something to scale. */
function workloads(): readonly WorkloadOptions[] {
  return Array.from({ length: SCALERS }, (_, index) => ({
    namespace: NAMESPACE,
    name: `w${index}`,
    replicas: 3,
    behavior: { load: dailyWave({ low: 10, high: 60, periodSeconds: 60 + 7 * index }) },
  }));
}

function serviceConfig(given: {
  readonly api: string;
  readonly source: string;
  readonly port: number;
}): string {
  return `prometheus:
  default: { urls: ['${given.source}'], timeoutSeconds: 1, scrapeIntervalSeconds: 1, resourceWindowSeconds: 10 }
kubernetes: { url: '${given.api}' }
server: { port: ${given.port} }
state: { enabled: true }
leaderElection: ${LEASE}
defaults: { syncPeriodSeconds: ${PERIOD_SECONDS} }
`;
}

function documentOf(index: number, generation: number): string {
  return `# written ${generation} times
apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: w${index}, namespace: ${NAMESPACE} }
spec:
  scaleTargetRef: { name: w${index} }
  minReplicas: 2
  maxReplicas: 12
  metrics:
    - resource: { name: cpu, target: { averageUtilization: 60 } }
  downscaleStabilizationSeconds: ${WINDOW_SECONDS}
  upscaleForbiddenWindowSeconds: ${WINDOW_SECONDS}
`;
}
