import { recommend } from '../../backtest/compare/recommend.js';
import type { RunJobs } from '../../backtest/compare/run-jobs.js';
import type { Threshold } from '../../backtest/figures/threshold.js';
import { sweepVariants } from '../../backtest/compare/sweep.js';
import {
  type Variant,
  baselines,
  DEMAND_STEP_SECONDS,
  runAllOn,
  scoringOf,
  traceWorld,
} from '../../backtest/compare/variant.js';
import type { Report } from '../../backtest/report/report.js';
import { evenLoad } from '../../backtest/load/even-load.js';
import { type Load } from '../../backtest/load/load.js';
import { DEFAULT_POD_START_SECONDS } from '../../backtest/load/defaults.js';
import { parseTrace } from '../../backtest/load/parse-trace.js';
import type { ServiceConfig } from '../../config/resolve-service-config.js';
import { describeReadError } from '../../config/describe-read-error.js';
import { readBoundedText } from '../../files/read-bounded.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Instant } from '../../units/time.js';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readOptionsOf, requireServiceConfig } from '../input/service-config.js';
import { CommandError, type CommandIo, type ExitCode } from '../process/io.js';
import { readOutputFormat } from '../output/output-format.js';
import { createProgress } from '../output/progress.js';
import { checkRounds } from './scene/check-rounds.js';
import { describeAssumptions } from './scene/describe-assumptions.js';
import { type HistoryOptions, openHistory } from './history/history-scene.js';
import {
  parseCount,
  parsePositive,
  parseSeconds,
  parseSweeps,
  parseThresholds,
  parseTime,
} from './scene/parse-options.js';
import { buildPage, MOST_CHARACTERS } from './html/build-page.js';
import type { RunTrace } from './html/trace-run.js';
import { writeHtml } from './html/write-html.js';
import { readVariant } from './read-variant.js';
import { runReplay } from './run-replay.js';
import type { Scene } from './scene/scene.js';
import { createWorkerPool } from './workers/run-jobs-in-workers.js';
import { createTraces, type Traces } from './workers/traces.js';
import { type Format, FORMATS, writeReport } from './write-report.js';

export interface BacktestOptions extends HistoryOptions {
  readonly scaler?: string;
  readonly replay?: readonly string[];
  readonly trace?: string;
  readonly capacity?: string;
  readonly start?: string;
  readonly against?: readonly string[];
  readonly sweep?: readonly string[];
  readonly podStart?: string;
  readonly initialReplicas?: string;
  readonly usageAtCapacity: string;
  readonly price?: string;
  readonly config?: string;
  readonly failIf?: readonly string[];
  readonly recommend?: readonly string[];
  readonly html?: string;
  readonly output: string;
}

/** 30 days of seconds are 40 MB. */
const MAX_TRACE_BYTES = 128 * 1024 * 1024;
const DEFAULT_SCRAPE_SECONDS = 15;
const DEFAULT_WINDOW_SECONDS = 60;

/**
 * Runs `backtest`: what documents would have done on a load. Returns 1 if a condition of `--fail-if` holds for the first
 * document.
 */
export async function runBacktest(options: BacktestOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, FORMATS);
  if (options.replay !== undefined) {
    if (options.scaler !== undefined) throw new CommandError('backtest takes either --scaler or --replay', 2);
    return runReplay(options.replay, format, io);
  }
  const failIf = parseThresholds('--fail-if', options.failIf ?? []);
  if (options.price === undefined && failIf.some(({ figure }) => figure === 'cost'))
    throw new CommandError('--fail-if cost needs --price', 2);
  const config = await requireServiceConfig(options.config, io);
  const variants = await readVariants(options, config, io);
  const scene = await openScene(options, { config, variants }, io);
  checkRounds(variants, scene.scoring.demand);
  const progress = createProgress(io, options.recommend === undefined ? describeRuns : describeSearch);
  // The search of `--recommend` has too many runs to trace.
  const isTraced = options.html !== undefined && options.recommend === undefined;
  const traces = isTraced ? createTraces(MOST_CHARACTERS) : null;
  const pool = createWorkerPool({ signal: io.signal, progress, traces });
  const runJobs: RunJobs = async (jobs) => {
    const results = await pool.runJobs(jobs);
    progress.clear();
    return results;
  };
  try {
    const given = { variants, scene, format, runJobs, traces, endWorkers: pool.close };
    return options.recommend === undefined
      ? await printComparison(options, { ...given, failIf }, io)
      : await printRecommendation(options, given, io);
  } finally {
    pool.close();
  }
}

function describeRuns(finished: number, total: number): string {
  return `simulating: ${finished} of ${total} documents`;
}

/** What is tried next depends on the results so far. */
function describeSearch(finished: number): string {
  return `searching settings: ${finished} runs`;
}

interface Given {
  readonly variants: readonly Variant[];
  readonly scene: Scene;
  readonly format: Format;
  readonly runJobs: RunJobs;
  readonly traces: Traces | null;
  /** Frees their memory. */
  readonly endWorkers: () => void;
}

async function printComparison(
  { html }: BacktestOptions,
  {
    variants,
    scene,
    format,
    runJobs,
    traces,
    endWorkers,
    failIf,
  }: Given & { readonly failIf: readonly Threshold[] },
  io: CommandIo,
): Promise<ExitCode> {
  const { scoring } = scene;
  const results = await runAllOn(scene.world, variants, { ...scene, runJobs });
  const [first] = results;
  if (first?.error !== null) throw new CommandError(`${first?.name ?? ''}: ${first?.error ?? ''}`);
  endWorkers();
  const report: Report = {
    scoring,
    variants: results,
    baselines: [...scene.more, ...baselines(scoring)],
    assumptions: scene.lines,
  };
  writeReport(report, format, io);
  if (html !== undefined) await writeHtml(html, buildPage(report, tracesOf(variants, traces)), io.cwd);
  const failed = failIf.filter(({ isMetBy }) => isMetBy(first.figures));
  for (const { text } of failed) io.stderr.write(`promscaler: ${first.name}: ${text}\n`);
  return failed.length > 0 || results.some(({ error }) => error !== null) ? 1 : 0;
}

function tracesOf(variants: readonly Variant[], traces: Traces | null): ReadonlyMap<string, RunTrace> {
  const known = variants.flatMap(({ name, scaler }): readonly (readonly [string, RunTrace])[] => {
    const trace = traces?.of(scaler);
    return trace === undefined ? [] : [[name, trace]];
  });
  return new Map(known);
}

async function printRecommendation(
  { recommend: texts, html }: BacktestOptions,
  { variants, scene, format, runJobs }: Given,
  io: CommandIo,
): Promise<ExitCode> {
  const [variant] = variants;
  if (variant === undefined || variants.length > 1)
    throw new CommandError('--recommend is about one document: remove --against and --sweep', 2);
  const conditions = parseThresholds('--recommend', texts ?? []);
  const { change, reason, scoring, results } = await recommend(variant, conditions, { ...scene, runJobs });
  if (results[0]?.error !== null) throw new CommandError(`${variant.name}: ${results[0]?.error ?? ''}`);
  const recommendation = { change, reason };
  const base = { scoring, variants: results, baselines: baselines(scoring), assumptions: scene.lines };
  const report = { ...base, recommendation };
  writeReport(report, format, io);
  if (html !== undefined) await writeHtml(html, buildPage(report, new Map()), io.cwd);
  return 0;
}

async function openScene(
  options: BacktestOptions,
  { config, variants }: { readonly config: ServiceConfig | null; readonly variants: readonly Variant[] },
  io: CommandIo,
): Promise<Scene> {
  checkSources(options);
  const assumptions = readAssumptions(options, config);
  if ((options.prometheus ?? options.from ?? options.history) !== undefined)
    return openHistory(
      options,
      variants,
      { config, assumptions, defaultPodStartSeconds: DEFAULT_POD_START_SECONDS },
      io,
    );
  const { capacity } = assumptions;
  if (options.trace === undefined) throw new CommandError('--trace, --prometheus or --history is missing', 2);
  if (capacity === null) throw new CommandError('--trace needs --capacity: the load that one pod carries', 2);
  const podStartSeconds = assumptions.podStartSeconds ?? DEFAULT_POD_START_SECONDS;
  const known = { ...assumptions, capacity, podStartSeconds };
  const load = await readTrace(options.trace, options, io);
  const scoring = scoringOf(load, known);
  const world = traceWorld(load, known);
  const lines = [
    ...describeAssumptions(known, variants),
    'nothing is known of the time before the first line: windows are empty at the start',
  ];
  return { world, scoring, assumptions: known, more: [], lines };
}

function checkSources({ trace, prometheus, from, history, to, step, saveHistory }: BacktestOptions): void {
  if (trace !== undefined && (prometheus ?? from ?? history) !== undefined)
    throw new CommandError(
      '--trace, --history and --prometheus or --from are sources of load: choose one',
      2,
    );
  if (history !== undefined && (prometheus ?? from ?? to ?? step ?? saveHistory) !== undefined)
    throw new CommandError(
      '--history has its own times: remove --prometheus, --from, --to, --step and --save-history',
      2,
    );
}

/** `capacity` and `podStartSeconds` are null without their option. */
function readAssumptions(
  options: BacktestOptions,
  config: ServiceConfig | null,
): Parameters<typeof openHistory>[2]['assumptions'] {
  const source = config?.prometheus['default'];
  return {
    capacity: options.capacity === undefined ? null : parsePositive('--capacity', options.capacity),
    podStartSeconds: options.podStart === undefined ? null : parseSeconds('--pod-start', options.podStart),
    usageAtCapacityPercent: parsePositive('--usage-at-capacity', options.usageAtCapacity),
    initialReplicas:
      options.initialReplicas === undefined
        ? null
        : parseCount('--initial-replicas', options.initialReplicas),
    pricePerPodHour: options.price === undefined ? null : parsePositive('--price', options.price),
    scrapeIntervalSeconds: source?.scrapeIntervalSeconds ?? DEFAULT_SCRAPE_SECONDS,
    resourceWindowSeconds: source?.resourceWindowSeconds ?? DEFAULT_WINDOW_SECONDS,
  };
}

async function readVariants(
  options: BacktestOptions,
  config: ServiceConfig | null,
  io: CommandIo,
): Promise<readonly Variant[]> {
  const sweeps = parseSweeps(options.sweep ?? []);
  const read = (option: string, file: string): Promise<Scaler> =>
    readVariant(option, file, readOptionsOf(config), io);
  if (options.scaler === undefined) throw new CommandError('backtest needs --scaler or --replay', 2);
  const scaler = await read('--scaler', options.scaler);
  const variants: Variant[] = [{ name: options.scaler, scaler }];
  for (const file of options.against ?? [])
    variants.push({ name: file, scaler: await read('--against', file) });
  if (sweeps.length === 0) return variants;
  const swept = sweepVariants(scaler, sweeps);
  if ('error' in swept) throw new CommandError(`--sweep: ${swept.error}`);
  // The document itself is the first row.
  return [...variants, ...swept.variants.filter((one) => !isDeepStrictEqual(one.scaler.spec, scaler.spec))];
}

async function readTrace(file: string, { start }: BacktestOptions, io: CommandIo): Promise<Load> {
  const startTime: Instant | null = start === undefined ? null : parseTime('--start', start);
  const { load, problems } = parseTrace(await readTraceText(file, io), startTime);
  for (const { severity, line, message } of problems)
    io.stderr.write(`${file}${line === null ? '' : `:${line}`}: ${severity}: ${message}\n`);
  if (load === null) throw new CommandError(`--trace: ${file} is not used`);
  return evenLoad(load, DEMAND_STEP_SECONDS);
}

async function readTraceText(file: string, io: CommandIo): Promise<string> {
  if (file === '-') return io.readStdin();
  try {
    return await readBoundedText(resolve(io.cwd, file), {
      mostBytes: MAX_TRACE_BYTES,
      pipe: { signal: io.signal },
    });
  } catch (error) {
    throw new CommandError(`--trace: reading ${file}: ${describeReadError(error)}`);
  }
}
