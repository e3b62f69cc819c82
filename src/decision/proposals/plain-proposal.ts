import type { CurrentValue } from '../result/decision.js';
import { NamedParts, NamedValues } from '../samples/named-values.js';
import type { ContainersSample, PodsSample } from '../snapshot/snapshot.js';
import type { PodMetric, Proposal, ProposalContext } from './context.js';
import { ceilCount } from './count.js';
import { hasSettled } from './settled-pods.js';
import type { SettledPods } from './settled-pods.js';
import { isWithinTolerance } from './tolerance.js';

/**
 * Returns the proposal of `proposeFromPods` for the usual case, at a fraction of its cost: all pods run, are ready and
 * have a sample, nothing else has one, and all sums are exact as numbers. Null: the case is another one.
 */
export function plainProposal(
  metric: PodMetric,
  sample: ContainersSample | PodsSample,
  context: ProposalContext,
): Proposal | null {
  const { settled } = context.podFacts;
  if (settled === null || !doAllCount(metric, settled, context)) return null;
  const used = usageOfAll(metric, sample, settled);
  const usage = used === null ? null : usageRatio(metric, used, settled);
  if (usage === null) return null;
  const { groups } = settled;
  const { ratio, current } = usage;
  const within = isWithinTolerance(ratio, context.tolerances);
  const proposal = within ? context.target.specReplicas : ceilCount(ratio * groups.ready.length);
  return { pods: groups, podReasons: NO_REASONS, current, error: null, ratio, proposal };
}

const NO_REASONS: Proposal['podReasons'] = {};

/** The rules of `group-pods.ts` for young pods apply to no pod. */
function doAllCount(metric: PodMetric, settled: SettledPods, { now, spec }: ProposalContext): boolean {
  const { cpuInitializationPeriodSeconds, podWarmupSeconds } = spec;
  const isCpu = metric.type !== 'Pods' && metric.name === 'cpu';
  if (!isCpu && podWarmupSeconds === 0) return true;
  return hasSettled(settled, cpuInitializationPeriodSeconds + podWarmupSeconds, now);
}

/** Returns the usage of all pods in milli-units; null if it is not known of each, or not an exact number. */
function usageOfAll(
  metric: PodMetric,
  sample: ContainersSample | PodsSample,
  { groups: { ready } }: SettledPods,
): number | null {
  const isComplete = (sample.form === 'pods' ? sample.pods : sample.containers).size === ready.length;
  const sum = isComplete ? sumOf(ready, sample, metric) : null;
  return sum !== null && isExact(sum) ? sum : null;
}

function sumOf(
  names: readonly string[],
  sample: ContainersSample | PodsSample,
  metric: PodMetric,
): number | null {
  if (sample.form === 'pods') {
    const { pods } = sample;
    return pods instanceof NamedValues
      ? pods.sum(names, exactMilli)
      : sumEach(names, (name) => exactMilli(pods.get(name)));
  }
  const { containers } = sample;
  return containers instanceof NamedParts
    ? containers.sum(names, metric.type === 'ContainerResource' ? metric.container : null, exactMilli)
    : sumEach(names, (name) => usageOfContainers(containers.get(name), metric));
}

function sumEach(names: readonly string[], usageOf: (name: string) => number | null): number | null {
  let sum = 0;
  for (const name of names) {
    const usage = usageOf(name);
    if (usage === null) return null;
    sum += usage;
  }
  return sum;
}

function usageOfContainers(
  containers: ReadonlyMap<string, number> | undefined,
  metric: PodMetric,
): number | null {
  if (containers === undefined || containers.size === 0) return null;
  if (metric.type === 'ContainerResource') return exactMilli(containers.get(metric.container));
  let sum = 0;
  for (const value of containers.values()) {
    const usage = exactMilli(value);
    if (usage === null) return null;
    sum += usage;
  }
  return sum;
}

/** As `milliFromNumber`, but as a number; null if there is no value, or the number is not exact. */
function exactMilli(value: number | undefined): number | null {
  if (value === undefined) return null;
  const milli = Number.isSafeInteger(value) ? value * 1000 : Math.round(value * 1000);
  if (!isExact(milli)) return null;
  return milli === 0 && value > 0 ? 1 : milli;
}

/** Sums of numbers up to here are exact, and no NaN passes. */
function isExact(milli: number): boolean {
  return milli >= 0 && milli <= Number.MAX_SAFE_INTEGER;
}

/** The arithmetic of `usage-ratio.ts` on numbers; null if it is not exact. */
function usageRatio(
  metric: PodMetric,
  used: number,
  settled: SettledPods,
): { readonly ratio: number; readonly current: CurrentValue } | null {
  const { target } = metric;
  const averageValue = divide(used, settled.groups.ready.length) / 1000;
  if (target.type !== 'Utilization')
    return {
      ratio: divide(used, settled.groups.ready.length) / Number(target.milli),
      current: { averageValue },
    };
  const container = metric.type === 'ContainerResource' ? metric.container : null;
  const requested = settled.requested(metric.name, container);
  if (requested === null || requested <= 0 || !isExact(used * 100)) return null;
  const percent = divide(used * 100, requested);
  return { ratio: percent / target.percent, current: { averageUtilization: percent, averageValue } };
}

/** Truncated. Exact, unlike the truncation of a rounded quotient. */
function divide(dividend: number, divisor: number): number {
  return (dividend - (dividend % divisor)) / divisor;
}
