import type { MetricSpec, MetricTarget } from '../scaler/spec.js';
import { countOf } from '../units/count-of.js';
import { formatAmount, formatNumber, isInBytes } from '../units/format-amount.js';
import { milliFromNumber, parseQuantity } from '../units/quantity.js';
import type { PodGroups } from './result/decision.js';
import { MAX_REPLICAS } from '../units/replicas.js';
import { describeFallback } from './proposals/fallback.js';
import type { JudgedMetric } from './proposals/propose.js';
import { isWithinTolerance, tolerancesOf } from './proposals/tolerance.js';
import { countReadyPods, drainOf, sumOf, totalOf } from './proposals/total-metrics.js';
import type { Sample, Snapshot } from './snapshot/snapshot.js';

/**
 * Returns value and target of a metric: `cpu is at 83 % of the requests, target 60 %` if the proposal is `ceil(83 / 60
 * x replicas)`. Otherwise adds what a reader needs to recompute the proposal: the number of pods that count, the pods
 * with assumed usage, or the tolerance.
 */
export function explainProposal(metric: JudgedMetric, snapshot: Snapshot): string {
  const { spec, result } = metric;
  if (result.fallback !== undefined) return `${spec.identity} has ${describeFallback(result.fallback)}`;
  const { saturation } = result;
  if (saturation !== undefined && saturation.replicas !== null)
    return `${spec.identity} is at ${saturation.why} = ${saturation.replicas}`;
  const clauses = isTotal(spec) ? explainTotal(metric, snapshot) : explainPods(metric, snapshot);
  return `${spec.identity} is at ${describeValue(metric, snapshot)}${clauses}`;
}

/**
 * Returns value and target of a metric with a value. A total that is compared per pod is printed in both forms, because
 * the average is the current value and the proposal follows from the total: `43.334 per pod, 130 in total, target 30
 * per pod`.
 */
export function describeValue(metric: JudgedMetric, snapshot: Snapshot): string {
  const { spec, result, sample } = metric;
  const { target } = spec;
  const { averageUtilization = 0, averageValue = 0 } = result.current;
  if (target.type === 'Utilization')
    return `${averageUtilization} % of the requests, target ${target.percent} %`;
  const write = writerOf(metric, snapshot);
  const wanted = write(Number(target.milli));
  if (!isTotal(spec)) return `${write(Number(milliFromNumber(averageValue)))} per pod, target ${wanted}`;
  const total = write(Number(totalOf(spec, sample)));
  if (target.type === 'Value') return `${total}, target ${wanted}`;
  const average =
    snapshot.target.statusReplicas === 0 ? '' : `${formatAmount(averageValue, spec.name)} per pod, `;
  return `${average}${total} in total${drainText(metric, write)}, target ${wanted} per pod`;
}

/** Returns the parts of a total: ` (64 + a backlog of 480 / 60 s)`. */
function drainText({ spec, sample }: JudgedMetric, write: (milli: number) => string): string {
  const drain = drainOf(spec, sample);
  if (drain === null) return '';
  return ` (${write(Number(sumOf(sample)))} + a backlog of ${write(Number(drain.backlog))} / ${drain.time})`;
}

function isTotal({ type }: MetricSpec): boolean {
  return type === 'Object' || type === 'External';
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

/** Explains a proposal that differs from the result of the printed numbers. */
function explainRest(reading: Reading, proposal: number): string {
  const count = read(reading);
  if (count === proposal) return '';
  if (count > MAX_REPLICAS && proposal === MAX_REPLICAS) return `, a count is at most ${MAX_REPLICAS}`;
  return `, which is ${proposal} in binary floating point, as with the HPA`;
}

/** Returns the numbers of the pass that determined the proposal. */
function readingOf(metric: JudgedMetric, snapshot: Snapshot): Reading {
  const { spec, result, sample } = metric;
  const { specReplicas } = snapshot.target;
  if (spec.target.type !== 'Utilization' && isTotal(spec)) {
    const isOnePod = spec.target.type === 'AverageValue' || specReplicas === 0;
    const pods = isOnePod ? 1 : countReadyPods(snapshot.pods);
    return { usage: Number(totalOf(spec, sample)), target: Number(spec.target.milli), pods };
  }
  const first = firstReading(metric, result.pods.ready.length);
  if (isOnePass(metric)) return first;
  const usage = Math.round((result.ratio ?? 0) * first.target);
  return { ...first, usage, pods: countFilled(metric, snapshot) };
}

const MOST_DECIMALS = 12;

/**
 * Returns a function that formats milli-units. Memory is rounded, but not so far that the printed numbers would give
 * another count.
 */
function writerOf(metric: JudgedMetric, snapshot: Snapshot): (milli: number) => string {
  const { name } = metric.spec;
  if (!isInBytes(name)) return (milli) => formatNumber(milli / 1000);
  const reading = readingOf(metric, snapshot);
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

function explainTotal(metric: JudgedMetric, snapshot: Snapshot): string {
  const { specReplicas, statusReplicas } = snapshot.target;
  const reading = readingOf(metric, snapshot);
  const rest = explainRest(reading, proposalOf(metric));
  if (metric.spec.target.type === 'AverageValue') {
    const there = statusReplicas === specReplicas ? '' : ` over ${countOf(statusReplicas, 'replica')}`;
    return explainTolerance(metric, snapshot, { reading, there }) ?? rest;
  }
  if (specReplicas === 0) return `, over 1 pod at 0 replicas${rest}`;
  const whole = { ...reading, pods: specReplicas };
  const over = overPods(reading.pods, { specReplicas, noun: 'ready pod' });
  return explainTolerance(metric, snapshot, { reading: whole, there: '' }) ?? `${over}${rest}`;
}

function explainPods(metric: JudgedMetric, snapshot: Snapshot): string {
  const { spec, result } = metric;
  const { specReplicas } = snapshot.target;
  const { unready } = result.pods;
  const first = firstReading(metric, specReplicas);
  const reading = readingOf(metric, snapshot);
  if (isOnePass(metric)) {
    const aside = unready.length === 0 ? '' : `, ${countOf(unready.length, 'unready pod')} not counted`;
    const kept = explainTolerance(metric, snapshot, { reading: first, there: '' });
    if (kept !== null) return `${aside}${kept}`;
    const over = overPods(reading.pods, { specReplicas, noun: 'ready pod' });
    return `${aside}${over}${explainRest(reading, proposalOf(metric))}`;
  }
  const { usage } = reading;
  const text = spec.target.type === 'Utilization' ? `${usage} %` : writerOf(metric, snapshot)(usage);
  const aside = filledText(spec.target, result.pods, { first, usage, text });
  return `${aside}${secondText(metric, snapshot, { ...first, usage })}`;
}

/** Returns whether no pod gets an assumed usage. */
function isOnePass(metric: JudgedMetric): boolean {
  const { unready, missing } = metric.result.pods;
  const { usage, target } = firstReading(metric, 1);
  return missing.length === 0 && (unready.length === 0 || usage <= target);
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
function countFilled({ result, sample, spec }: JudgedMetric, snapshot: Snapshot): number {
  const { ready, unready, missing } = result.pods;
  const { usage, target } = firstReading({ result, sample, spec }, 1);
  return (
    ready.length +
    (usage === target ? 0 : missing.length) +
    (usage > target ? unready.length : 0) +
    countUnlisted(sample, snapshot)
  );
}

/** Counts samples of pods that are not in the snapshot. As in the HPA, the second pass includes them. */
export function countUnlisted(sample: Sample, { pods }: Snapshot): number {
  if (sample.form === 'error' || sample.form === 'values') return 0;
  const listed = new Set(pods.map(({ name }) => name));
  return sample.pods.filter((name) => !listed.has(name)).length;
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
