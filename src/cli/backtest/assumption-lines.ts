import type { HistoryInput } from '../../backtest/history/history-input.js';
import { longestWindowSeconds, lookbackSeconds } from '../../backtest/history/warm-up.js';
import type { RecordedHistory } from '../../backtest/history/read-history.js';
import type { Demand } from '../../backtest/compare/figures.js';
import type { Variant } from '../../backtest/compare/variant.js';
import {
  describePodStart,
  describeQueue,
  statedPodStart,
  type Assumptions,
  type GivenAssumptions,
} from '../../backtest/simulation/settings.js';
import { learnsPodStart, POD_START_OF } from '../../control/memory/pod-starts.js';
import { isDifference, largestWrittenRangeSeconds } from '../../promql/ranges.js';
import { autoCapacityOf, isCpu, isMemory, isOfResource, type MetricSpec } from '../../scaler/spec.js';
import { DEFAULT_SCRAPE_INTERVAL_SECONDS, windowOfInterval } from '../../units/bounds.js';
import { formatSeconds } from '../../units/format.js';
import { formatInstant, type Instant } from '../../units/time.js';

/**
 * Returns the assumptions of a back-test on a trace, which metrics share its load, and which values it does not
 * contain.
 */
export function traceLines(
  variants: readonly Variant[],
  assumptions: Assumptions,
  demand: Demand,
): readonly string[] {
  const { maxReplicasFrom, measures } = assumptions;
  const namesOf = (isNamed: (metric: MetricSpec) => boolean): readonly string[] => [
    ...new Set(
      variants.flatMap(({ scaler }) => scaler.spec.metrics.filter(isNamed)).map(({ identity }) => identity),
    ),
  ];
  const distinct = namesOf(isMemory);
  const sharing = namesOf((metric) => !isMemory(metric) && !measures.has(metric.identity));
  return [
    ...describeAssumptions(assumptions, variants, { isSaved: false }),
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
    'windows are empty at the start, because the trace contains no earlier time',
    ...unscoredLines(demand),
  ];
}

/**
 * Returns what a back-test on the history of a data source assumes. `askedFrom`: the start of the range of the user.
 */
export function historyLines(
  variants: readonly Variant[],
  recorded: RecordedHistory,
  {
    input: { assumptions, scoring, range, warmUpSeconds, capacityAt },
    given,
    askedFrom,
    isSaved,
  }: {
    readonly input: HistoryInput;
    readonly given: GivenAssumptions;
    readonly askedFrom: Instant;
    readonly isSaved: boolean;
  },
): readonly string[] {
  const { loadMetric, cpuRequest, cpuLimit, podStartSeconds, ran } = recorded;
  const { start, end, stepSeconds } = range;
  const metrics = variants.flatMap(({ scaler }) => scaler.spec.metrics);
  const hasMemory = metrics.some(isMemory);
  const hasZero = metrics.some((metric) => 'onMissing' in metric && metric.onMissing === 'zero');
  const measured = cpuLimit === null ? 'the cpu request' : 'the cpu limit';
  return [
    ...(capacityAt === null
      ? []
      : [
          `the capacity of a pod is the highest load of a ready pod in the history, at ${formatInstant(capacityAt)}: if the pods were never busy, a pod can carry more (set --capacity)`,
        ]),
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
    ...describeAssumptions(assumptions, variants, {
      isSaved,
      usageAtCapacity: usageAtCapacity(recorded, given),
    }),
    ...unscoredLines(scoring.demand),
  ];
}

/**
 * If the capacity or the CPU limit of a pod determines its usage at capacity, returns this usage as text:
 * `--usage-at-capacity` then has no effect. Otherwise returns null.
 */
function usageAtCapacity(
  { load: { saturation }, loadMetric, cpuRequest, cpuLimit }: RecordedHistory,
  { capacity }: GivenAssumptions,
): string | null {
  const isOfCpu = isOfResource(loadMetric);
  const most = isOfCpu ? saturation : cpuLimit;
  if (most === null || (cpuLimit === null && (capacity === null || !isOfCpu))) return null;
  return cpuRequest === null
    ? `${round(most)} cores`
    : `${round((100 * most) / cpuRequest)} % of its cpu request`;
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

/** Returns one sentence for each assumption that the result depends on, with the option that sets it. */
export function describeAssumptions(
  assumptions: Assumptions,
  variants: readonly Variant[],
  {
    isSaved,
    usageAtCapacity = null,
  }: {
    /** Whether the history is from a file. */
    readonly isSaved: boolean;
    /** The usage of a pod at its capacity as text; null: the assumed percentage of its request. */
    readonly usageAtCapacity?: string | null;
  },
): readonly string[] {
  const { capacity, podStart, initialReplicas, queue, measures } = assumptions;
  const usage = usageAtCapacity ?? `${assumptions.usageAtCapacityPercent} % of its cpu request`;
  const usageSource = usageAtCapacity === null ? ' (--usage-at-capacity)' : '';
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
    ...(isOfCpu ? [`a pod at its capacity uses ${usage}, and never uses more${usageSource}`] : []),
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

/** Returns a note about the share of the time for which the load is unknown. */
function unscoredLines({ pods }: Demand): readonly string[] {
  const unknown = pods.reduce((count, needed) => count + (Number.isNaN(needed) ? 1 : 0), 0);
  // Less than 1 % is normal, because values are always missing in half of the last window.
  if (100 * unknown < pods.length) return [];
  const percent = Number(((100 * unknown) / pods.length).toPrecision(2));
  return [`${percent} % of the time is not scored, because the load is unknown`];
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}

function usesCpu(variants: readonly Variant[]): boolean {
  return variants.some(({ scaler }) => scaler.spec.metrics.some(isCpu));
}

/** Returns whether a document has `maxReplicasFrom`. */
export function hasCeiling({ scaler }: Variant): boolean {
  return scaler.spec.maxReplicasFrom !== null;
}
