import {
  BacktestError,
  checkDemand,
  checkRounds,
  DEMAND_STEP_SECONDS,
  type RunJobs,
  type Variant,
  baselines,
  runAll,
  scoringOf,
  traceWorkload,
} from '../../backtest/compare/variant.js';
import { compareForecast } from '../../backtest/compare/compare-forecast.js';
import { recommend } from '../../backtest/compare/recommend.js';
import type { GivenAssumptions } from '../../backtest/history/history-input.js';
import { QUEUE_FIGURE_NAMES, type Threshold } from '../../backtest/compare/threshold.js';
import { type PodStart, podStartOf, statedPodStart } from '../../backtest/simulation/settings.js';
import { sweepVariants } from '../../backtest/compare/sweep.js';
import { type Report, type Format, FORMATS, writeReport } from './write-report.js';
import { DEFAULT_POD_START_SECONDS, evenLoad } from '../../backtest/simulation/load.js';
import type { ServiceConfig } from '../../config/resolve-service-config.js';
import { DEFAULT_WINDOW_SECONDS } from '../../config/source-schema.js';
import { DEFAULT_SCRAPE_INTERVAL_SECONDS } from '../../units/bounds.js';
import type { Scaler } from '../../scaler/spec.js';
import { isDeepStrictEqual } from 'node:util';
import { readOptionsOf, requireServiceConfig } from '../input/service-config.js';
import { CommandError, type CommandIo, type ExitCode, usageError } from '../output/io.js';
import { readOutputFormat } from '../output/output-format.js';
import { createProgress } from '../output/progress.js';
import { type OutputFile, openOutputFile } from '../output/output-file.js';
import {
  type BacktestOptions,
  checkFiles,
  checkOptions,
  parseCount,
  parsePositive,
  parsePodStartOption,
  parseQueueOption,
  parseMetrics,
  parseSweeps,
  parseTime,
  parseThresholds,
} from './options.js';
import { hasCeiling, traceLines } from './assumption-lines.js';
import { openTrace } from './read-trace.js';
import { type BacktestInput, openHistory } from './open-history.js';
import { buildPage, MOST_CHARACTERS, writeHtml } from './write-html.js';
import { type RunTrace, createTraces, type Traces } from './run-job.js';
import { readVariant } from './read-variant.js';
import { runReplay } from './run-replay.js';
import { createWorkerPool } from './run-jobs-in-workers.js';

/** Runs `backtest`: simulates documents on a load. Returns 1 if the first document meets a condition of `--fail-if`. */
export async function runBacktest(options: BacktestOptions, io: CommandIo): Promise<ExitCode> {
  try {
    return await run(options, io);
  } catch (error) {
    // An interrupt can make any part fail with its own error, which would not mention the interrupt.
    const isExpected = error instanceof CommandError || error instanceof BacktestError;
    if (io.signal.aborted && isExpected) throw new CommandError('interrupted');
    if (error instanceof BacktestError) throw new CommandError(error.message);
    throw error;
  }
}

async function run(options: BacktestOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, FORMATS);
  checkOptions(options);
  if (options.replay !== undefined) return runReplay(options.replay, format, io);
  const failIf = parseThresholds('--fail-if', options.failIf ?? []);
  const conditions = parseThresholds('--recommend', options.recommend ?? []);
  if (options.price === undefined && [...failIf, ...conditions].some(({ figure }) => figure === 'cost'))
    throw usageError(`${failIf.length > 0 ? '--fail-if' : '--recommend'} cost needs --price`);
  const ofQueue = [...failIf, ...conditions].find(({ figure }) => QUEUE_FIGURE_NAMES.includes(figure));
  if (options.queue === undefined && ofQueue !== undefined)
    throw usageError(`${failIf.length > 0 ? '--fail-if' : '--recommend'} ${ofQueue.figure} needs --queue`);
  if (options.queue === undefined && options.metric !== undefined)
    throw usageError('--metric needs --queue: without a queue, each metric measures the load');
  checkFiles(options, io.cwd);
  const html = options.html === undefined ? null : await openOutputFile('--html', options.html, io.cwd);
  const config = await requireServiceConfig(options.config, io);
  const variants = await readVariants(options, config, io);
  const input = await openInput(options, { config, variants }, io);
  checkRounds(variants, input.scoring.demand);
  checkDemand(input.scoring);
  const progress = createProgress(io, conditions.length === 0 ? describeRuns : describeSearch);
  // `--recommend` is not traced, because its search has too many runs.
  const isTraced = html !== null && conditions.length === 0;
  const traces = isTraced ? createTraces(MOST_CHARACTERS) : null;
  const pool = createWorkerPool({ signal: io.signal, clock: io.clock, progress, traces });
  const runJobs: RunJobs = async (jobs) => {
    const results = await pool.runJobs(jobs);
    progress.clear();
    return results;
  };
  try {
    const prepared = { variants, input, format, html, runJobs, traces, endWorkers: pool.close };
    return conditions.length === 0
      ? await printComparison(failIf, prepared, io)
      : await printRecommendation(conditions, prepared, io);
  } finally {
    pool.close();
  }
}

function describeRuns(finished: number, total: number): string {
  return `simulating: ${finished} of ${total} documents`;
}

/** Omits the total, which is unknown, because each result determines which settings are tried next. */
function describeSearch(finished: number): string {
  return `searching settings: ${finished} runs`;
}

interface PreparedRun {
  readonly variants: readonly Variant[];
  readonly input: BacktestInput;
  readonly format: Format;
  readonly html: OutputFile | null;
  readonly runJobs: RunJobs;
  readonly traces: Traces | null;
  /** Ends the worker threads, which frees their memory. */
  readonly endWorkers: () => void;
}

async function printComparison(
  failIf: readonly Threshold[],
  { variants, input, format, html, runJobs, traces, endWorkers }: PreparedRun,
  io: CommandIo,
): Promise<ExitCode> {
  const { scoring } = input;
  const results = await runAll(variants, { ...input, runJobs });
  const [first] = results;
  if (first?.error !== null) throw new CommandError(`${first?.name ?? ''}: ${first?.error ?? ''}`);
  // If the user has given other documents, no further rows are added for a comparison.
  const [document, ...others] = variants;
  const added =
    document === undefined || others.length > 0
      ? []
      : await compareForecast(document, first, { ...input, runJobs });
  endWorkers();
  const all = [...variants, ...added.map(({ variant }) => variant)];
  const report: Report = {
    scoring,
    variants: [...results, ...added.map(({ result }) => result)],
    baselines: [...input.otherResults, ...baselines(scoring, first)],
    assumptions: input.assumptionLines,
  };
  // The page is written before the report, because writing the report ends the command if standard output is closed.
  if (html !== null) await writeHtml(html, buildPage(report, tracesOf(all, traces)));
  writeReport(report, format, io);
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
  conditions: readonly Threshold[],
  { variants, input, format, html, runJobs }: PreparedRun,
  io: CommandIo,
): Promise<ExitCode> {
  const [variant] = variants;
  if (variant === undefined) throw usageError('backtest needs --scaler or --replay');
  const { change, reason, saving, scoring, results, baselines } = await recommend(variant, conditions, {
    ...input,
    runJobs,
  });
  if (results[0]?.error !== null) throw new CommandError(`${variant.name}: ${results[0]?.error ?? ''}`);
  const recommendation = { change, reason, saving };
  const base = {
    scoring,
    variants: results,
    baselines,
    assumptions: input.assumptionLines,
  };
  const report = { ...base, recommendation };
  if (html !== null) await writeHtml(html, buildPage(report, new Map()));
  writeReport(report, format, io);
  return 0;
}

async function openInput(
  options: BacktestOptions,
  { config, variants }: { readonly config: ServiceConfig | null; readonly variants: readonly Variant[] },
  io: CommandIo,
): Promise<BacktestInput> {
  const assumptions = readAssumptions(options, { config, variants });
  if ((options.prometheus ?? options.from ?? options.history) !== undefined)
    return openHistory(options, variants, { config, assumptions }, io);
  const { capacity } = assumptions;
  if (options.trace === undefined) throw usageError('--trace, --prometheus or --history is missing');
  if (capacity === null) throw usageError('--trace needs --capacity: the load that one pod carries');
  const podStart = assumptions.podStart ?? podStartOf(DEFAULT_POD_START_SECONDS);
  const known = { ...assumptions, capacity, podStart };
  const start = options.start === undefined ? null : parseTime('--start', options.start);
  const load = evenLoad(await openTrace(options.trace, start, io), DEMAND_STEP_SECONDS);
  const scoring = scoringOf(load, known);
  const workload = traceWorkload(load, known);
  const assumptionLines = traceLines(variants, known, scoring.demand);
  return { workload, scoring, assumptions: known, otherResults: [], assumptionLines };
}

function readAssumptions(
  options: BacktestOptions,
  { config, variants }: { readonly config: ServiceConfig | null; readonly variants: readonly Variant[] },
): GivenAssumptions {
  const [metric] = variants.flatMap(({ scaler }) => scaler.spec.metrics);
  const source = config?.prometheus[metric?.source ?? 'default'];
  return {
    capacity: options.capacity === undefined ? null : parsePositive('--capacity', options.capacity),
    podStart: readPodStart(options, variants),
    queue: options.queue === undefined ? null : parseQueueOption(options.queue),
    measures: parseMetrics(
      options.metric ?? [],
      variants.flatMap(({ scaler }) => scaler.spec.metrics),
    ),
    usageAtCapacityPercent: parsePositive('--usage-at-capacity', options.usageAtCapacity),
    maxReplicasFrom: readCeiling(options, variants),
    initialReplicas:
      options.initialReplicas === undefined
        ? null
        : parseCount('--initial-replicas', options.initialReplicas),
    pricePerPodHour: options.price === undefined ? null : parsePositive('--price', options.price),
    scrapeIntervalSeconds: source?.scrapeIntervalSeconds ?? DEFAULT_SCRAPE_INTERVAL_SECONDS,
    resourceWindowSeconds: source?.resourceWindowSeconds ?? DEFAULT_WINDOW_SECONDS,
  };
}

/** Returns the start time of a pod from the option or the document; null: neither sets it. */
function readPodStart({ podStart }: BacktestOptions, variants: readonly Variant[]): PodStart | null {
  if (podStart !== undefined) return parsePodStartOption(podStart);
  return statedPodStart(variants);
}

function readCeiling(
  { maxReplicasFrom: text }: BacktestOptions,
  variants: readonly Variant[],
): number | null {
  if (text === undefined) return null;
  if (!variants.some(hasCeiling)) throw usageError('--max-replicas-from: no document has maxReplicasFrom');
  return parseCount('--max-replicas-from', text);
}

async function readVariants(
  options: BacktestOptions,
  config: ServiceConfig | null,
  io: CommandIo,
): Promise<readonly Variant[]> {
  const sweeps = parseSweeps(options.sweep ?? []);
  const read = (option: string, file: string): Promise<Scaler> =>
    readVariant(option, file, readOptionsOf(config), io);
  if (options.scaler === undefined) throw usageError('backtest needs --scaler or --replay');
  const scaler = await read('--scaler', options.scaler);
  const variants: Variant[] = [{ name: options.scaler, scaler }];
  for (const file of options.against ?? [])
    variants.push({ name: file, scaler: await read('--against', file) });
  if (sweeps.length === 0) return variants;
  const swept = sweepVariants(scaler, sweeps);
  if ('error' in swept) throw new CommandError(`--sweep: ${swept.error}`);
  // Omits a variant that equals the document, which is already the first row.
  return [...variants, ...swept.variants.filter((one) => !isDeepStrictEqual(one.scaler.spec, scaler.spec))];
}
