import { resolve } from 'node:path';
import {
  type Assumptions,
  type Result,
  type WorkloadModel,
  type Variant,
} from '../../backtest/compare/variant.js';
import type { Scoring, Demand } from '../../backtest/compare/figures.js';
import type { Load } from '../../backtest/simulation/load.js';
import { parseTraceInParts } from '../../backtest/simulation/parse-trace.js';
import { describePodStart, describeQueue, statedPodStart } from '../../backtest/simulation/settings.js';
import { CommandError, type CommandIo } from '../output/io.js';
import { readNamedFile } from '../input/read-files.js';
import { DEFAULT_SCRAPE_INTERVAL_SECONDS } from '../../units/bounds.js';
import { isDifference, largestWrittenRangeSeconds } from '../../promql/ranges.js';
import { autoCapacityOf, isCpu, isMemory, isOfResource, type MetricSpec } from '../../scaler/spec.js';
import { periodicYield } from '../../units/clock.js';
import { windowOfInterval } from '../../units/bounds.js';
import type { Instant } from '../../units/time.js';

/** The input that all runs of a back-test share. The load is from a trace or from history. */
export interface BacktestInput {
  readonly workload: WorkloadModel;
  readonly scoring: Scoring;
  readonly assumptions: Assumptions;
  /** Further rows of the report, such as the recorded replicas. */
  readonly otherResults: readonly Result[];
  readonly assumptionLines: readonly string[];
}

/** Limits a load trace. A trace with a value for each second of 30 days takes 40 MB. */
const MAX_TRACE_BYTES = 128 * 1024 * 1024;

/** Reads a load trace and prints its problems. `start`: as for `parseTraceInParts`. Throws `CommandError`. */
export async function openTrace(file: string, start: Instant | null, io: CommandIo): Promise<Load> {
  const yieldIfDue = periodicYield(io.clock);
  const parts = parseTraceInParts(await readText(file, io), start);
  let part = parts.next();
  for (; part.done !== true; part = parts.next()) {
    await yieldIfDue();
    if (io.signal.aborted) throw new CommandError(`--trace: reading ${file}: interrupted`);
  }
  const { load, problems } = part.value;
  for (const { severity, line, message } of problems)
    io.stderr.write(`${file}${line === null ? '' : `:${line}`}: ${severity}: ${message}\n`);
  if (load === null) throw new CommandError(`--trace: ${file} is invalid`);
  return load;
}

async function readText(file: string, io: CommandIo): Promise<string> {
  if (file === '-') return io.readStdin();
  const bounds = { mostBytes: MAX_TRACE_BYTES, pipe: { signal: io.signal } };
  return readNamedFile(`--trace: reading ${file}`, resolve(io.cwd, file), bounds);
}

export function usesCpu(variants: readonly Variant[]): boolean {
  return variants.some(({ scaler }) => scaler.spec.metrics.some(isCpu));
}

/** Returns whether a document has `maxReplicasFrom`. */
export function hasCeiling({ scaler }: Variant): boolean {
  return scaler.spec.maxReplicasFrom !== null;
}

/** Returns one sentence for each assumption that the result depends on, with the option that sets it. */
export function describeAssumptions(
  assumptions: Assumptions,
  variants: readonly Variant[],
  {
    isSaved,
    usageAtCapacity = `${assumptions.usageAtCapacityPercent} % of its cpu request, and never uses more (--usage-at-capacity)`,
  }: {
    /** Whether the history is from a file. */
    readonly isSaved: boolean;
    readonly usageAtCapacity?: string;
  },
): readonly string[] {
  const { capacity, podStart, initialReplicas, queue, measures } = assumptions;
  const { scrapeIntervalSeconds, resourceWindowSeconds, maxReplicasFrom } = assumptions;
  const isOfCpu = usesCpu(variants);
  const isStated = podStart.node === null && podStart.p95Seconds === statedPodStart(variants)?.p95Seconds;
  const podStartSource = isStated
    ? 'podStart.seconds of the document; --pod-start overrides it'
    : '--pod-start';
  const defaults = {
    scrapeIntervalSeconds: DEFAULT_SCRAPE_INTERVAL_SECONDS,
    resourceWindowSeconds: windowOfInterval(scrapeIntervalSeconds),
  };
  const given = (field: keyof typeof defaults): string => {
    if (assumptions[field] === defaults[field]) return `(the default of ${field}; --config overrides it)`;
    return `(${field} of ${isSaved ? 'the saved history' : '--config'})`;
  };
  return [
    queue === null
      ? `one pod carries a load of ${round(capacity)} (--capacity); load beyond the capacity of all pods, averaged over 15 s, is lost`
      : `one pod serves a load of ${round(capacity)} per second (--capacity); load that the pods cannot serve at once waits ${describeQueue(queue)} (--queue)`,
    ...[...measures].map(([name, expression]) => `metric ${name} measures ${expression} (--metric)`),
    `a pod is ready ${describePodStart(podStart)} after its creation (${podStartSource})`,
    ...(isOfCpu ? [`a pod at its capacity uses ${usageAtCapacity}`] : []),
    ...(maxReplicasFrom !== null ? [`maxReplicasFrom is ${maxReplicasFrom} (--max-replicas-from)`] : []),
    ...slowStartLines(variants, queue !== null),
    'the load is divided evenly among the ready pods',
    ...(isOfCpu ? [`cpu is a rate over ${resourceWindowSeconds} s ${given('resourceWindowSeconds')}`] : []),
    `a rate is the mean between the first and the last sample of the window; the time between these samples is ${scrapeIntervalSeconds} s shorter than the window`,
    ...shortRangeLines(variants, assumptions),
    `a sample is ${scrapeIntervalSeconds / 2} s old, half of the scrape interval ${given('scrapeIntervalSeconds')}`,
    initialReplicas === null
      ? 'the simulation starts with as many replicas as the load needs (--initial-replicas)'
      : `the replicas at the start are ${initialReplicas} (--initial-replicas)`,
    'the demand is the load of each 15 s divided by the capacity, rounded up, and at least 1 pod',
    'pauses, dry run, failures and the hold after metrics have recovered are not simulated',
  ];
}

/**
 * Returns a note if a range is not longer than the assumed scrape interval. A rate needs two scrapes in its range, so
 * the real interval must be shorter.
 */
function shortRangeLines(
  variants: readonly Variant[],
  { scrapeIntervalSeconds, resourceWindowSeconds }: Assumptions,
): readonly string[] {
  const ranges = variants.flatMap(({ scaler }) =>
    scaler.spec.metrics.flatMap((metric) => {
      if (isOfResource(metric)) return isCpu(metric) ? [resourceWindowSeconds] : [];
      return isDifference(metric.query) ? [largestWrittenRangeSeconds(metric.query)] : [];
    }),
  );
  const shortest = Math.min(...ranges);
  if (shortest > scrapeIntervalSeconds) return [];
  return [
    `a range of ${shortest} s is not longer than the scrape interval of ${scrapeIntervalSeconds} s, so its rate is not delayed in this simulation, and theta_U is too low: set the scrape interval with --config`,
  ];
}

function slowStartLines(variants: readonly Variant[], hasQueue: boolean): readonly string[] {
  const metrics = variants.flatMap(({ scaler }) => scaler.spec.metrics);
  const hasBacklog = metrics.some((metric) => 'backlog' in metric);
  const modes = metrics.map((metric) => autoCapacityOf(metric)?.mode);
  const hasCapacity = modes.includes('Use') || metrics.some((metric) => 'capacityQuery' in metric);
  return [
    ...(hasBacklog && !hasQueue ? ['the backlog is 0, because load waits only with --queue'] : []),
    ...(hasCapacity && hasQueue
      ? ['the measured capacity of a pod is the load that it serves (--capacity), from the first decision on']
      : []),
    ...(hasCapacity && !hasQueue
      ? ['the measured capacity of a pod is simulated only with --queue: the target is averageValue']
      : []),
    ...(modes.includes('Observe')
      ? ['capacity.auto with mode Observe changes no decision: the target is averageValue']
      : []),
  ];
}

/** Returns notes: which metrics share the load of a trace, and which values a trace does not contain. */
export function traceLines(
  variants: readonly Variant[],
  { maxReplicasFrom, measures }: Pick<Assumptions, 'maxReplicasFrom' | 'measures'>,
): readonly string[] {
  const namesOf = (isNamed: (metric: MetricSpec) => boolean): readonly string[] => [
    ...new Set(
      variants.flatMap(({ scaler }) => scaler.spec.metrics.filter(isNamed)).map(({ identity }) => identity),
    ),
  ];
  const distinct = namesOf(isMemory);
  const sharing = namesOf((metric) => !isMemory(metric) && !measures.has(metric.identity));
  return [
    ...(sharing.length < 2
      ? []
      : [
          `the metrics ${sharing.slice(0, -1).join(', ')} and ${sharing.at(-1)} measure the load of the trace (set another measure with --queue and --metric)`,
        ]),
    ...(distinct.length === 0
      ? []
      : [
          `the usage of ${distinct.join(', ')} is omitted, because a load trace does not contain this usage (use --prometheus to include it)`,
        ]),
    ...(maxReplicasFrom === null && variants.some(hasCeiling)
      ? [
          'maxReplicasFrom is omitted, because a load trace contains no value for this field (set a value with --max-replicas-from)',
        ]
      : []),
  ];
}

/** Returns a note about the share of the time for which the load is unknown. */
export function unscoredLines({ pods }: Demand): readonly string[] {
  const unknown = pods.reduce((count, needed) => count + (Number.isNaN(needed) ? 1 : 0), 0);
  // Less than 1 % is normal, because values are always missing in half of the last window.
  if (100 * unknown < pods.length) return [];
  const percent = Number(((100 * unknown) / pods.length).toPrecision(2));
  return [`${percent} % of the time is not scored, because the load is unknown`];
}

export function round(value: number): number {
  return Number(value.toPrecision(4));
}
