import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../src/cli/demo/programs/prometheus-server.js';
import { countOf, readPage, sumOf } from '../exposition.js';
import { pause } from '../pause.js';
import { writeConfig, writeDocuments } from './documents.js';
import type { PaceFigures, ProfileKind, StartTimes } from './pace.js';
import { startPacedService } from './paced-service.js';
import type { PacedService } from './paced-service.js';
import type { ClockRate } from './simulation-clock.js';
import { startSimulation } from './simulation-client.js';
import type { RunningSimulation, SimulationTraffic } from './simulation-client.js';
import type { SimulationSize } from './workloads.js';

export interface RunOptions {
  readonly size: SimulationSize;
  /** Measured ones, after those that warm up. */
  readonly rounds: number;
  readonly warmupRounds: number;
  /** How many times as fast as real time the clock of the service runs in the rounds; the start is in real time. */
  readonly clock: number;
  /** Directory for profiles; null: none. */
  readonly profileDirectory: string | null;
  readonly profileKind: ProfileKind;
  /** File for a heap snapshot after the last round; null: none. */
  readonly heapFile: string | null;
  readonly nodeFlags: readonly string[];
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

/** What one size costs. */
export interface SizeFigures {
  readonly size: SimulationSize;
  readonly machine: MachineFigures;
  readonly start: StartFigures;
  readonly rounds: PaceFigures;
  readonly roundCpuSeconds: number;
  /** See `RunOptions`. */
  readonly clock: number;
  readonly traffic: TrafficFigures;
  readonly page: PageFigures;
  /** Rounds in which delays of the event loop are watched, and half as many as the others. */
  readonly delayRounds: PaceFigures;
  /** As `delayRounds`, while `/metrics` is read once a second. */
  readonly readRounds: PaceFigures;
  readonly rescales: number;
  /** Of a healthy run: none. */
  readonly faults: readonly string[];
}

/** Before the start. */
interface MachineFigures {
  /** YYYY-MM-DD */
  readonly date: string;
  /** Mean of the last minute. */
  readonly load: number;
  /** That of this process, which the service has, too. */
  readonly node: string;
}

export interface StartFigures extends StartTimes {
  readonly peakBytes: number;
  readonly lists: number;
  /** Until then. */
  readonly queryErrors: number;
  readonly bytes: number;
}

/** Of the measured rounds, per round. */
interface TrafficFigures {
  readonly apiRequests: Readonly<Record<string, number>>;
  readonly apiBytes: number;
  readonly queries: Readonly<Record<string, number>>;
  readonly queryBytes: number;
}

interface PageFigures {
  readonly cpuSeconds: number;
  readonly bytes: number;
}

/** Rounds in which every scaler should have decided. */
const START_ROUNDS = 4;
const PAGES = 3;
const READ_ROUNDS = 5;
const READ_MS = 1000;
const MOUNTED_MS = 4000;

/** Runs one size with a new cluster and a new service. */
export async function runSize(options: RunOptions): Promise<SizeFigures> {
  const { size, signal } = options;
  const machine = {
    date: new Date().toISOString().slice(0, 10),
    load: loadavg()[0] ?? NaN,
    node: process.version,
  };
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-scale-'));
  try {
    // The kubelet mounts ConfigMaps some seconds before a container starts; files that are newer are read twice.
    await writeDocuments(folder, size);
    const mounted = pause(MOUNTED_MS, signal);
    options.report(`starting a cluster with ${size.scalers * size.pods} pods`);
    const simulation = await startSimulation(size);
    try {
      const port = await freePort();
      const { kubernetesUrl, prometheusUrl } = simulation;
      const configFile = await writeConfig(folder, { kubernetesUrl, prometheusUrl, port });
      await mounted;
      const service = startPacedService({
        configFile,
        logFile: join(folder, 'log'),
        port,
        scalers: size.scalers,
        nodeFlags: options.nodeFlags,
        profilesStart: options.profileDirectory === null ? null : options.profileKind,
        signal: AbortSignal.any([signal, simulation.exited]),
      });
      try {
        return { ...(await measure(options, service, simulation)), machine };
      } finally {
        await service.stop();
      }
    } finally {
      await simulation.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(
  options: RunOptions,
  service: PacedService,
  simulation: RunningSimulation,
): Promise<Omit<SizeFigures, 'machine'>> {
  const { size, rounds, profileDirectory, profileKind, heapFile } = options;
  const profileAs = (name: string): string =>
    join(profileDirectory ?? '', `scale-${size.scalers}-${name}.${profileKind}profile`);
  options.report('starting the service');
  const start = await measureStart(options, service, simulation);
  if (profileDirectory !== null) await service.order({ type: 'stop-profile', file: profileAs('start') });
  options.report(`decided after ${start.lastSeconds.toFixed(1)} s; warming up`);
  const rate: ClockRate = { sinceMs: Date.now(), rate: options.clock };
  simulation.setRate(rate);
  await service.order({ type: 'set-rate', rate });
  for (let round = 0; round < options.warmupRounds; round += 1) await service.roundOver();
  if (profileDirectory !== null) await service.order({ type: 'start-profile', kind: profileKind });
  service.reset(false);
  const before = { figures: await service.figures(), traffic: await simulation.traffic() };
  for (let round = 1; round <= rounds; round += 1) {
    await service.roundOver();
    options.report(`round ${round} of ${rounds}`);
  }
  const after = { figures: await service.figures(), traffic: await simulation.traffic() };
  if (profileDirectory !== null) await service.order({ type: 'stop-profile', file: profileAs('rounds') });
  const delayRounds = await measureDelays(service, Math.ceil(rounds / 2));
  const { page, text } = await measurePage(service);
  const readRounds = await measureReadRounds(service, options.signal);
  if (heapFile !== null) await service.order({ type: 'heap-snapshot', file: heapFile });
  return {
    size,
    start,
    clock: options.clock,
    rounds: after.figures,
    roundCpuSeconds: (after.figures.cpuSeconds - before.figures.cpuSeconds) / rounds,
    traffic: trafficBetween(before.traffic, after.traffic, rounds),
    page,
    delayRounds,
    readRounds,
    rescales: sumOf(text, 'promscaler_rescales_total'),
    faults: faultsOf({ text, start, size, rounds, figures: after.figures, log: service.log() }),
  };
}

export async function measureStart(
  { size, report }: Pick<RunOptions, 'size' | 'report'>,
  service: PacedService,
  simulation: RunningSimulation,
): Promise<StartFigures> {
  for (let attempt = 1; ; attempt += 1) {
    const times = await service.roundOver();
    const peakBytes = service.takePeakBytes();
    const { api } = await simulation.traffic();
    const page = await readPage(`${service.url}/metrics`);
    const decided = decidedScalers(page);
    report(`${decided} scalers have a value after ${times.lastSeconds.toFixed(1)} s`);
    if (decided < size.scalers && attempt < START_ROUNDS) continue;
    const lists = Object.entries(api.requests).filter(([what]) => what.startsWith('list '));
    return {
      ...times,
      peakBytes,
      queryErrors: sumOf(page, 'promscaler_query_errors_total'),
      lists: lists.reduce((sum, [, count]) => sum + count, 0),
      bytes: api.bytes,
    };
  }
}

/** A metric without a value has no proposal. */
function decidedScalers(text: string): number {
  return countOf(text, 'promscaler_metric_proposal_replicas');
}

/** Reads a page after a round, when nothing else is to do. Pages are kept for 1 s, so not two after the same round. */
async function measurePage({
  url,
  figures,
  roundOver,
}: PacedService): Promise<{ readonly page: PageFigures; readonly text: string }> {
  let text = '';
  let cpuSeconds = 0;
  for (let count = 0; count < PAGES; count += 1) {
    await roundOver();
    const before = await figures();
    text = await readPage(`${url}/metrics`);
    cpuSeconds += (await figures()).cpuSeconds - before.cpuSeconds;
  }
  return { page: { cpuSeconds: cpuSeconds / PAGES, bytes: text.length }, text };
}

async function measureDelays(
  { figures, reset, roundOver }: PacedService,
  rounds: number,
): Promise<PaceFigures> {
  reset(true);
  for (let round = 0; round < rounds; round += 1) await roundOver();
  return figures();
}

async function measureReadRounds(service: PacedService, signal: AbortSignal): Promise<PaceFigures> {
  const ending = new AbortController();
  const reading = (async () => {
    while (!ending.signal.aborted) {
      await readPage(`${service.url}/metrics`);
      await pause(READ_MS, signal);
    }
  })();
  const figures = await measureDelays(service, READ_ROUNDS);
  ending.abort();
  await reading;
  return figures;
}

function trafficBetween(before: SimulationTraffic, after: SimulationTraffic, rounds: number): TrafficFigures {
  const perRound = (
    then: Readonly<Record<string, number>>,
    now: Readonly<Record<string, number>>,
  ): Readonly<Record<string, number>> =>
    Object.fromEntries(
      Object.entries(now)
        .map(([what, count]) => [what, (count - (then[what] ?? 0)) / rounds] as const)
        .filter(([, count]) => count > 0),
    );
  return {
    apiRequests: perRound(before.api.requests, after.api.requests),
    apiBytes: (after.api.bytes - before.api.bytes) / rounds,
    queries: perRound(before.metrics.requests, after.metrics.requests),
    queryBytes: (after.metrics.bytes - before.metrics.bytes) / rounds,
  };
}

/** Figures of a service that does not do its work would be good ones. */
export function faultsOf(seen: {
  readonly text: string;
  readonly start: StartFigures;
  readonly size: SimulationSize;
  readonly rounds: number;
  readonly figures: PaceFigures;
  readonly log: readonly string[];
  /** A Prometheus with a cold cache may fail queries of the first rounds. Default: false. */
  readonly startMayFail?: boolean;
}): readonly string[] {
  const { text, start, size, rounds, figures, log, startMayFail = false } = seen;
  const missed = sumOf(text, 'promscaler_missed_rounds_total');
  const failed = sumOf(text, 'promscaler_query_errors_total');
  const decided = decidedScalers(text);
  const expected = rounds * size.scalers;
  return [
    ...(figures.cycles === expected ? [] : [`${figures.cycles} cycles instead of ${expected}`]),
    ...(missed === 0 ? [] : [`${missed} missed rounds`]),
    ...(failed === (startMayFail ? start.queryErrors : 0)
      ? []
      : [`${failed} failed queries, ${start.queryErrors} of them at the start`]),
    ...(decided === size.scalers ? [] : [`${size.scalers - decided} scalers without a value`]),
    ...(log.length === 0 ? [] : [`${log.length} warnings in the log: ${(log[0] ?? '').slice(0, 300)}`]),
  ];
}
