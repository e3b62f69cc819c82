import type { Answer } from '../../prometheus/answers/answer.js';
import { applyChecks, type MetricChecks } from '../../prometheus/queries/checks.js';
import { metricChecks } from '../../prometheus/queries/scaler-queries.js';
import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import type { CheckResult, ResultBuilder } from './check-result.js';
import type { SourceContext } from './context.js';
import { whyNoSeries } from './why-no-series.js';

interface GuardedMetric {
  readonly metric: MetricSpec;
  readonly scaler: Scaler;
  readonly context: SourceContext;
  readonly make: ResultBuilder;
}

export async function checkGuards(guarded: GuardedMetric): Promise<readonly CheckResult[]> {
  const checks = metricChecks(guarded.metric, guarded.scaler);
  if (checks === null) return [];
  const { guard, freshness, backlog, capacity, served } = checks;
  const none = { guard: null, freshness: null };
  const queries = [
    ...(guard === null ? [] : [{ query: guard, only: { ...none, guard } }]),
    ...(freshness === null ? [] : [{ query: freshness.query, only: { ...none, freshness } }]),
    ...(backlog === undefined ? [] : [{ query: backlog, only: { ...none, backlog } }]),
    ...(capacity === undefined ? [] : [{ query: capacity, only: { ...none, capacity } }]),
    ...(served === undefined ? [] : [{ query: served, only: { ...none, served } }]),
  ];
  const found = await Promise.all(queries.map((one) => checkGuard(one.query, one.only, guarded)));
  return found.filter((one) => one !== null);
}

/** `only` has one query. */
async function checkGuard(
  query: string,
  only: Omit<MetricChecks, 'isMissingZero'>,
  { metric, context, make }: GuardedMetric,
): Promise<CheckResult | null> {
  const answer = await context.runQuery(query);
  // The answer for the metric is usable, so only this query can fail. `isMissingZero` makes the reason a full sentence.
  const usable: Answer = { class: 'value', series: [], evaluatedAt: context.clock.now() };
  const judged = applyChecks(
    { ...only, isMissingZero: true },
    {
      answer: usable,
      guard: only.guard === null ? null : answer,
      freshness: only.freshness === null ? null : answer,
      ...(only.backlog === undefined ? {} : { backlog: answer }),
      ...(only.capacity === undefined ? {} : { capacity: answer }),
      ...(only.served === undefined ? {} : { served: answer }),
    },
  );
  const message = messageOf(judged, only);
  if (message === null) return null;
  const isEmpty = answer.class === 'missing' || (answer.class === 'value' && answer.series.length === 0);
  const why = isEmpty ? await whyNoSeries(context.runQuery, query) : null;
  const text = `${metric.type} metric ${metric.identity}: ${message}${why === null ? '' : `: ${why.message}`}`;
  const fix = why?.fix ?? `run the query in the Prometheus UI: ${query}`;
  return judged.class === 'failed' || judged.class === 'invalid'
    ? make.failed(text, fix)
    : make.warning(text, fix);
}

/** Null: the query has no fault. Without a capacity or what is served, the metric still has a value. */
function messageOf(judged: Answer, only: Omit<MetricChecks, 'isMissingZero'>): string | null {
  if (judged.class === 'failed' || judged.class === 'invalid') return judged.message;
  if (judged.class === 'partial' && only.capacity !== undefined) return judged.why;
  if (judged.class !== 'value' || only.served === undefined || judged.served !== undefined) return null;
  return 'saturation.served has no single value, so that there is no saturation step';
}
