import { type Range, MAX_POINTS, type Fetching, identityOf } from '../../backtest/history/fetch-series.js';
import type { GivenAssumptions } from '../../backtest/simulation/settings.js';
import { historyInput } from '../../backtest/history/history-input.js';
import { warmUpOf } from '../../backtest/history/warm-up.js';
import { readHistory, type RecordedHistory } from '../../backtest/history/read-history.js';
import type { Backtest, Result, Variant } from '../../backtest/compare/variant.js';
import { type ServiceConfig, resolveServiceConfig } from '../../config/resolve-service-config.js';
import { parseQuantity, milliToNumber } from '../../units/quantity.js';
import { formatInstant, type Instant, secondsBetween } from '../../units/time.js';
import { withPrometheusUrl } from '../input/service-config.js';
import { formatSeconds } from '../../units/format.js';
import { openOutputFile } from '../output/output-file.js';
import { type CommandIo, usageError } from '../output/io.js';
import { historyLines } from './assumption-lines.js';
import { type HistoryOptions, parseSeconds } from './options.js';
import {
  readSavedHistory,
  writeHistory,
  MAX_DAYS,
  createHistoryCache,
  type HistoryCache,
  historyDirectory,
  savedClient,
  type SavedHistory,
  savedSource,
} from './saved-answers.js';
import { localTimes } from '../output/lines.js';
import type { Scaler } from '../../scaler/spec.js';
import { readPastTime } from '../input/read-time.js';
import { createPrometheusClient } from '../../prometheus/client/client.js';
import { createRangeClient } from '../../prometheus/client/range-client.js';
import type { SourceConfig } from '../../prometheus/data-source/source-config.js';
import { createProgress } from '../output/progress.js';

const DEFAULT_STEP_SECONDS = 15;
const FEWEST_POINTS = 10;

/** What all runs of a back-test share. The load is from a trace or from history. */
export interface BacktestInput extends Omit<Backtest, 'runJobs'> {
  /** Further rows of the report, such as the recorded replicas. */
  readonly otherResults: readonly Result[];
  readonly assumptionLines: readonly string[];
}

export async function openHistory(
  options: HistoryOptions,
  variants: readonly Variant[],
  given: {
    readonly config: ServiceConfig | null;
    readonly assumptions: GivenAssumptions;
  },
  io: CommandIo,
): Promise<BacktestInput> {
  const request = options.request === undefined ? null : parseRequest(options.request);
  const { saveHistory } = options;
  const saved =
    saveHistory === undefined ? null : await openOutputFile('--save-history', saveHistory, io.cwd);
  const file = options.history === undefined ? null : await readSavedHistory(options.history, io);
  const scalers = variants.map(({ scaler }) => scaler);
  const config = given.config ?? resolveServiceConfig({}, null);
  const { prometheus: configs } = withPrometheusUrl(config, options.prometheus);
  const range = file?.range ?? readRange(options, { configs, scalers, now: io.clock.now() });
  const names = scalers.flatMap(({ spec }) =>
    [...spec.metrics, spec.maxReplicasFrom].flatMap((queried) => queried?.source ?? []),
  );
  const settings = { names, hasCache: options.cache ?? true, isSaved: saved !== null };
  const sources = file === null ? await openServers(configs, settings, io) : openSaved(file, io);
  const { capacity, usageAtCapacityPercent } = given.assumptions;
  let recorded: RecordedHistory;
  try {
    const from = { range, request, sources: sources.byName };
    recorded = await readHistory(scalers, { ...from, capacity, usageAtCapacityPercent });
  } finally {
    await sources.close();
  }
  if (saved !== null) await writeHistory(saved, sources.saved(range));
  for (const warning of recorded.warnings) io.stderr.write(`promscaler: warning: ${localTimes(warning)}\n`);
  const { scrapeIntervalSeconds, resourceWindowSeconds } = recorded.source;
  const assumptions = { ...given.assumptions, scrapeIntervalSeconds, resourceWindowSeconds };
  const input = historyInput(recorded, { given: assumptions, range });
  const about = { input, given: assumptions, askedFrom: range.start, isSaved: file !== null };
  return {
    ...input,
    otherResults: input.ran === null ? [] : [input.ran],
    assumptionLines: historyLines(variants, recorded, about),
  };
}

function parseRequest(text: string): number {
  const milli = parseQuantity(text);
  if (milli === null || milli <= 0n)
    throw usageError(`--request is ${JSON.stringify(text)}, must be a quantity above 0, such as 500m`);
  return milliToNumber(milli);
}

/** Reads the options for the time range. Throws `CommandError`. */
function readRange(
  options: Pick<HistoryOptions, 'from' | 'to' | 'step'>,
  {
    configs,
    scalers,
    now,
  }: {
    readonly configs: ServiceConfig['prometheus'];
    readonly scalers: readonly Scaler[];
    readonly now: Instant;
  },
): Range {
  if (options.from === undefined) throw usageError('--prometheus needs --from, such as --from 7d');
  const end = options.to === undefined ? now : readPastTime('--to', options.to, now);
  const start = readPastTime('--from', options.from, end);
  const source = configs['default'] ?? Object.values(configs)[0];
  const stepSeconds =
    options.step === undefined
      ? (source?.scrapeIntervalSeconds ?? DEFAULT_STEP_SECONDS)
      : parseSeconds('--step', options.step);
  const problem = whyNot({ start, end, stepSeconds }, now);
  if (problem !== null) throw usageError(problem);
  return { start, end, stepSeconds, warmUpSeconds: warmUpOf(scalers, stepSeconds) };
}

function whyNot({ start, end, stepSeconds }: Omit<Range, 'warmUpSeconds'>, now: Instant): string | null {
  const [from, to] = [formatInstant(start), formatInstant(end)];
  if (end > now) return `--to is ${to}, must not be in the future`;
  if (start > now) return `--from is ${from}, must not be in the future`;
  if (start >= end) return `--from is ${from}, must be before --to ${to}`;
  if (stepSeconds < 1) return '--step must be at least 1 s';
  const seconds = secondsBetween(start, end);
  if (seconds > MAX_DAYS * 86_400)
    return `the time from --from to --to is ${formatSeconds(seconds)}, must be at most ${MAX_DAYS} days`;
  const points = seconds / stepSeconds;
  if (points < FEWEST_POINTS)
    return `the time from --from to --to is ${formatSeconds(seconds)}, must be at least ${FEWEST_POINTS} steps of ${stepSeconds} s; set an earlier --from or a shorter --step`;
  if (points > MAX_POINTS)
    return `the time from --from to --to has ${Math.round(points)} steps of ${stepSeconds} s, must have at most ${MAX_POINTS}; set a longer --step`;
  return null;
}

/** The data sources of a history, which are either servers or a file. */
export interface HistorySources {
  readonly byName: ReadonlyMap<string, Fetching>;
  /** Returns all data that has been read, for `--save-history`. */
  readonly saved: (range: Range) => SavedHistory;
  /** Must be called at the end, also after an error. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the data sources with these names; ignores names that the config does not contain. Detects a flavor that is not
 * configured, because VictoriaMetrics needs another CPU query.
 */
export async function openServers(
  configs: ServiceConfig['prometheus'],
  settings: { readonly names: readonly string[]; readonly hasCache: boolean; readonly isSaved: boolean },
  io: CommandIo,
): Promise<HistorySources> {
  const progress = createProgress(
    io,
    (finished, total) => `reading the history: ${finished} of ${total} parts`,
  );
  const directory = settings.hasCache ? historyDirectory(io.env) : null;
  const cache = directory === null ? null : createHistoryCache(directory, io.clock);
  const answers = new Map<string, SavedHistory['answers'][number]>();
  const open = async (config: SourceConfig): Promise<Fetching> => {
    const source = await fittingConfig(config, cache, io);
    const { clock, signal, env } = io;
    const fetching = { source, cache, progress, now: clock.now, signal };
    const client = createRangeClient(source, clock, env);
    if (!settings.isSaved) return { ...fetching, client };
    const onAnswer: Fetching['onAnswer'] = ({ query, stepSeconds, start, end }, series) => {
      const key = JSON.stringify([config.name, query, stepSeconds, start, end]);
      answers.set(key, { source: config.name, query, stepSeconds, start, end, series });
    };
    return { ...fetching, client, onAnswer };
  };
  const known = [...new Set(settings.names)].flatMap((name) =>
    Object.hasOwn(configs, name) ? (configs[name] ?? []) : [],
  );
  const opened = await Promise.all(known.map(open));
  const byName = new Map(opened.map((fetching) => [fetching.source.name, fetching]));
  return {
    byName,
    saved: (range) => ({
      range,
      sources: Object.fromEntries([...byName].map(([name, { source }]) => [name, savedSource(source)])),
      answers: [...answers.values()],
    }),
    close: async () => {
      progress.clear();
      await cache?.prune();
    },
  };
}

/** Opens the data that `--save-history` has written to a file. */
export function openSaved(saved: SavedHistory, io: CommandIo): HistorySources {
  const { prometheus } = resolveServiceConfig({}, null);
  const base = prometheus['default'];
  if (base === undefined) throw new Error('the default config has a data source');
  const progress = { add: () => undefined, done: () => undefined };
  const access = { cache: null, progress, now: io.clock.now, signal: io.signal };
  const byName = Object.entries(saved.sources).map(([name, own]): readonly [string, Fetching] => [
    name,
    { ...access, source: { ...base, ...own, name }, client: savedClient(saved, name) },
  ]);
  return { byName: new Map(byName), saved: () => saved, close: () => Promise.resolve() };
}

/**
 * Time limit for detecting the flavor. It is short, because the following range query reports an unreachable server
 * better.
 */
const RECOGNITION_MS = 5000;

/**
 * Returns the config with the queries for the detected flavor. If the server is down, uses the flavor of its cached
 * answers.
 */
async function fittingConfig(
  config: SourceConfig,
  cache: HistoryCache | null,
  io: CommandIo,
): Promise<SourceConfig> {
  const client = createPrometheusClient(config, io.clock, io.env);
  const hasAnswered = await client.recognize({ timeoutMs: RECOGNITION_MS, signal: io.signal });
  const fitting = client.fittingConfig();
  const { ifVictoriaMetrics } = config;
  if (ifVictoriaMetrics === null) return fitting;
  const key = { source: identityOf(config), query: '# flavor', start: 0, end: 0, stepSeconds: 1 };
  if (hasAnswered) {
    await cache?.write(key, [{ labels: { flavor: fitting.flavor }, points: [] }]);
    return fitting;
  }
  const [known] = (await cache?.read(key)) ?? [];
  return known?.labels['flavor'] === ifVictoriaMetrics.flavor
    ? { ...config, ...ifVictoriaMetrics, ifVictoriaMetrics: null }
    : fitting;
}
