import {
  type Backtest,
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
import { QUEUE_FIGURE_NAMES, type Threshold } from '../../backtest/compare/threshold.js';
import {
  type GivenAssumptions,
  parsePodStart,
  parseQueue,
  podStartOf,
  statedPodStart,
} from '../../backtest/simulation/settings.js';
import { sweepVariants } from '../../backtest/compare/sweep.js';
import { type Report, FORMATS, writeReport } from './write-report.js';
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
import { openOutputFile } from '../output/output-file.js';
import {
  accept,
  type BacktestOptions,
  checkFiles,
  checkOptions,
  parseCount,
  parsePositive,
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
  const thresholdOption = failIf.length > 0 ? '--fail-if' : '--recommend';
  const figures = [...failIf, ...conditions].map(({ figure }) => figure);
  if (options.price === undefined && figures.includes('cost'))
    throw usageError(`${thresholdOption} cost needs --price`);
  const ofQueue = figures.find((figure) => QUEUE_FIGURE_NAMES.includes(figure));
  if (options.queue === undefined && ofQueue !== undefined)
    throw usageError(`${thresholdOption} ${ofQueue} needs --queue`);
  if (options.queue === undefined && options.metric !== undefined)
    throw usageError('--metric needs --queue: without a queue, each metric measures the load');
  checkFiles(options, io.cwd);
  const html = options.html === undefined ? null : await openOutputFile('--html', options.html, io.cwd);
  const config = await requireServiceConfig(options.config, io);
  const variants = await readVariants(options, config, io);
  const input = await openInput(options, { config, variants }, io);
  checkRounds(variants, input.scoring.demand);
  checkDemand(input.scoring);
  const isSearch = conditions.length > 0;
  const progress = createProgress(io, isSearch ? describeSearch : describeRuns);
  // `--recommend` is not traced, because its search has too many runs.
  const traces = html === null || isSearch ? null : createTraces(MOST_CHARACTERS);
  const pool = createWorkerPool({ signal: io.signal, clock: io.clock, progress, traces });
  const runJobs: RunJobs = async (jobs) => {
    const results = await pool.runJobs(jobs);
    progress.clear();
    return results;
  };
  const backtest = { ...input, runJobs };
  try {
    const { report, variants: all } = isSearch
      ? await search(variants, conditions, backtest)
      : await compare(variants, backtest);
    // Frees the memory of the worker threads.
    pool.close();
    const [first] = report.variants;
    if (first?.error !== null) throw new CommandError(`${first?.name ?? ''}: ${first?.error ?? ''}`);
    // The page is written before the report, because writing the report ends the command if standard output is closed.
    if (html !== null) await writeHtml(html, buildPage(report, tracesOf(all, traces)));
    writeReport(report, format, io);
    if (isSearch) return 0;
    const failed = failIf.filter(({ isMetBy }) => isMetBy(first.figures));
    for (const { text } of failed) io.stderr.write(`promscaler: ${first.name}: ${text}\n`);
    const hasError = report.variants.slice(0, variants.length).some(({ error }) => error !== null);
    return failed.length > 0 || hasError ? 1 : 0;
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

interface Reported {
  readonly report: Report;
  readonly variants: readonly Variant[];
}

async function compare(variants: readonly Variant[], backtest: Backtest & BacktestInput): Promise<Reported> {
  const { scoring, otherResults, assumptionLines } = backtest;
  const results = await runAll(variants, backtest);
  const [first] = results;
  // If the user has given other documents, no further rows are added for a comparison.
  const [document, ...others] = variants;
  const isAlone = document !== undefined && first !== undefined && others.length === 0;
  const added = isAlone ? await compareForecast(document, first, backtest) : [];
  return {
    report: {
      scoring,
      variants: [...results, ...added.map(({ result }) => result)],
      baselines: [...otherResults, ...baselines(scoring, first)],
      assumptions: assumptionLines,
    },
    variants: [...variants, ...added.map(({ variant }) => variant)],
  };
}

async function search(
  [variant]: readonly Variant[],
  conditions: readonly Threshold[],
  backtest: Backtest & BacktestInput,
): Promise<Reported> {
  if (variant === undefined) throw usageError('backtest needs --scaler or --replay');
  const found = await recommend(variant, conditions, backtest);
  const { change, reason, saving, scoring, results, baselines } = found;
  const recommendation = { change, reason, saving };
  const assumptions = backtest.assumptionLines;
  return { report: { scoring, variants: results, baselines, assumptions, recommendation }, variants: [] };
}

function tracesOf(variants: readonly Variant[], traces: Traces | null): ReadonlyMap<string, RunTrace> {
  const known = variants.flatMap(({ name, scaler }): readonly (readonly [string, RunTrace])[] => {
    const trace = traces?.of(scaler);
    return trace === undefined ? [] : [[name, trace]];
  });
  return new Map(known);
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
  const metrics = variants.flatMap(({ scaler }) => scaler.spec.metrics);
  const source = config?.prometheus[metrics[0]?.source ?? 'default'];
  const { capacity, podStart, queue, metric: measures = [], initialReplicas, price } = options;
  return {
    capacity: capacity === undefined ? null : parsePositive('--capacity', capacity),
    podStart:
      podStart === undefined ? statedPodStart(variants) : accept('--pod-start', parsePodStart(podStart)),
    queue: queue === undefined ? null : accept('--queue', parseQueue(queue)),
    measures: parseMetrics(measures, metrics),
    usageAtCapacityPercent: parsePositive('--usage-at-capacity', options.usageAtCapacity),
    maxReplicasFrom: readCeiling(options, variants),
    initialReplicas: initialReplicas === undefined ? null : parseCount('--initial-replicas', initialReplicas),
    pricePerPodHour: price === undefined ? null : parsePositive('--price', price),
    scrapeIntervalSeconds: source?.scrapeIntervalSeconds ?? DEFAULT_SCRAPE_INTERVAL_SECONDS,
    resourceWindowSeconds: source?.resourceWindowSeconds ?? DEFAULT_WINDOW_SECONDS,
  };
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
