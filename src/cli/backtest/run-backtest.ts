import { sweepVariants } from '../../backtest/compare/sweep.js';
import {
  type Assumptions,
  type Variant,
  baselines,
  runOnTrace,
  scoringOf,
} from '../../backtest/compare/variant.js';
import type { Report } from '../../backtest/report/report.js';
import { type Load } from '../../backtest/load/load.js';
import { parseTrace } from '../../backtest/load/parse-trace.js';
import { describeReadError } from '../../config/describe-read-error.js';
import { readBoundedText } from '../../files/read-bounded.js';
import type { Scaler } from '../../scaler/spec.js';
import { instantFromMs } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import { resolve } from 'node:path';
import { readOptionsOf, readServiceInput } from '../input/service-config.js';
import { CommandError, type CommandIo, type ExitCode } from '../process/io.js';
import { readOutputFormat } from '../output/output-format.js';
import { describeAssumptions } from './describe-assumptions.js';
import {
  parseCount,
  parsePositive,
  parseSeconds,
  parseSweeps,
  parseThresholds,
  parseTime,
} from './parse-options.js';
import { readVariant } from './read-variant.js';
import { runReplay } from './run-replay.js';
import { FORMATS, writeReport } from './write-report.js';

export interface BacktestOptions {
  readonly scaler?: string;
  readonly replay?: readonly string[];
  readonly trace?: string;
  readonly capacity?: string;
  readonly start?: string;
  readonly against?: readonly string[];
  readonly sweep?: readonly string[];
  readonly podStart: string;
  readonly initialReplicas?: string;
  readonly usageAtCapacity: string;
  readonly price?: string;
  readonly config?: string;
  readonly failIf?: readonly string[];
  readonly output: string;
}

/** 30 days of seconds are 40 MB. */
const MAX_TRACE_BYTES = 128 * 1024 * 1024;
/** A Monday, so that schedules by weekday start at the beginning of a week. */
const DEFAULT_START = instantFromMs(Date.UTC(2026, 0, 5));
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
  const assumptions = await readAssumptions(options, io);
  const variants = await readVariants(options, io);
  const load = await readTrace(options, io);
  const scoring = scoringOf(load, assumptions);
  const results = variants.map((variant) => runOnTrace(variant, scoring, assumptions));
  const [first] = results;
  if (first?.error !== null) throw new CommandError(`${first?.name ?? ''}: ${first?.error ?? ''}`);
  const report: Report = {
    scoring,
    variants: results,
    baselines: baselines(scoring),
    assumptions: describeAssumptions(assumptions),
  };
  writeReport(report, format, io);
  const failed = failIf.filter(({ isMetBy }) => isMetBy(first.figures));
  for (const { text } of failed) io.stderr.write(`promscaler: ${first.name}: ${text}\n`);
  return failed.length > 0 || results.some(({ error }) => error !== null) ? 1 : 0;
}

async function readAssumptions(options: BacktestOptions, io: CommandIo): Promise<Assumptions> {
  if (options.capacity === undefined)
    throw new CommandError('--trace needs --capacity: the load that one pod carries', 2);
  const source =
    options.config === undefined
      ? undefined
      : (await readServiceInput(options.config, io)).config?.prometheus['default'];
  return {
    capacity: parsePositive('--capacity', options.capacity),
    podStartSeconds: parseSeconds('--pod-start', options.podStart),
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

async function readVariants(options: BacktestOptions, io: CommandIo): Promise<readonly Variant[]> {
  const sweeps = parseSweeps(options.sweep ?? []);
  const config = options.config === undefined ? null : (await readServiceInput(options.config, io)).config;
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
  return [...variants, ...swept.variants];
}

async function readTrace({ trace: file, start }: BacktestOptions, io: CommandIo): Promise<Load> {
  if (file === undefined) throw new CommandError('--trace is missing', 2);
  const startTime: Instant = start === undefined ? DEFAULT_START : parseTime('--start', start);
  const { load, problems } = parseTrace(await readTraceText(file, io), startTime);
  for (const { severity, line, message } of problems)
    io.stderr.write(`${file}${line === null ? '' : `:${line}`}: ${severity}: ${message}\n`);
  if (load === null) throw new CommandError(`--trace: ${file} is not used`);
  return load;
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
