import { countOf } from '../units/count-of.js';
import { formatInstant, secondsBetween } from '../units/time.js';
import type { Instant } from '../units/time.js';
import type { MetricSpec } from '../scaler/spec.js';
import { type ExplainedMetric, explainArithmetic } from './explain-arithmetic.js';
import { podStartSeconds } from './proposals/context.js';
import { describeFallback, failingKey } from './proposals/fallback.js';
import { inEffect } from './proposals/total-metrics.js';
import type { Decision } from './result/decision.js';
import { judgeSample } from './samples/judge-sample.js';
import type { ContainersSample, PodsSample, Sample, Snapshot } from './snapshot/snapshot.js';

interface MetricExplanation {
  /** Starts with the class of the answer: value, partial, missing, nan, invalid or failed. */
  readonly answer: string;
  /** Null without a proposal. */
  readonly arithmetic: string | null;
}

const NO_SAMPLE: Sample = {
  form: 'error',
  kind: 'failed',
  error: 'the snapshot has no sample for this metric',
};

/** Returns the metrics of a decision, each with its sample. */
export function listExplained(
  snapshot: Snapshot,
  { metrics }: Pick<Decision, 'metrics'>,
): readonly ExplainedMetric[] {
  const { scaler, samples } = snapshot;
  return scaler.spec.metrics.flatMap((spec, index) => {
    const result = metrics[index];
    const sample = samples[index] ?? NO_SAMPLE;
    const measured = inEffect(spec, sample, podStartSeconds(snapshot));
    return result === undefined ? [] : [{ spec: measured, sample, result }];
  });
}

/** Returns what a data source answered to the query of a metric, and how the proposal follows from it. */
export function explainMetric(metric: ExplainedMetric, snapshot: Snapshot): MetricExplanation {
  const { fallback } = metric.result;
  return {
    answer: answerText(metric, snapshot),
    arithmetic: fallback === undefined ? explainArithmetic(metric, snapshot) : describeFallback(fallback),
  };
}

function answerText({ spec, sample, result }: ExplainedMetric, snapshot: Snapshot): string {
  const judged = judgeSample(spec, sample);
  if (judged.form === 'error') return `${judged.kind}: ${judged.error}${sinceText(spec, snapshot)}`;
  if (sample.form === 'error' || judged !== sample)
    return `${sample.form === 'error' ? sample.error : 'no usable series'}: read as 0, as the document specifies`;
  const kind = judged.partial === null ? 'value' : `partial (${judged.partial}: can scale up but not down)`;
  const facts = [kind, ageText(judged.at, snapshot.now), ...extentOf(judged)];
  return result.error === null ? facts.join(', ') : `${facts.join(', ')}; not usable: ${result.error}`;
}

function ageText(at: Instant, now: Instant): string {
  return `${Math.max(0, Math.floor(secondsBetween(at, now)))} s old`;
}

function extentOf(sample: Exclude<Sample, { form: 'error' }>): readonly string[] {
  if (sample.form === 'values') return [`${sample.values.length} series`];
  const window = sample.windowSeconds === 0 ? [] : [`over ${sample.windowSeconds} s${windowOrigin(sample)}`];
  return [...window, `of ${countOf(sample.pods.length, 'pod')}`];
}

/** Returns where the window comes from; empty: the query or the service config sets it. */
function windowOrigin(sample: ContainersSample | PodsSample): string {
  if (sample.form === 'pods' || sample.learnedIntervalSeconds === undefined) return '';
  const { learnedIntervalSeconds: interval } = sample;
  return interval === null
    ? ' (the scrape interval is not known yet)'
    : ` (4 scrapes, at most ${interval} s apart)`;
}

function sinceText(spec: MetricSpec, { state }: Snapshot): string {
  const since = state.failingSince.get(failingKey(spec));
  return since === undefined ? '' : ` (since ${formatInstant(since)})`;
}
