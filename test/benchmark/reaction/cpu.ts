import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from '../../../src/cli/demo/programs/child-process.js';
import { findPrometheus } from '../../../src/cli/demo/programs/prometheus-release.js';
import { startPrometheus } from '../../../src/cli/demo/programs/prometheus-server.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { constant } from '../../../src/simulator/controllers/load.js';
import { type Simulator, startSimulator } from '../../../src/simulator/simulator.js';
import { sleep } from '../../../src/units/clock.js';
import { writeMarkedSection } from '../marked-section.js';
import { CLI, describeMachine, PAGE } from '../report.js';
import { HpaController } from '../../support/hpa-controller.js';
import { readPage, sumOf } from '../exposition.js';
import { versionOf } from '../rounds.js';
import { spread } from './write-section.js';

export const CPU_USAGE = `npm run bench -- reaction --cpu [--write]

  --write    write the section of docs/benchmarks.md`;

/** Of each run. */
const WORKLOADS = 20;
const NAMES = Array.from({ length: WORKLOADS }, (_, index) => `app-${index}`);
const REPLICAS = 10;
/** Half of the CPU request of a pod of the simulator, which is the target. */
const REQUESTS_PER_POD = 5;
const TARGET_PERCENT = 50;
const REQUEST_CORES = 0.5;
const SCRAPE_SECONDS = 15;
const PERIOD_SECONDS = 15;
/** The window of the first round, and that which was the default for every interval before. */
const LONG_WINDOW_SECONDS = 120;
const LONGEST_STEP_MS = 120_000;

/** A step of the load, which needs twice the replicas. */
interface Step {
  /** Until the first change of the replicas. */
  readonly seconds: number;
  /** The replicas that it sets. */
  readonly replicas: number;
}

interface Variant {
  readonly name: string;
  /** Settings of the data source; null: the model of the HPA instead of promscaler. */
  readonly source: string | null;
}

const VARIANTS: readonly Variant[] = [
  { name: '`resourceWindowSeconds: 120`', source: `, resourceWindowSeconds: ${LONG_WINDOW_SECONDS}` },
  { name: 'default: four scrapes', source: '' },
  { name: 'model of the HPA with metrics-server', source: null },
];

interface Run {
  readonly variant: Variant;
  readonly namespace: string;
  /** When its autoscaler starts: rounds and scrapes have the same interval, so their distance never changes. */
  readonly afterSeconds: number;
}

const RUNS: readonly Run[] = VARIANTS.flatMap((variant, index) =>
  [0, 5, 10].map((afterSeconds) => ({
    ...{ variant, afterSeconds },
    namespace: `reaction-${index}-${afterSeconds}`,
  })),
);

/** Measures the time from a step in the load to the PATCH, for cpu of a Prometheus that scrapes every 15 s. */
export async function benchCpuReaction(args: readonly string[], version: string): Promise<void> {
  const binary = await findPrometheus({ env: process.env, clock: SYSTEM_CLOCK, report: console.log });
  const simulator = await startSimulator({
    clock: SYSTEM_CLOCK,
    requestLogSize: 100_000,
    workloads: RUNS.flatMap(({ namespace }) =>
      NAMES.map((name) => ({
        ...{ namespace, name, replicas: REPLICAS },
        behavior: { load: constant(REPLICAS * REQUESTS_PER_POD) },
      })),
    ),
  });
  const config = `global: { scrape_interval: ${SCRAPE_SECONDS}s }
scrape_configs:
  - job_name: cluster
    honor_labels: true
    http_sd_configs: [{ url: '${simulator.sdUrl}', refresh_interval: 1s }]
`;
  const prometheus = await startPrometheus({ binary, config, env: process.env, clock: SYSTEM_CLOCK });
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-reaction-cpu-'));
  try {
    const urls = { prometheus: prometheus.url, kubernetes: simulator.url };
    const measured = await Promise.all(RUNS.map((run) => runSteps(run, { simulator, urls, folder })));
    const machine = describeMachine({ promscaler: version, Prometheus: await versionOf(prometheus) });
    const table = tableOf(measured);
    console.log([machine, '', ...table].join('\n'));
    if (args.includes('--write')) writeMarkedSection(PAGE, 'reaction-cpu', [sectionOf(machine, table)]);
  } finally {
    await prometheus.stop();
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function tableOf(measured: readonly (readonly Step[])[]): readonly string[] {
  const columns = VARIANTS.map((variant) =>
    measured.filter((_, index) => RUNS[index]?.variant === variant).flat(),
  );
  const row = (name: string, cell: (steps: readonly Step[]) => string): string =>
    `| ${[name, ...columns.map(cell)].join(' | ')} |`;
  return [
    `| figure | ${VARIANTS.map(({ name }) => name).join(' | ')} |`,
    `| --- |${VARIANTS.map(() => ' --- |').join('')}`,
    row('first change of the replicas: minimum, median, maximum', (steps) =>
      spread(steps.map(({ seconds }) => seconds)),
    ),
    row(`its replicas, of the ${2 * REPLICAS} that the step needs: mean`, (steps) =>
      (steps.reduce((sum, { replicas }) => sum + replicas, 0) / steps.length).toFixed(1),
    ),
  ];
}

interface Stage {
  readonly simulator: Simulator;
  readonly urls: { readonly prometheus: string; readonly kubernetes: string };
  readonly folder: string;
}

/** Runs an autoscaler for the workloads of a run, and a step of the load of each. */
async function runSteps(run: Run, stage: Stage): Promise<readonly Step[]> {
  const { simulator } = stage;
  const { namespace } = run;
  await sleep(SYSTEM_CLOCK, run.afterSeconds * 1000);
  const stop = run.variant.source === null ? startHpa(run, stage) : await startService(run, stage);
  const runStep = async (name: string): Promise<Step> => {
    const settledSeconds = LONG_WINDOW_SECONDS + 2 * SCRAPE_SECONDS + Math.random() * SCRAPE_SECONDS;
    await sleep(SYSTEM_CLOCK, settledSeconds * 1000);
    const startMs = Date.now();
    simulator.setLoad({ namespace, name }, constant(2 * REPLICAS * REQUESTS_PER_POD));
    for (;;) {
      const { replicas } = simulator.describe({ namespace, name });
      const seconds = (Date.now() - startMs) / 1000;
      if (replicas > REPLICAS) return { seconds, replicas };
      if (1000 * seconds > LONGEST_STEP_MS) throw new Error(`${name}: the load was not answered`);
      await sleep(SYSTEM_CLOCK, 100);
    }
  };
  try {
    return await Promise.all(NAMES.map(runStep));
  } finally {
    await stop();
  }
}

type Stop = () => Promise<unknown>;

async function startService(run: Run, { urls, folder }: Stage): Promise<Stop> {
  const own = join(folder, run.namespace);
  await mkdir(join(own, 'scalers'), { recursive: true });
  const documents = NAMES.map((name) => documentOf(run.namespace, name));
  await writeFile(join(own, 'scalers', 'scalers.yaml'), documents.join('---\n'));
  const file = join(own, 'promscaler.yaml');
  await writeFile(
    file,
    `prometheus: { default: { urls: ['${urls.prometheus}']${run.variant.source ?? ''} } }
kubernetes: { url: '${urls.kubernetes}' }
scalers: { paths: [scalers] }
server: { port: 0 }
defaults: { syncPeriodSeconds: ${PERIOD_SECONDS} }
log: { level: warn }
`,
  );
  const args = [CLI, 'run', '--config', file];
  const service = startChild({
    ...{ title: 'the service', file: process.execPath, args },
    ...{ env: process.env, clock: SYSTEM_CLOCK },
  });
  return () => service.stop();
}

/** The model of the HPA controller, and one of metrics-server: cpu is the mean between its last two scrapes. */
function startHpa({ namespace, afterSeconds }: Run, { simulator }: Stage): Stop {
  const usage = new Map<
    string,
    { readonly atMs: number; readonly cpuSeconds: number; readonly cores: number | null }
  >();
  const abort = new AbortController();
  const scrape = async (): Promise<void> => {
    const { page, atMs } = await readCadvisor(simulator);
    for (const name of NAMES) {
      const pods = `{container="",image="",namespace="${namespace}",pod="${name}-`;
      const cpuSeconds = sumOf(page, 'container_cpu_usage_seconds_total', pods);
      const before = usage.get(name);
      const cores =
        before === undefined ? null : (1000 * (cpuSeconds - before.cpuSeconds)) / (atMs - before.atMs);
      usage.set(name, { atMs, cpuSeconds, cores });
    }
  };
  const scraping = (async () => {
    await sleep(SYSTEM_CLOCK, (SCRAPE_SECONDS - afterSeconds) * 1000, abort.signal);
    while (!abort.signal.aborted) {
      await scrape();
      await sleep(SYSTEM_CLOCK, SCRAPE_SECONDS * 1000, abort.signal);
    }
  })();
  for (const name of NAMES) simulator.addObject(hpaOf(namespace, name));
  const controller = new HpaController(simulator, SYSTEM_CLOCK, {
    ...{ namespace, periodSeconds: PERIOD_SECONDS },
    loadOf: (name) => {
      const { cores = null } = usage.get(name) ?? {};
      return cores === null ? null : (100 * cores) / REQUEST_CORES;
    },
  });
  return () => {
    abort.abort();
    return Promise.all([controller.stop(), scraping]);
  };
}

/** Reads again if the time of the page is uncertain by more than 0.3 s: kubelet adds the time to each sample. */
async function readCadvisor({
  exporterUrl,
}: Simulator): Promise<{ readonly page: string; readonly atMs: number }> {
  for (;;) {
    const startMs = Date.now();
    const page = await readPage(`${exporterUrl}/cadvisor`);
    const endMs = Date.now();
    if (endMs - startMs <= 300) return { page, atMs: (startMs + endMs) / 2 };
    await sleep(SYSTEM_CLOCK, 100);
  }
}

function hpaOf(namespace: string, name: string): JsonObject {
  const target = { type: 'Utilization', averageUtilization: TARGET_PERCENT };
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { namespace, name },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      minReplicas: REPLICAS,
      maxReplicas: 100,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
    },
  };
}

function documentOf(namespace: string, name: string): string {
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: ${namespace} }
spec:
  scaleTargetRef: { name: ${name} }
  minReplicas: ${REPLICAS}
  maxReplicas: 100
  metrics: [{ resource: { name: cpu, target: { averageUtilization: ${TARGET_PERCENT} } } }]
`;
}

function sectionOf(machine: string, table: readonly string[]): string {
  return `## Reaction time of CPU

How long a step in the load takes until the replicas first change, for CPU utilization with scrapes every ${SCRAPE_SECONDS} s and
\`syncPeriodSeconds: ${PERIOD_SECONDS}\`, with a real Prometheus. \`npm run bench -- reaction --cpu --write\` measures it and writes this
section: for each column, the load of each of ${(WORKLOADS * RUNS.length) / VARIANTS.length} workloads doubles once, at a random time. All other settings are the
defaults.

The last column is a model on the same simulated cluster, not the HPA itself: its controller every ${PERIOD_SECONDS} s, and
metrics-server, which scrapes every ${SCRAPE_SECONDS} s and has the mean of the last interval. On a control plane of Kubernetes 1.36
with a metrics API that answered at once, the HPA wrote after 1.3, 9.7 and 18.4 s (minimum, median and maximum of 20
steps); metrics-server adds up to 15 s.

A step shows when it exceeds the tolerance of 10 %: after 1.5 s in the interval of metrics-server, and after 4.5 s in
the 45 s between the first and the last of four scrapes, so the default is 3 s later than the model, and more on a busy
machine. In four runs, the median of the default was 18.9 to 24.0 s (20.9 s on an idle machine), and that of the model
17.3 to 18.3 s. With scrapes every 5 s, the window is 20 s, a step shows after 1.5 s, and the load needs
[more pods](#window-of-cpu).

Rounds do not follow the scrapes: one round serves all scalers with merged queries, and Prometheus spreads the scrapes
of its targets over the interval, so that the pods of most workloads have no common time of their newest samples. A
scaler with \`syncPeriodSeconds: 5\` waits 5 s less for its round on average, for three times the queries.

- Machine: ${machine}
- Date: ${new Date().toISOString().slice(0, 10)}

${table.join('\n')}`;
}
