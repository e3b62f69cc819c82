import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from '../../../src/cli/demo/programs/child-process.js';
import { findPrometheus } from '../../../src/cli/demo/programs/prometheus-release.js';
import { startPrometheus } from '../../../src/cli/demo/programs/prometheus-server.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { constant } from '../../../src/simulator/model/curves.js';
import { type Simulator, startSimulator } from '../../../src/simulator/simulator.js';
import { sleep } from '../../../src/units/clock.js';
import { writeMarkedSection } from '../marked-section.js';
import { describeMachine, median } from '../report.js';
import { versionOf } from '../rounds.js';

export const CPU_USAGE = `npm run bench -- reaction --cpu [--write]

  --write    write the section of docs/benchmarks.md`;

const PAGE = new URL('../../../../docs/benchmarks.md', import.meta.url);
const CLI = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url));
const NAMESPACE = 'reaction';
/** Of each run. */
const WORKLOADS = 10;
const REPLICAS = 10;
/** Half of the CPU request of a pod of the simulator, which is the target. */
const REQUESTS_PER_POD = 5;
const SCRAPE_SECONDS = 15;
const PERIOD_SECONDS = 15;
/** The window of the first round, and that which was the default for every interval before. */
const LONG_WINDOW_SECONDS = 120;
const LONGEST_STEP_MS = 120_000;

/** A step of the load, which needs twice the replicas. */
interface Step {
  /** Until the first PATCH. */
  readonly seconds: number;
  /** The replicas that the first PATCH sets. */
  readonly replicas: number;
}

interface Variant {
  readonly name: string;
  /** Settings of the data source. */
  readonly source: string;
}

const VARIANTS: readonly Variant[] = [
  { name: '`resourceWindowSeconds: 120`', source: `, resourceWindowSeconds: ${LONG_WINDOW_SECONDS}` },
  { name: 'default: four scrapes', source: '' },
];

interface Run {
  readonly variant: Variant;
  /** When its service starts: rounds and scrapes have the same interval, so their distance never changes. */
  readonly afterSeconds: number;
}

const RUNS: readonly Run[] = VARIANTS.flatMap((variant) =>
  [0, 5, 10].map((afterSeconds) => ({ variant, afterSeconds })),
);

/** Measures the time from a step in the load to the PATCH, for cpu of a Prometheus that scrapes every 15 s. */
export async function benchCpuReaction(args: readonly string[], version: string): Promise<void> {
  const binary = await findPrometheus({ env: process.env, clock: SYSTEM_CLOCK, report: console.log });
  const names = RUNS.flatMap(namesOf);
  const simulator = await startSimulator({
    clock: SYSTEM_CLOCK,
    requestLogSize: 100_000,
    workloads: names.map((name) => ({
      namespace: NAMESPACE,
      name,
      replicas: REPLICAS,
      behavior: { load: constant(REPLICAS * REQUESTS_PER_POD) },
    })),
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
    if (args.includes('--write'))
      writeMarkedSection(fileURLToPath(PAGE), 'reaction-cpu', [sectionOf(machine, table)]);
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
    '| --- | --- | --- |',
    row('first PATCH: minimum, median, maximum', (steps) => spread(steps.map(({ seconds }) => seconds))),
    row(`its replicas, of the ${2 * REPLICAS} that the step needs: mean`, (steps) =>
      (steps.reduce((sum, { replicas }) => sum + replicas, 0) / steps.length).toFixed(1),
    ),
  ];
}

/** Runs a service for the workloads of a run, and a step of the load of each. */
async function runSteps(
  run: Run,
  given: {
    readonly simulator: Simulator;
    readonly urls: { readonly prometheus: string; readonly kubernetes: string };
    readonly folder: string;
  },
): Promise<readonly Step[]> {
  const { simulator, urls } = given;
  await sleep(SYSTEM_CLOCK, run.afterSeconds * 1000);
  const folder = join(given.folder, `${VARIANTS.indexOf(run.variant)}-${run.afterSeconds}`);
  await mkdir(join(folder, 'scalers'), { recursive: true });
  await writeFile(join(folder, 'scalers', 'scalers.yaml'), namesOf(run).map(documentOf).join('---\n'));
  const file = join(folder, 'promscaler.yaml');
  await writeFile(
    file,
    `prometheus: { default: { urls: ['${urls.prometheus}']${run.variant.source} } }
kubernetes: { url: '${urls.kubernetes}' }
scalers: { paths: [scalers] }
server: { port: 0 }
defaults: { syncPeriodSeconds: ${PERIOD_SECONDS} }
log: { level: warn }
`,
  );
  const service = startChild({
    title: 'the service',
    file: process.execPath,
    args: [CLI, 'run', '--config', file],
    env: process.env,
    clock: SYSTEM_CLOCK,
  });
  const runStep = async (name: string): Promise<Step> => {
    const settledSeconds = LONG_WINDOW_SECONDS + 2 * SCRAPE_SECONDS + Math.random() * SCRAPE_SECONDS;
    await sleep(SYSTEM_CLOCK, settledSeconds * 1000);
    const startMs = Date.now();
    simulator.setLoad({ namespace: NAMESPACE, name }, constant(2 * REPLICAS * REQUESTS_PER_POD));
    for (;;) {
      const first = simulator
        .requests()
        .find(
          (request) =>
            request.subresource === 'scale' &&
            request.verb === 'patch' &&
            request.isApplied &&
            request.name === name &&
            request.at >= startMs,
        );
      if (first !== undefined)
        return { seconds: (first.at - startMs) / 1000, replicas: replicasOf(first.body) };
      if (Date.now() - startMs > LONGEST_STEP_MS) throw new Error(`${name}: the load was not answered`);
      await sleep(SYSTEM_CLOCK, 100);
    }
  };
  try {
    return await Promise.all(namesOf(run).map(runStep));
  } finally {
    await service.stop();
  }
}

function namesOf(run: Run): readonly string[] {
  const prefix = `app-${VARIANTS.indexOf(run.variant)}-${run.afterSeconds}`;
  return Array.from({ length: WORKLOADS }, (_, index) => `${prefix}-${index}`);
}

function replicasOf(body: string | null): number {
  const { spec } = JSON.parse(body ?? '{}') as { spec?: { replicas?: number } };
  return spec?.replicas ?? 0;
}

function spread(seconds: readonly number[]): string {
  const figures = [Math.min(...seconds), median(seconds), Math.max(...seconds)];
  return figures.map((figure) => `${figure.toFixed(1)} s`).join(', ');
}

function documentOf(name: string): string {
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: ${NAMESPACE} }
spec:
  scaleTargetRef: { name: ${name} }
  minReplicas: ${REPLICAS}
  maxReplicas: 100
  metrics: [{ resource: { name: cpu, target: { averageUtilization: 50 } } }]
`;
}

function sectionOf(machine: string, table: readonly string[]): string {
  return `## Reaction time of CPU

How long a step in the load takes until the first PATCH, for CPU utilization with scrapes every ${SCRAPE_SECONDS} s and
\`syncPeriodSeconds: ${PERIOD_SECONDS}\`, with a real Prometheus. \`npm run bench -- reaction --cpu --write\` measures it and writes this
section: for each column, the load of each of ${(WORKLOADS * RUNS.length) / VARIANTS.length} workloads doubles once, at a random time. All other settings are the
defaults.

- Machine: ${machine}
- Date: ${new Date().toISOString().slice(0, 10)}

${table.join('\n')}`;
}
