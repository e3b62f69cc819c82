import type { MetricSpec, MetricTarget } from '../scaler/spec.js';
import { countOf } from '../units/count-of.js';
import { formatMilli, milliFromNumber, milliToNumber } from '../units/quantity.js';
import type { PodGroups } from './result/decision.js';
import { MAX_REPLICAS } from '../units/replicas.js';
import { describeFallback } from './proposals/fallback.js';
import type { JudgedMetric } from './proposals/propose.js';
import { isWithinTolerance, tolerancesOf } from './proposals/tolerance.js';
import { countReadyPods, totalOf } from './proposals/total-metrics.js';
import type { Snapshot } from './snapshot/snapshot.js';

/**
 * Returns value and target of a metric: `cpu is at 83 % of the requests, target 60 %` if the proposal is `ceil(83 / 60
 * x replicas)`. Otherwise adds what a reader needs to recompute the proposal: the number of pods that count, the pods
 * with assumed usage, or the tolerance. Totals are per pod: `depth is at 130, target 30 per pod`.
 */
export function explainProposal(metric: JudgedMetric, snapshot: Snapshot): string {
  const { spec, result } = metric;
  if (result.fallback !== undefined) return `${spec.identity} has ${describeFallback(result.fallback)}`;
  const isTotal = spec.type === 'Object' || spec.type === 'External';
  return `${spec.identity} is at ${isTotal ? explainTotal(metric, snapshot) : explainPods(metric, snapshot)}`;
}

/** The printed numbers, from which a reader computes `ceil(usage x pods / target)`. Usage and target are integers. */
interface Reading {
  readonly usage: number;
  readonly target: number;
  readonly pods: number;
}

function read({ usage, target, pods }: Reading): number {
  return Math.ceil((usage * pods) / target);
}

/** For a proposal that differs from the result of the printed numbers. */
function explainRest(reading: Reading, proposal: number): string {
  const count = read(reading);
  if (count === proposal) return '';
  if (count > MAX_REPLICAS && proposal === MAX_REPLICAS) return `, a count is at most ${MAX_REPLICAS}`;
  return `, which is ${proposal} in binary floating point, as with the HPA`;
}

function explainTotal(metric: JudgedMetric, snapshot: Snapshot): string {
  const { spec, sample } = metric;
  const { specReplicas, statusReplicas } = snapshot.target;
  const total = totalOf(sample);
  const milli = spec.target.type === 'Utilization' ? 0n : spec.target.milli;
  const [usage, target] = [Number(total), Number(milli)];
  const value = formatNumber(milliToNumber(total));
  if (spec.target.type === 'AverageValue') {
    const reading = { usage, target, pods: 1 };
    const there = statusReplicas === specReplicas ? '' : ` over ${countOf(statusReplicas, 'replica')}`;
    const rest =
      explainTolerance(metric, snapshot, { reading, there }) ?? explainRest(reading, proposalOf(metric));
    return `${value}, target ${formatMilli(milli)} per pod${rest}`;
  }
  const valueAndTarget = `${value}, target ${formatMilli(milli)}`;
  const isAsleep = specReplicas === 0;
  const pods = isAsleep ? 1 : specReplicas;
  const kept = isAsleep
    ? null
    : explainTolerance(metric, snapshot, { reading: { usage, target, pods }, there: '' });
  if (kept !== null) return `${valueAndTarget}${kept}`;
  const counted = isAsleep ? 1 : countReadyPods(snapshot.pods);
  const over = isAsleep
    ? ', over 1 pod at 0 replicas'
    : overPods(counted, { specReplicas, noun: 'ready pod' });
  return `${valueAndTarget}${over}${explainRest({ usage, target, pods: counted }, proposalOf(metric))}`;
}

function explainPods(metric: JudgedMetric, snapshot: Snapshot): string {
  const { spec, result } = metric;
  const { specReplicas } = snapshot.target;
  const { ready, unready, missing } = result.pods;
  const first = firstReading(metric, specReplicas);
  const valueAndTarget = `${valueText(spec, first.usage)}, target ${targetText(spec.target)}`;
  const isUp = first.usage > first.target;
  if (missing.length === 0 && (unready.length === 0 || !isUp)) {
    const aside = unready.length === 0 ? '' : `, ${countOf(unready.length, 'unready pod')} not counted`;
    const kept = explainTolerance(metric, snapshot, { reading: first, there: '' });
    if (kept !== null) return `${valueAndTarget}${aside}${kept}`;
    const over = overPods(ready.length, { specReplicas, noun: 'ready pod' });
    return `${valueAndTarget}${aside}${over}${explainRest({ ...first, pods: ready.length }, proposalOf(metric))}`;
  }
  const usage = Math.round((result.ratio ?? 0) * first.target);
  const aside = filledText(spec.target, result.pods, { first, usage, text: valueText(spec, usage, true) });
  return `${valueAndTarget}${aside}${secondText(metric, snapshot, { ...first, usage })}`;
}

function secondText(metric: JudgedMetric, snapshot: Snapshot, filled: Reading): string {
  const { specReplicas } = snapshot.target;
  const proposal = proposalOf(metric);
  const kept = explainTolerance(metric, snapshot, { reading: filled, there: '' });
  if (kept !== null) return kept;
  const pods = countFilled(metric, snapshot);
  const reading = { ...filled, pods };
  if (proposal === specReplicas && read(reading) !== proposal)
    return ', which must not reverse the direction';
  return `${overPods(pods, { specReplicas, noun: 'pod' })}${explainRest(reading, proposal)}`;
}

function proposalOf({ result }: JudgedMetric): number {
  return result.proposal ?? 0;
}

function firstReading({ spec, result }: JudgedMetric, pods: number): Reading {
  const { averageUtilization, averageValue } = result.current;
  if (spec.target.type === 'Utilization')
    return { usage: averageUtilization ?? 0, target: spec.target.percent, pods };
  return { usage: Number(milliFromNumber(averageValue ?? 0)), target: Number(spec.target.milli), pods };
}

/** Explains the assumptions about unready and missing pods: idle for a scale-up, at full usage for a scale-down. */
function filledText(
  target: MetricTarget,
  { unready, missing }: PodGroups,
  { first, usage, text }: { readonly first: Reading; readonly usage: number; readonly text: string },
): string {
  const isUp = first.usage > first.target;
  const groups = {
    unready: countOf(unready.length, 'unready pod'),
    missing: countOf(missing.length, 'missing pod'),
  };
  const leftOut = unready.length === 0 || isUp ? '' : `, ${groups.unready} not counted`;
  if (first.usage === first.target) return `${leftOut}, ${groups.missing} not counted`;
  const become = usage === first.usage ? '' : `${text} `;
  if (!isUp) return `${leftOut}, ${become}with ${groups.missing} counted at ${fullText(target)}`;
  const both = [
    ...(unready.length > 0 ? [groups.unready] : []),
    ...(missing.length > 0 ? [groups.missing] : []),
  ];
  return `, ${become}with ${both.join(' and ')} counted as idle`;
}

function fullText(target: MetricTarget): string {
  return target.type === 'Utilization' ? `${Math.max(100, target.percent)} % of the requests` : 'the target';
}

/** Counts the pods of the second pass, including unlisted pods that have samples. */
function countFilled({ result, sample, spec }: JudgedMetric, { pods }: Snapshot): number {
  const { ready, unready, missing } = result.pods;
  const { usage, target } = firstReading({ result, sample, spec }, 1);
  const listed =
    ready.length + (usage === target ? 0 : missing.length) + (usage > target ? unready.length : 0);
  if (sample.form === 'error' || sample.form === 'values') return listed;
  const names = new Set(pods.map(({ name }) => name));
  return listed + sample.pods.filter((name) => !names.has(name)).length;
}

/** Returns null if the tolerance does not keep the count; empty if the printed numbers alone give the same count. */
function explainTolerance(
  { result }: JudgedMetric,
  { scaler, target: { specReplicas } }: Snapshot,
  { reading, there }: { readonly reading: Reading; readonly there: string },
): string | null {
  const { ratio, proposal } = result;
  const tolerances = tolerancesOf(scaler.spec);
  if (ratio === null || proposal !== specReplicas || !isWithinTolerance(ratio, tolerances)) return null;
  if (read(reading) === specReplicas) return '';
  return `, within the tolerance of ${formatNumber((ratio > 1 ? tolerances.up : tolerances.down) * 100)} %${there}`;
}

function overPods(
  pods: number,
  { specReplicas, noun }: { readonly specReplicas: number; readonly noun: string },
): string {
  return pods === specReplicas ? '' : `, over ${countOf(pods, noun)}`;
}

function valueText({ target }: MetricSpec, usage: number, isShort = false): string {
  if (target.type === 'Utilization') return `${usage} %${isShort ? '' : ' of the requests'}`;
  return `${formatNumber(usage / 1000)}${isShort ? '' : ' per pod'}`;
}

function targetText(target: MetricTarget): string {
  return target.type === 'Utilization' ? `${target.percent} %` : formatMilli(target.milli);
}

function formatNumber(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}
