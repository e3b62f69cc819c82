import type { Answer } from '../../prometheus/answers/answer.js';
import { applyChecks, type MetricChecks } from '../../prometheus/queries/checks.js';
import { metricChecks, withVariables } from '../../prometheus/queries/compile-queries.js';
import { autoCapacityOf, type MetricSpec, type Scaler } from '../../scaler/spec.js';
import { nameMetric } from '../../decision/conditions.js';
import type { CheckResult, ResultBuilder } from './check-result.js';
import type { SourceContext } from './context.js';
import { fixForQuery } from './query-fixes.js';
import { whyNoSeries } from './why-no-series.js';

interface GuardedMetric {
  readonly metric: MetricSpec;
  readonly scaler: Scaler;
  readonly context: SourceContext;
  readonly make: ResultBuilder;
}

/**
 * Checks the additional queries of a metric: guard, freshness, backlog, saturation and the queries of `capacity.auto`.
 */
export async function checkGuards(guarded: GuardedMetric): Promise<readonly CheckResult[]> {
  return [...(await checkAutoCapacity(guarded)), ...(await checkOwnGuards(guarded))];
}

/** Checks the queries of `capacity.auto`. The query `errors` may have no series, because there may be no errors. */
async function checkAutoCapacity(guarded: GuardedMetric): Promise<readonly CheckResult[]> {
  const { metric, scaler, context, make } = guarded;
  const auto = autoCapacityOf(metric);
  if (auto === undefined) return [];
  const asked = [
    { name: 'served', text: auto.servedQuery },
    ...(auto.errorsQuery === undefined ? [] : [{ name: 'errors', text: auto.errorsQuery }]),
  ];
  const found = await Promise.all(
    asked.map(async ({ name, text }): Promise<CheckResult | null> => {
      const query = withVariables(text, metric, scaler);
      const answer = await context.runQuery(query);
      const isEmpty = answer.class === 'missing' || (answer.class === 'value' && answer.series.length === 0);
      if (isEmpty ? name === 'errors' : answer.class === 'value') return null;
      const why = isEmpty ? await whyNoSeries(context.runQuery, query, guarded) : null;
      const fault = why?.message ?? ('message' in answer ? answer.message : 'the answer is not complete');
      return make.warning(
        `${nameMetric(metric)}: capacity.auto.${name}: ${fault}, so the capacity of a pod is not measured`,
        why?.fix ?? fixForQuery(answer, query),
      );
    }),
  );
  return found.filter((one) => one !== null);
}

async function checkOwnGuards(guarded: GuardedMetric): Promise<readonly CheckResult[]> {
  const checks = metricChecks(guarded.metric, guarded.scaler);
  if (checks === null) return [];
  const found = await Promise.all(
    Object.entries(checks.queries).map(([name, query]) => checkGuard({ name, query, checks }, guarded)),
  );
  return found.filter((one) => one !== null);
}

/** Checks one of the additional queries of a metric. */
async function checkGuard(
  { name, query, checks }: { readonly name: string; readonly query: string; readonly checks: MetricChecks },
  guarded: GuardedMetric,
): Promise<CheckResult | null> {
  const { metric, context, make } = guarded;
  const answer = await context.runQuery(query);
  // The answer is combined with a usable answer of the metric, so that only the additional query can fail.
  // `isMissingZero` turns a fault into `invalid`, which is reported as failed.
  const usable: Answer = { class: 'value', series: [], evaluatedAt: context.clock.now() };
  const judged = applyChecks({ ...checks, isMissingZero: true }, usable, { [name]: answer });
  const message = messageOf(judged, name);
  if (message === null) return null;
  const isEmpty = answer.class === 'missing' || (answer.class === 'value' && answer.series.length === 0);
  const why = isEmpty ? await whyNoSeries(context.runQuery, query, guarded) : null;
  const text = `${nameMetric(metric)}: ${message}${why === null ? '' : `: ${why.message}`}`;
  const isFailed = judged.class === 'failed' || judged.class === 'invalid';
  return make[isFailed ? 'failed' : 'warning'](text, why?.fix ?? fixForQuery(answer, query));
}

/**
 * Returns the fault of the query; null: none. A missing capacity or served load is a fault, although a value remains.
 */
function messageOf(judged: Answer, name: string): string | null {
  if (judged.class === 'failed' || judged.class === 'invalid') return judged.message;
  if (judged.class === 'partial' && name === 'capacity') return judged.why;
  if (judged.class !== 'value' || name !== 'served' || judged.served !== undefined) return null;
  return 'saturation.served does not return exactly one value, so saturation adds no replicas';
}
