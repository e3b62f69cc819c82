import type { Answer } from '../../../prometheus/answers/answer.js';
import { applyChecks, type MetricChecks } from '../../../prometheus/queries/checks.js';
import { metricChecks } from '../../../prometheus/queries/scaler-queries.js';
import type { MetricSpec, Scaler } from '../../../scaler/spec.js';
import type { CheckResult, ResultBuilder } from '../report/check-result.js';
import type { SourceContext } from '../context/context.js';
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
  const { guard, freshness } = checks;
  const queries = [
    ...(guard === null ? [] : [{ query: guard, only: { guard, freshness: null } }]),
    ...(freshness === null ? [] : [{ query: freshness.query, only: { guard: null, freshness } }]),
  ];
  const found = await Promise.all(queries.map((one) => checkGuard(one.query, one.only, guarded)));
  return found.filter((one) => one !== null);
}

async function checkGuard(
  query: string,
  only: Pick<MetricChecks, 'guard' | 'freshness'>,
  { metric, context, make }: GuardedMetric,
): Promise<CheckResult | null> {
  const answer = await context.runQuery(query);
  // The answer for the metric is usable, so only the guard can fail. `isMissingZero` makes the reason a full sentence.
  const usable: Answer = { class: 'value', series: [], evaluatedAt: context.clock.now() };
  const judged = applyChecks(
    { ...only, isMissingZero: true },
    { answer: usable, guard: only.guard === null ? null : answer, freshness: answer },
  );
  if (judged.class !== 'failed' && judged.class !== 'invalid') return null;
  const isEmpty = answer.class === 'missing' || (answer.class === 'value' && answer.series.length === 0);
  const why = isEmpty ? await whyNoSeries(context.runQuery, query) : null;
  return make.failed(
    `${metric.type} metric ${metric.identity}: ${judged.message}${why === null ? '' : `: ${why.message}`}`,
    why?.fix ?? `run the query in the Prometheus UI: ${query}`,
  );
}
