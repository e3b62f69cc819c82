import { isOfTotal, type MetricSpec } from '../scaler/spec.js';
import { formatAmount } from '../units/format.js';
import { milliToNumber } from '../units/quantity.js';
import type { Milli } from '../units/quantity.js';
import { addSeconds, formatInstant, type Instant } from '../units/time.js';
import type { Decision } from './result/decision.js';
import { judgeSample } from './snapshot/judge-sample.js';
import { podStartSeconds } from './proposals/context.js';
import type { JudgedMetric } from './proposals/propose.js';
import { inEffect, totalOf } from './proposals/total-metrics.js';
import { sinceChange } from './snapshot/snapshot.js';
import type { Sample, Snapshot } from './snapshot/snapshot.js';

export interface Activation {
  /** Whether at least one Object or External metric is above its `activation.above`. */
  readonly isActive: boolean;
  /**
   * Since when every metric has had a full value at or below its threshold. Null: a metric is above its threshold, or
   * has no full value.
   */
  readonly inactiveSince: Instant | null;
  /** The cause as part of a sentence: `queue is 3, not above its activation threshold of 5`. */
  readonly why: string;
}

/**
 * Returns the activation state of a document with `minReplicas: 0` and a metric with `activation.above`; null: the
 * document has no activation. Source: algorithm.md, step 5.
 */
export function readActivation(snapshot: Snapshot): Activation | null {
  const { spec } = snapshot.scaler;
  if (spec.minReplicas > 0) return null;
  const podStart = podStartSeconds(snapshot);
  const judged = spec.metrics.flatMap((metric, index) => {
    const sample = snapshot.samples[index];
    return sample === undefined ? [] : judge(inEffect(metric, sample, podStart), sample);
  });
  if (judged.length === 0) return null;
  const active = judged.find(({ state }) => state === 'above');
  if (active !== undefined) return { isActive: true, inactiveSince: null, why: active.text };
  const unknown = judged.find(({ state }) => state === 'unknown');
  if (unknown !== undefined) return { isActive: false, inactiveSince: null, why: unknown.text };
  const inactiveSince = snapshot.state.inactiveSince ?? snapshot.now;
  const why = judged.map(({ text }) => text).join(', ');
  return { isActive: false, inactiveSince, why };
}

/**
 * Returns the metrics that may propose a count at 0 replicas. Metrics of pods have no value at 0 replicas, and a
 * missing value would prevent the scale-up.
 */
export function withoutPodMetrics(metrics: readonly JudgedMetric[]): readonly JudgedMetric[] {
  return metrics.filter(({ spec }) => isOfTotal(spec));
}

export interface Activated {
  readonly replicas: number;
  /** The text about activation in the reason of the decision; null: the reason does not mention activation. */
  readonly note: string | null;
  /** Set only while `cooldownSeconds` keeps the last replica. */
  readonly cooldown?: Decision['cooldown'];
}

/** Returns the count after activation. */
export function activate(
  picked: number,
  activation: Activation,
  { isComplete, snapshot }: { readonly isComplete: boolean; readonly snapshot: Snapshot },
): Activated {
  const { isActive, inactiveSince, why } = activation;
  if (snapshot.target.specReplicas === 0) {
    if (isActive) return { replicas: Math.max(1, picked), note: `active: ${why}` };
    return { replicas: 0, note: `not active: ${why}` };
  }
  if (isActive || inactiveSince === null) {
    const note = picked > 0 ? null : isActive ? `active: ${why}` : `at least 1 while ${why}`;
    return { replicas: Math.max(1, picked), note };
  }
  const { cooldownSeconds } = snapshot.scaler.spec;
  const isNew = inactiveSince === snapshot.now;
  const since = isNew
    ? ''
    : ` since ${formatInstant(inactiveSince)}${sinceChange(inactiveSince, snapshot.state)}`;
  const inactive = `not active${since} (${why})`;
  const until = cooldownUntil(inactiveSince, snapshot);
  const isOver = until <= snapshot.now;
  if (isOver && isComplete) return { replicas: 0, note: inactive };
  const kept = isOver
    ? '; at least 1 until every metric has a complete value'
    : `; at least 1 until ${formatInstant(until)} (cooldownSeconds is ${cooldownSeconds})`;
  const replicas = Math.max(1, picked);
  const note = `${inactive}${kept}`;
  if (isOver || replicas > 1) return { replicas, note };
  return { replicas, note, cooldown: { cause: `cooldownSeconds keeps the last replica (${why})`, until } };
}

/** Returns the end of `cooldownSeconds`: activation may remove the last replica from then on. */
export function cooldownUntil(inactiveSince: Instant, { scaler }: Snapshot): Instant {
  return addSeconds(inactiveSince, scaler.spec.cooldownSeconds);
}

interface Judged {
  readonly state: 'above' | 'below' | 'unknown';
  readonly text: string;
}

function judge(metric: MetricSpec, given: Sample): readonly Judged[] {
  if (!isOfTotal(metric) || metric.activation === null) return [];
  const { above } = metric.activation;
  const sample = judgeSample(metric, given);
  if (sample.form !== 'values') return [{ state: 'unknown', text: `${metric.identity} has no value` }];
  const total = totalOf(metric, sample);
  const write = (milli: Milli): string => formatAmount(milliToNumber(milli), metric.name);
  const than = `${metric.identity} is ${sample === given ? '' : 'read as '}${write(total)}`;
  if (total > above)
    return [{ state: 'above', text: `${than}, above its activation threshold of ${write(above)}` }];
  const text = `${than}, not above its activation threshold of ${write(above)}`;
  // A partial sum below the threshold does not prove that the full sum is below it.
  return [{ state: sample.partial === null ? 'below' : 'unknown', text }];
}
