import { describeFallback, type JudgedMetric } from './proposals/propose.js';
import { describeZero } from './failing.js';
import { isOfTotal, type MetricSpec, type MetricTarget } from '../scaler/spec.js';
import { countOf, formatAmount, formatNumber, isInBytes } from '../units/format.js';
import { milliToNumber, parseQuantity } from '../units/quantity.js';
import { MAX_REPLICAS } from '../units/bounds.js';
import type { Arithmetic } from './proposals/context.js';
import { tolerancesOf } from './proposals/arithmetic.js';
import { drainOf, sumOf } from './proposals/total-metrics.js';
import type { MetricResult, PodGroups } from './result/decision.js';
import type { Snapshot } from './snapshot/snapshot.js';

/** A metric whose value proposes a count, with the numbers of that proposal. */
interface Proposed extends Pick<JudgedMetric, 'spec' | 'sample' | 'result'> {
  readonly arithmetic: Arithmetic;
  readonly proposal: number;
}

function proposedOf({ spec, sample, result, arithmetic }: JudgedMetric): Proposed | null {
  const { proposal } = result;
  return arithmetic === null || proposal === null ? null : { spec, sample, result, arithmetic, proposal };
}

/**
 * Returns the value and the target of a metric. The text is only `cpu is at 83 % of the requests, target 60 %` if the
 * proposal is `ceil(83 / 60 x replicas)`. Otherwise the text also contains what a reader needs to recompute the
 * proposal: the number of pods, the pods whose usage is assumed, or the tolerance.
 */
export function explainProposal(metric: JudgedMetric, snapshot: Snapshot): string {
  const { spec, result } = metric;
  if (result.fallback !== undefined) return `${spec.identity} has had ${describeFallback(result.fallback)}`;
  if (result.readAsZero !== undefined) return `${spec.identity}: ${describeValue(metric, snapshot)}`;
  const { saturation } = result;
  if (saturation !== undefined && saturation.replicas !== null)
    return `${spec.identity} has been at ${saturation.why} = ${saturation.replicas}`;
  const proposed = proposedOf(metric);
  const clauses =
    proposed === null
      ? ''
      : isOfTotal(spec)
        ? totalClauses(proposed, snapshot)
        : podClauses(proposed, snapshot);
  return `${spec.identity} is at ${describeValue(metric, snapshot)}${clauses}`;
}

/**
 * Returns the value and the target of a metric. For a total with a target per pod, both the average and the total are
 * printed: the average is the current value, but the proposal is computed from the total. Example: `43.334 per pod, 130
 * in total, target 30 per pod`.
 */
export function describeValue(metric: JudgedMetric, snapshot: Snapshot): string {
  const { spec, result } = metric;
  const { target, name } = spec;
  const proposed = proposedOf(metric);
  if (proposed === null) return `no value, target ${targetText(spec)}`;
  if (result.readAsZero !== undefined)
    return `${describeZero(result.readAsZero)}, target ${targetText(spec)}${target.type === 'Value' ? '' : ' per pod'}`;
  const { arithmetic } = proposed;
  if (target.type === 'Utilization')
    return `${arithmetic.usage} % of the requests, target ${target.percent} %`;
  const write = writerOf(proposed, snapshot);
  const [usage, wanted] = [write(arithmetic.usage), write(arithmetic.target)];
  if (!isOfTotal(spec)) return `${usage} per pod, target ${wanted}`;
  if (target.type === 'Value') return `${usage}, target ${wanted}`;
  const average =
    snapshot.target.statusReplicas === 0
      ? ''
      : `${formatAmount(result.current.averageValue ?? 0, name)} per pod, `;
  return `${average}${usage} in total${drainText(metric, write)}, target ${wanted} per pod`;
}

/** Returns the two parts of a total: ` (64 + a backlog of 480 / 60 s)`; empty: the metric has no backlog. */
function drainText({ spec, sample }: JudgedMetric, write: (milli: number) => string): string {
  const drain = drainOf(spec, sample);
  if (drain === null) return '';
  return ` (${write(Number(sumOf(sample)))} + a backlog of ${write(Number(drain.backlog))} / ${drain.time})`;
}

function targetText({ target, name }: MetricSpec): string {
  return target.type === 'Utilization'
    ? `${target.percent} %`
    : formatAmount(milliToNumber(target.milli), name);
}

/**
 * The numbers that are printed. A reader can compute `ceil(usage x pods / target)` from them. Usage and target are
 * integers.
 */
type Reading = Pick<Arithmetic, 'usage' | 'target' | 'pods'>;

function read({ usage, target, pods }: Reading): number {
  return Math.ceil((usage * pods) / target);
}

/** Returns the numbers that determined the proposal, including any assumed usage. */
function readingOf({ usage, filledUsage, target, pods }: Arithmetic): Reading {
  return { usage: filledUsage ?? usage, target, pods };
}

const MOST_DECIMALS = 12;

/**
 * Returns a function that formats milli-units. It rounds amounts of memory, but not so far that the printed numbers
 * would give a different count than the exact numbers.
 */
function writerOf({ spec, arithmetic }: Proposed, snapshot: Snapshot): (milli: number) => string {
  const { name } = spec;
  if (!isInBytes(name)) return (milli) => formatNumber(milli / 1000);
  const reading = readingOf(arithmetic);
  const readings = [reading, { ...reading, pods: snapshot.target.specReplicas }];
  const writeWith =
    (decimals: number) =>
    (milli: number): string =>
      formatAmount(milli / 1000, name, decimals);
  let decimals = 1;
  const isExact = (): boolean => {
    const printed = (milli: number): number => Number(parseQuantity(writeWith(decimals)(milli)) ?? 0n);
    return readings.every((exact) => {
      const { usage, target, pods } = exact;
      return read({ usage: printed(usage), target: printed(target), pods }) === read(exact);
    });
  };
  while (decimals < MOST_DECIMALS && !isExact()) decimals += 1;
  return writeWith(decimals);
}

function totalClauses(metric: Proposed, snapshot: Snapshot): string {
  const { specReplicas, statusReplicas } = snapshot.target;
  const { spec, arithmetic } = metric;
  if (spec.target.type === 'AverageValue') {
    const kept = toleranceClause(metric, snapshot, readingOf(arithmetic));
    if (kept === null) return binaryClause(metric);
    return kept === '' || statusReplicas === specReplicas
      ? kept
      : `${kept} over ${countOf(statusReplicas, 'replica')}`;
  }
  if (specReplicas === 0) return `, over 1 pod because the target has 0 replicas${binaryClause(metric)}`;
  const kept = toleranceClause(metric, snapshot, { ...readingOf(arithmetic), pods: specReplicas });
  return kept ?? `${overPods(arithmetic.pods, specReplicas, 'ready pod')}${binaryClause(metric)}`;
}

function podClauses(metric: Proposed, snapshot: Snapshot): string {
  const { arithmetic } = metric;
  const { specReplicas } = snapshot.target;
  const { filledUsage, pods, keptBy } = arithmetic;
  const aside = asideText(metric, snapshot);
  const kept = toleranceClause(metric, snapshot, { ...readingOf(arithmetic), pods: specReplicas });
  if (kept !== null) return `${aside}${kept}`;
  if (keptBy === 'direction' && read(readingOf(arithmetic)) !== specReplicas)
    return `${aside}, which must not reverse the direction of scaling`;
  const over = overPods(pods, specReplicas, filledUsage === null ? 'ready pod' : 'pod');
  return `${aside}${over}${binaryClause(metric)}`;
}

/**
 * Returns the clause about unready and missing pods. They are assumed to be idle for a scale-up. For a scale-down,
 * missing pods are assumed to be fully used, and unready pods are omitted.
 */
function asideText(metric: Proposed, snapshot: Snapshot): string {
  const { spec, result, arithmetic } = metric;
  const { usage, filledUsage, target } = arithmetic;
  const unready = countOf(result.pods.unready.length, 'unready pod');
  const missing = countOf(result.pods.missing.length, 'missing pod');
  const isUp = usage > target;
  const notCounted = result.pods.unready.length === 0 || isUp ? '' : `, ${unready} not counted`;
  if (filledUsage === null) return notCounted;
  if (usage === target) return `${notCounted}, ${missing} not counted`;
  const text =
    spec.target.type === 'Utilization' ? `${filledUsage} %` : writerOf(metric, snapshot)(filledUsage);
  const become = filledUsage === usage ? '' : `${text} `;
  if (!isUp) return `${notCounted}, ${become}with ${missing} counted at ${fullText(spec.target)}`;
  const both = [
    ...(result.pods.unready.length > 0 ? [unready] : []),
    ...(result.pods.missing.length > 0 ? [missing] : []),
  ];
  return `, ${become}with ${both.join(' and ')} counted as idle`;
}

function fullText(target: MetricTarget): string {
  return target.type === 'Utilization' ? `${Math.max(100, target.percent)} % of the requests` : 'the target';
}

/**
 * Returns the clause about the tolerance. Null: the tolerance is not the reason for the count. Empty: the printed
 * numbers give the same count without it.
 */
function toleranceClause(
  { arithmetic, result }: Proposed,
  snapshot: Snapshot,
  reading: Reading,
): string | null {
  if (arithmetic.keptBy !== 'tolerance') return null;
  return read(reading) === snapshot.target.specReplicas ? '' : `, ${toleranceText(result, snapshot)}`;
}

function toleranceText({ ratio }: MetricResult, { scaler }: Snapshot): string {
  const { up, down } = tolerancesOf(scaler.spec);
  return `within the tolerance of ${formatNumber((ratio !== null && ratio > 1 ? up : down) * 100)} %`;
}

/** Returns why the proposal differs from the count that the printed numbers give; empty: both are equal. */
function binaryClause({ arithmetic, proposal }: Proposed): string {
  const count = read(readingOf(arithmetic));
  if (count === proposal) return '';
  if (count > MAX_REPLICAS && proposal === MAX_REPLICAS) return `, limited to ${MAX_REPLICAS}`;
  return `, rounded up to ${proposal} in floating-point arithmetic, as in the HPA`;
}

function overPods(pods: number, specReplicas: number, noun: string): string {
  return pods === specReplicas ? '' : `, over ${countOf(pods, noun)}`;
}

/**
 * Returns the calculation of a proposal: `83 % / 60 % = 1.3833, ceil(1.3833 x 4 ready pods) = 6`; null: the metric has
 * no proposal.
 */
export function explainArithmetic(metric: JudgedMetric, snapshot: Snapshot): string | null {
  const { result } = metric;
  if (result.fallback !== undefined) return describeFallback(result.fallback);
  if (result.saturation?.replicas != null) return `${result.saturation.why} = ${result.saturation.replicas}`;
  const proposed = proposedOf(metric);
  if (proposed === null) return null;
  return isOfTotal(metric.spec) ? totalFormula(proposed, snapshot) : podFormula(proposed, snapshot);
}

function totalFormula(metric: Proposed, snapshot: Snapshot): string {
  const { spec, result, arithmetic, proposal } = metric;
  const [total, target] = [formatAmount(arithmetic.usage / 1000, spec.name), targetText(spec)];
  const { specReplicas, statusReplicas } = snapshot.target;
  const stays = keptText(metric, snapshot);
  if (spec.target.type === 'AverageValue' && stays !== null)
    return `${drainFormula(metric)}${total} / (${target} x ${countOf(statusReplicas, 'replica')}) = ${ratioText(result.ratio, metric)}, ${stays}`;
  if (spec.target.type === 'AverageValue' || specReplicas === 0)
    return `${drainFormula(metric)}ceil(${total} / ${target}) = ${proposal}`;
  const count = stays ?? ceilText(metric, 'ready pod');
  return `${total} / ${target} = ${ratioText(result.ratio, metric)}, ${count}`;
}

/** Returns the first step of the calculation for a metric with a backlog: `64 + 480 / 60 s = 72, `; otherwise empty. */
function drainFormula({ spec, sample, arithmetic }: Proposed): string {
  const drain = drainOf(spec, sample);
  if (drain === null) return '';
  const [sum, backlog] = [sumOf(sample), drain.backlog].map((milli) =>
    formatAmount(milliToNumber(milli), spec.name),
  );
  return `${sum} + ${backlog} / ${drain.time} = ${formatAmount(arithmetic.usage / 1000, spec.name)}, `;
}

function podFormula(metric: Proposed, snapshot: Snapshot): string {
  const { spec, result, arithmetic } = metric;
  const { usage, filledUsage, target } = arithmetic;
  const value = spec.target.type === 'Utilization' ? `${usage} %` : formatAmount(usage / 1000, spec.name);
  const ratio = usage / target;
  const first = `${value} / ${targetText(spec)} = ${ratioText(ratio, metric)}`;
  const stays = keptText(metric, snapshot);
  if (filledUsage === null) return `${first}, ${stays ?? ceilText(metric, 'ready pod')}`;
  const ready = countOf(result.pods.ready.length, 'ready pod');
  const again = `${first} over ${ready}, with ${filledText(ratio, result.pods)}: ${ratioText(result.ratio, metric)}`;
  return `${again}, ${stays ?? ceilText(metric, 'pod')}`;
}

function filledText(ratio: number, { missing, unready }: PodGroups): string {
  if (ratio < 1) return `${countOf(missing.length, 'missing pod')} counted at the target value`;
  if (ratio === 1) return `${countOf(missing.length, 'missing pod')} not counted`;
  const both = [
    ...(missing.length === 0 ? [] : [countOf(missing.length, 'missing pod')]),
    ...(unready.length === 0 ? [] : [countOf(unready.length, 'unready pod')]),
  ];
  return `${both.join(' and ')} counted as idle`;
}

/** Returns what keeps the count in spite of the ratio; null: nothing does. */
function keptText({ result, arithmetic }: Proposed, snapshot: Snapshot): string | null {
  const { keptBy } = arithmetic;
  if (keptBy === null) return null;
  const why =
    keptBy === 'direction'
      ? 'missing or unready pods could reverse the direction of scaling'
      : result.ratio === 1
        ? 'on target'
        : toleranceText(result, snapshot);
  return `${why}: stays at ${snapshot.target.specReplicas}`;
}

function ceilText(metric: Proposed, noun: string): string {
  const { result, arithmetic, proposal } = metric;
  return `ceil(${ratioText(result.ratio, metric)} x ${countOf(arithmetic.pods, noun)}) = ${proposal}`;
}

/** Rounds to 4 decimals, or to as many as the count needs: `ceil(0.00001 x 4 ready pods) = 1`. */
function ratioText(ratio: number | null, { arithmetic: { pods, keptBy } }: Proposed): string {
  if (ratio === null) return 'none';
  const rounded = [4, 6, 8, 10, 12].map((decimals) => Number(ratio.toFixed(decimals)));
  const shown = rounded.find((one) => keptBy !== null || Math.ceil(one * pods) === Math.ceil(ratio * pods));
  return String(shown ?? rounded[0]);
}
