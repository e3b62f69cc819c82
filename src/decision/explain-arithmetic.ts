import type { MetricSpec } from '../scaler/spec.js';
import { countOf } from '../units/count-of.js';
import { formatAmount, formatNumber } from '../units/format-amount.js';
import { milliFromNumber, milliToNumber } from '../units/quantity.js';
import { countUnlisted } from './explain-proposal.js';
import { ceilCount } from './proposals/count.js';
import { isWithinTolerance, tolerancesOf } from './proposals/tolerance.js';
import { countReadyPods, drainOf, sumOf, totalOf } from './proposals/total-metrics.js';
import type { MetricResult } from './result/decision.js';
import { judgeSample } from './samples/judge-sample.js';
import type { Sample, Snapshot } from './snapshot/snapshot.js';

export interface ExplainedMetric {
  readonly spec: MetricSpec;
  readonly sample: Sample;
  readonly result: MetricResult;
}

/**
 * Returns the calculation of a proposal: `83 % / 60 % = 1.3833, ceil(1.3833 x 4 ready pods) = 6`. Null without a
 * proposal. The formula is computed again. If its result differs from the proposal (for example, because there are
 * samples of pods that are not in the snapshot), returns only ratio and proposal.
 */
export function explainArithmetic(metric: ExplainedMetric, snapshot: Snapshot): string | null {
  const { spec, result } = metric;
  if (result.proposal === null) return null;
  if (result.saturation?.replicas != null) return `${result.saturation.why} = ${result.proposal}`;
  const isTotal = spec.type === 'Object' || spec.type === 'External';
  const text = isTotal ? explainTotal(metric, snapshot) : explainPods(metric, snapshot);
  return text ?? `a ratio of ${ratioText(result.ratio)} gives ${result.proposal}`;
}

function explainTotal({ spec, sample, result }: ExplainedMetric, snapshot: Snapshot): string | null {
  const judged = judgeSample(spec, sample);
  if (judged.form !== 'values' || spec.target.type === 'Utilization') return null;
  const total = milliToNumber(totalOf(spec, judged));
  const target = milliToNumber(spec.target.milli);
  const quotient = `${formatAmount(total, spec.name)} / ${formatAmount(target, spec.name)}`;
  const { specReplicas, statusReplicas } = snapshot.target;
  if (spec.target.type === 'AverageValue') {
    const perPod = `${formatAmount(total, spec.name)} / (${formatAmount(target, spec.name)} x ${countOf(statusReplicas, 'replica')}) = ${ratioText(result.ratio)}`;
    const stays = toleranceText(result, snapshot);
    const count =
      stays === null ? ceilText({ factor: total / target, shown: quotient, result }) : `${perPod}, ${stays}`;
    return count === null ? null : `${drainText(spec, judged)}${count}`;
  }
  const ratio = `${quotient} = ${ratioText(result.ratio)}`;
  if (specReplicas === 0) return ceilText({ factor: total / target, shown: quotient, result });
  const stays = toleranceText(result, snapshot);
  if (stays !== null) return `${ratio}, ${stays}`;
  const ready = countReadyPods(snapshot.pods);
  const count = timesText(result, ready, countOf(ready, 'ready pod'));
  return count === null ? null : `${ratio}, ${count}`;
}

/** Returns the sum of a metric with a backlog: `64 + 480 / 60 s = 72, `. */
function drainText(spec: MetricSpec, sample: Sample): string {
  const drain = drainOf(spec, sample);
  if (drain === null) return '';
  const [sum, backlog, total] = [sumOf(sample), drain.backlog, totalOf(spec, sample)].map((milli) =>
    formatAmount(milliToNumber(milli), spec.name),
  );
  return `${sum} + ${backlog} / ${drain.time} = ${total}, `;
}

function explainPods({ spec, sample, result }: ExplainedMetric, snapshot: Snapshot): string | null {
  const first = firstRatio(spec, result);
  if (first === null || result.ratio === null) return null;
  const { ready, unready, missing } = result.pods;
  const isOnePass = missing.length === 0 && (unready.length === 0 || first.ratio <= 1);
  const stays = toleranceText(result, snapshot);
  if (isOnePass) {
    const count = stays ?? timesText(result, ready.length, countOf(ready.length, 'ready pod'));
    return count === null ? null : `${first.text}, ${count}`;
  }
  const again = `${first.text} over ${countOf(ready.length, 'ready pod')}, with ${filledText(first.ratio, result)}: ${ratioText(result.ratio)}`;
  if (stays !== null) return `${again}, ${stays}`;
  const all =
    ready.length +
    (first.ratio === 1 ? 0 : missing.length) +
    (first.ratio > 1 ? unready.length : 0) +
    countUnlisted(sample, snapshot);
  const isTurned = (first.ratio - 1) * (result.ratio - 1) < 0;
  const count = isTurned ? null : timesText(result, all, countOf(all, 'pod'));
  if (count !== null) return `${again}, ${count}`;
  const { specReplicas } = snapshot.target;
  if (result.proposal !== specReplicas) return null;
  return `${again}, missing or unready pods could reverse the direction: stays at ${specReplicas}`;
}

/** Returns the ratio of the first pass, over ready pods only. `current` is their average. */
function firstRatio(
  { target, name }: MetricSpec,
  { current }: MetricResult,
): { readonly ratio: number; readonly text: string } | null {
  if (target.type === 'Utilization') {
    const { averageUtilization } = current;
    if (averageUtilization === undefined) return null;
    const ratio = averageUtilization / target.percent;
    return { ratio, text: `${averageUtilization} % / ${target.percent} % = ${ratioText(ratio)}` };
  }
  if (current.averageValue === undefined) return null;
  const ratio = Number(milliFromNumber(current.averageValue)) / Number(target.milli);
  const wanted = formatAmount(milliToNumber(target.milli), name);
  return { ratio, text: `${formatAmount(current.averageValue, name)} / ${wanted} = ${ratioText(ratio)}` };
}

/** Missing and unready pods get the value that reduces the change. */
function filledText(ratio: number, { pods }: MetricResult): string {
  if (ratio > 1) {
    const both = [
      ...(pods.missing.length === 0 ? [] : [`${pods.missing.length} missing`]),
      ...(pods.unready.length === 0 ? [] : [`${pods.unready.length} unready`]),
    ];
    return `${both.join(' and ')} counted as idle`;
  }
  return ratio < 1
    ? `${pods.missing.length} missing counted at the target value`
    : `${pods.missing.length} missing not counted`;
}

function toleranceText({ ratio, proposal }: MetricResult, snapshot: Snapshot): string | null {
  const { specReplicas } = snapshot.target;
  const tolerances = tolerancesOf(snapshot.scaler.spec);
  if (ratio === null || proposal !== specReplicas || !isWithinTolerance(ratio, tolerances)) return null;
  if (ratio === 1) return `on target: stays at ${specReplicas}`;
  const percent = formatNumber((ratio > 1 ? tolerances.up : tolerances.down) * 100);
  return `within the tolerance of ${percent} %: stays at ${specReplicas}`;
}

function timesText(result: MetricResult, pods: number, noun: string): string | null {
  if (result.ratio === null) return null;
  return ceilText({ factor: result.ratio * pods, shown: `${ratioText(result.ratio)} x ${noun}`, result });
}

function ceilText(parts: {
  readonly factor: number;
  readonly shown: string;
  readonly result: MetricResult;
}): string | null {
  const { factor, shown, result } = parts;
  return ceilCount(factor) === result.proposal ? `ceil(${shown}) = ${result.proposal}` : null;
}

function ratioText(ratio: number | null): string {
  return ratio === null ? 'none' : String(Math.round(ratio * 10_000) / 10_000);
}
