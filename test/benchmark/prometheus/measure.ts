import { readFile, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { freePort, type RunningPrometheus } from '../../../src/cli/demo/programs/prometheus-server.js';
import { readPage, sumOf } from '../exposition.js';
import { pause } from '../pause.js';
import { writeConfig } from '../scale/documents.js';
import { startPacedService } from '../scale/paced-service.js';
import type { PacedService } from '../scale/paced-service.js';
import { faultsOf, measureStart } from '../scale/run-size.js';
import type { StartFigures } from '../scale/run-size.js';
import type { PaceFigures } from '../scale/pace.js';
import type { SimulationSize } from '../scale/workloads.js';
import type { RunningSimulation } from '../scale/simulation-client.js';
import { prometheusConfig, SCRAPE_SECONDS, WINDOW_SECONDS } from './config.js';
import { costBetween, lookAt } from './look.js';
import type { Cost, Look } from './look.js';
import { costOfKinds } from './query-log.js';
import type { KindCost } from './query-log.js';

export interface MeasureOptions {
  readonly size: SimulationSize;
  readonly rounds: number;
  readonly warmupRounds: number;
  readonly nodeFlags: readonly string[];
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface Stage {
  readonly simulation: RunningSimulation;
  readonly prometheus: RunningPrometheus;
  /** Has the documents. */
  readonly folder: string;
}

export interface PrometheusFigures {
  readonly size: SimulationSize;
  readonly roundCount: number;
  /** Of the machine, in the last minute before Prometheus was measured alone. */
  readonly load: number;
  readonly alone: Period;
  readonly start: StartFigures;
  readonly rounds: Period;
  readonly series: number;
  /** Of promscaler, in the measured rounds. */
  readonly service: ServiceFigures;
  /** Of rounds after the measured ones, because the query log has a cost, too. */
  readonly kinds: readonly KindCost[];
  /** Of a healthy run: none. */
  readonly faults: readonly string[];
}

interface Period {
  readonly cost: Cost;
  /** The highest of the readings. */
  readonly residentBytes: number;
}

interface ServiceFigures {
  readonly queries: number;
  readonly cpuSeconds: number;
  readonly pace: PaceFigures;
}

const ALONE_SCRAPES = 4;
const RATES_TIMEOUT_MS = 300_000;
const LOGGED_ROUNDS = 2;

/** Measures a Prometheus that scrapes the simulation: alone, and then while the built CLI queries it in real time. */
export async function measurePrometheus(options: MeasureOptions, stage: Stage): Promise<PrometheusFigures> {
  const { size, signal, report } = options;
  const { simulation, prometheus, folder } = stage;
  await waitForRates(prometheus.url, options);
  report(`Prometheus has all rates; waiting until the windows of ${WINDOW_SECONDS} s are full`);
  await pause(WINDOW_SECONDS * 1000, signal);
  const load = loadavg()[0] ?? NaN;
  report('measuring Prometheus alone');
  const alone = await measureAlone(prometheus, signal);
  const port = await freePort();
  const addresses = { kubernetesUrl: simulation.kubernetesUrl, prometheusUrl: prometheus.url, port };
  const service = startPacedService({
    configFile: await writeConfig(folder, addresses),
    logFile: join(folder, 'log'),
    port,
    scalers: size.scalers,
    nodeFlags: options.nodeFlags,
    profilesStart: null,
    signal,
  });
  try {
    report('starting the service');
    const start = await measureStart(options, service, simulation);
    const figures = await measureRounds(options, stage, service);
    const text = await readPage(`${service.url}/metrics`);
    const { pace, queries } = figures.service;
    const faults = [
      ...faultsOf({
        text,
        start,
        size,
        rounds: options.rounds,
        figures: pace,
        log: service.log(),
        startMayFail: true,
      }),
      ...faultsOfCounts(queries, figures.rounds.cost),
      ...(await faultsOfScrapes(prometheus.url, simulation.exporterPages)),
    ];
    const kinds = await measureKinds(options, stage, service);
    return { size, roundCount: options.rounds, load, alone, start, ...figures, kinds, faults };
  } finally {
    await service.stop();
  }
}

async function waitForRates(url: string, { size, signal, report }: MeasureOptions): Promise<void> {
  const pods = size.scalers * size.pods;
  const count = `count(rate(container_cpu_usage_seconds_total{container="app"}[${WINDOW_SECONDS}s]))`;
  const startMs = performance.now();
  for (;;) {
    // A busy machine may take too long for the query.
    const found = await valueOf(url, count).catch(() => 0);
    report(`Prometheus has the rates of ${found} of ${pods} pods`);
    if (found === pods) return;
    if (performance.now() - startMs > RATES_TIMEOUT_MS)
      throw new Error(`only ${found} of ${pods} pods have rates`);
    await pause(SCRAPE_SECONDS * 1000, signal);
  }
}

/** The value of the only series of the answer; 0 without a series, as `count` counts. */
async function valueOf(url: string, query: string): Promise<number> {
  const text = await readPage(`${url}/api/v1/query?query=${encodeURIComponent(query)}`);
  const { data } = JSON.parse(text) as { data: { result: readonly { value: readonly [number, string] }[] } };
  return Number(data.result[0]?.value[1] ?? 0);
}

async function measureAlone(prometheus: RunningPrometheus, signal: AbortSignal): Promise<Period> {
  const looks = [await lookAt(prometheus)];
  for (let scrape = 0; scrape < ALONE_SCRAPES; scrape += 1) {
    await pause(SCRAPE_SECONDS * 1000, signal);
    looks.push(await lookAt(prometheus));
  }
  return periodOf(looks);
}

function periodOf(looks: readonly Look[]): Period {
  const [first, last] = [looks.at(0), looks.at(-1)];
  if (first === undefined || last === undefined) throw new Error('nothing was measured');
  return {
    cost: costBetween(first, last),
    residentBytes: Math.max(...looks.map(({ residentBytes }) => residentBytes)),
  };
}

async function measureRounds(
  { rounds, warmupRounds, report }: MeasureOptions,
  { prometheus }: Stage,
  service: PacedService,
): Promise<Pick<PrometheusFigures, 'rounds' | 'service' | 'series'>> {
  for (let round = 0; round < warmupRounds; round += 1) await service.roundOver();
  const queriesBefore = await ownQueries(service);
  service.reset(false);
  const before = await service.figures();
  const looks = [await lookAt(prometheus)];
  for (let round = 1; round <= rounds; round += 1) {
    await service.roundOver();
    looks.push(await lookAt(prometheus));
    report(`round ${round} of ${rounds}`);
  }
  const pace = await service.figures();
  return {
    rounds: periodOf(looks),
    series: looks.at(-1)?.series ?? NaN,
    service: {
      queries: (await ownQueries(service)) - queriesBefore,
      cpuSeconds: pace.cpuSeconds - before.cpuSeconds,
      pace,
    },
  };
}

async function ownQueries({ url }: PacedService): Promise<number> {
  return sumOf(await readPage(`${url}/metrics`), 'promscaler_queries_total');
}

/** What Prometheus has counted must be what promscaler has. */
function faultsOfCounts(own: number, { queries, failedQueries }: Cost): readonly string[] {
  return [
    ...(own === queries ? [] : [`promscaler counts ${own} queries, Prometheus ${queries}`]),
    ...(failedQueries === 0 ? [] : [`Prometheus rejected ${failedQueries} queries`]),
  ];
}

async function faultsOfScrapes(url: string, pages: number): Promise<readonly string[]> {
  const up = await valueOf(url, 'count(up == 1)');
  return up === pages ? [] : [`only ${up} of ${pages} pages are scraped`];
}

/** Lets Prometheus log the queries of some rounds, with the time that each has taken. */
async function measureKinds(
  { report }: MeasureOptions,
  { simulation, prometheus, folder }: Stage,
  service: PacedService,
): Promise<readonly KindCost[]> {
  const file = join(folder, 'queries.log');
  await writeFile(join(prometheus.directory, 'prometheus.yml'), prometheusConfig(simulation, file));
  await service.roundOver();
  prometheus.signal('SIGHUP');
  report(`logging the queries of ${LOGGED_ROUNDS} rounds`);
  for (let round = 0; round < LOGGED_ROUNDS; round += 1) await service.roundOver();
  return costOfKinds(await readFile(file, 'utf8'));
}
