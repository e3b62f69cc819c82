import { type Range, MAX_POINTS } from '../../backtest/history/fetch-series.js';
import { type GivenAssumptions, historyInput } from '../../backtest/history/history-input.js';
import { readHistory, type RecordedHistory } from '../../backtest/history/read-history.js';
import { longestWindowSeconds, lookbackSeconds, warmUpOf } from '../../backtest/history/warm-up.js';
import type { Variant } from '../../backtest/compare/variant.js';
import { learnsPodStart, POD_START_OF } from '../../control/memory/pod-starts.js';
import { type ServiceConfig, resolveServiceConfig } from '../../config/resolve-service-config.js';
import { parseQuantity, milliToNumber } from '../../units/quantity.js';
import { formatInstant, type Instant, secondsBetween } from '../../units/time.js';
import { withPrometheusUrl } from '../input/service-config.js';
import { formatSeconds } from '../../units/format.js';
import { openOutputFile } from '../output/output-file.js';
import { type CommandIo, usageError } from '../output/io.js';
import {
  describeAssumptions,
  hasCeiling,
  round,
  unscoredLines,
  usesCpu,
  type BacktestInput,
} from './backtest-input.js';
import { type HistoryOptions, parseSeconds } from './options.js';
import { type HistorySources, openSaved, openServers } from './history-sources.js';
import { readSavedHistory, type SavedHistory, writeHistory, MAX_DAYS } from './saved-history.js';
import { localTimes } from '../output/lines.js';
import { isMemory, isOfResource, type Scaler } from '../../scaler/spec.js';
import { readPastTime } from '../input/read-time.js';

const DEFAULT_STEP_SECONDS = 15;
const FEWEST_POINTS = 10;

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
  const { sources, range } =
    file === null ? await openServersOf(options, variants, given.config, io) : openFile(file, io);
  const { capacity, usageAtCapacityPercent } = given.assumptions;
  let recorded: RecordedHistory;
  try {
    recorded = await readHistory(
      variants.map(({ scaler }) => scaler),
      { range, request, capacity, usageAtCapacityPercent, sources: sources.byName },
    );
  } finally {
    await sources.close();
  }
  if (saved !== null) await writeHistory(saved, sources.saved(range));
  for (const warning of recorded.warnings) io.stderr.write(`promscaler: warning: ${localTimes(warning)}\n`);
  const { scrapeIntervalSeconds, resourceWindowSeconds } = recorded.source;
  const assumptions = { ...given.assumptions, scrapeIntervalSeconds, resourceWindowSeconds };
  return inputOf(recorded, variants, { given: assumptions, range, isSaved: file !== null });
}

interface Opened {
  readonly sources: HistorySources;
  readonly range: Range;
}

async function openServersOf(
  options: HistoryOptions,
  variants: readonly Variant[],
  known: ServiceConfig | null,
  io: CommandIo,
): Promise<Opened> {
  const { prometheus } = withPrometheusUrl(known ?? resolveServiceConfig({}, null), options.prometheus);
  const source = prometheus['default'] ?? Object.values(prometheus)[0];
  const range = readRange(options, {
    now: io.clock.now(),
    scrapeIntervalSeconds: source?.scrapeIntervalSeconds ?? DEFAULT_STEP_SECONDS,
    scalers: variants.map(({ scaler }) => scaler),
  });
  const { cache = true, saveHistory } = options;
  const names = variants.flatMap(({ scaler }) =>
    [...scaler.spec.metrics, scaler.spec.maxReplicasFrom].flatMap((queried) => queried?.source ?? []),
  );
  const settings = { names, hasCache: cache, isSaved: saveHistory !== undefined };
  return { sources: await openServers(prometheus, settings, io), range };
}

function openFile(file: SavedHistory, io: CommandIo): Opened {
  const { start, end, stepSeconds, warmUpSeconds } = file;
  return { sources: openSaved(file, io), range: { start, end, stepSeconds, warmUpSeconds } };
}

function inputOf(
  recorded: RecordedHistory,
  variants: readonly Variant[],
  {
    given,
    range: asked,
    isSaved,
  }: { readonly given: GivenAssumptions; readonly range: Range; readonly isSaved: boolean },
): BacktestInput {
  const { workload, scoring, assumptions, range, warmUpSeconds, capacityAt, ran } = historyInput(recorded, {
    given,
    range: asked,
  });
  return {
    workload,
    scoring,
    assumptions,
    otherResults: ran === null ? [] : [ran],
    assumptionLines: [
      ...(capacityAt === null
        ? []
        : [
            `the capacity of a pod is the highest load of a ready pod in the history, at ${formatInstant(capacityAt)}: if the pods were never busy, a pod can carry more (set --capacity)`,
          ]),
      ...historyLines(recorded, variants, { given, range, askedFrom: asked.start, warmUpSeconds }),
      ...describeAssumptions(assumptions, variants, { isSaved, ...usageAtCapacity(recorded, given) }),
      ...unscoredLines(scoring.demand),
    ],
  };
}

function historyLines(
  { loadMetric, cpuRequest, cpuLimit, podStartSeconds, ran }: RecordedHistory,
  variants: readonly Variant[],
  {
    given,
    range,
    askedFrom,
    warmUpSeconds,
  }: {
    readonly given: GivenAssumptions;
    readonly range: Range;
    readonly askedFrom: Instant;
    readonly warmUpSeconds: number;
  },
): readonly string[] {
  const { start, end, stepSeconds } = range;
  const metrics = variants.flatMap(({ scaler }) => scaler.spec.metrics);
  const hasMemory = metrics.some(isMemory);
  const hasZero = metrics.some((metric) => 'onMissing' in metric && metric.onMissing === 'zero');
  const measured = cpuLimit === null ? 'the cpu request' : 'the cpu limit';
  return [
    `the load is the total of metric ${loadMetric.identity} from ${formatInstant(start)} to ${formatInstant(end)}, every ${stepSeconds} s (--from, --to, --step)`,
    ...(start > askedFrom
      ? [
          `the time from ${formatInstant(askedFrom)} to ${formatInstant(start)} is not scored, because the history has no values there`,
        ]
      : []),
    ...(cpuRequest === null || !usesCpu(variants)
      ? []
      : [`a pod requests ${round(cpuRequest)} cores (--request)`]),
    ...(given.capacity === null && usesCpu(variants)
      ? [`the capacity of a pod is ${measured} (--capacity)`]
      : []),
    ...(given.podStart === null && podStartSeconds !== null
      ? [
          `the pod start time is the median of kube_pod_status_ready_time - kube_pod_created, including the time until the pod is on a node${variants.some(({ scaler }) => learnsPodStart(scaler.spec)) ? `; the service measures the seconds ${POD_START_OF} (podStart.seconds sets both)` : ''}`,
        ]
      : []),
    warmUpLine(variants, warmUpSeconds, given.initialReplicas !== null),
    'to compute the demand, values are moved back in time by half of the window of their query',
    'the recorded usage does not include load that was not served: while pods were at their limit, the demand was higher',
    ...(given.maxReplicasFrom === null && variants.some(hasCeiling)
      ? ['the value of maxReplicasFrom is the recorded result of its query (--max-replicas-from)']
      : []),
    ...(hasMemory
      ? ['the memory usage of a pod is the recorded mean, regardless of the number of pods']
      : []),
    ...(hasZero
      ? ['onMissing: zero applies only at times for which the history contains the replica count']
      : []),
    ...(ran === null
      ? ['the replicas that really ran are unknown: neither kube-state-metrics nor promscaler recorded them']
      : []),
  ];
}

/**
 * If the capacity or the CPU limit of a pod determines its usage at capacity, returns this usage as text:
 * `--usage-at-capacity` then has no effect. Otherwise returns an empty object.
 */
function usageAtCapacity(
  { load: { saturation }, loadMetric, cpuRequest, cpuLimit }: RecordedHistory,
  { capacity }: GivenAssumptions,
): { readonly usageAtCapacity?: string } {
  const isOfCpu = isOfResource(loadMetric);
  const most = isOfCpu ? saturation : cpuLimit;
  if (most === null || (cpuLimit === null && (capacity === null || !isOfCpu))) return {};
  return {
    usageAtCapacity:
      cpuRequest === null
        ? `${round(most)} cores, and never uses more`
        : `${round((100 * most) / cpuRequest)} % of its cpu request, and never uses more`,
  };
}

function warmUpLine(
  variants: readonly Variant[],
  warmUpSeconds: number,
  hasInitialReplicas: boolean,
): string {
  const longest = Math.max(...variants.map(({ scaler }) => longestWindowSeconds(scaler)));
  const lookback = Math.max(...variants.map(({ scaler }) => lookbackSeconds(scaler)));
  if (hasInitialReplicas) return 'all windows are empty at --from, because --initial-replicas is set';
  if (warmUpSeconds === 0)
    return `windows (up to ${formatSeconds(longest)}) are empty at the start, because the history has no earlier values`;
  const begin = `decisions begin ${formatSeconds(warmUpSeconds)} before --from, but are scored only from --from on`;
  if (warmUpSeconds < longest)
    return `${begin}; the history has no earlier values, although windows are up to ${formatSeconds(longest)} long`;
  return warmUpSeconds < lookback
    ? `${begin}; the history has no earlier values, although a forecast looks back ${formatSeconds(lookback)}`
    : begin;
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
  given: {
    readonly now: Instant;
    readonly scrapeIntervalSeconds: number;
    readonly scalers: readonly Scaler[];
  },
): Range {
  const { now, scrapeIntervalSeconds, scalers } = given;
  if (options.from === undefined) throw usageError('--prometheus needs --from, such as --from 7d');
  const end = options.to === undefined ? now : readPastTime('--to', options.to, now);
  const start = readPastTime('--from', options.from, end);
  const stepSeconds =
    options.step === undefined ? scrapeIntervalSeconds : parseSeconds('--step', options.step);
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
