import type { Answer } from '../../prometheus/answers/answer.js';
import { applyChecks } from '../../prometheus/queries/checks.js';
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
      if (isEmpty(answer) ? name === 'errors' : answer.class === 'value') return null;
      const { why, fix } = await explain(answer, query, guarded);
      const fault = why ?? ('message' in answer ? answer.message : 'the answer is not complete');
      return make.warning(
        `${nameMetric(metric)}: capacity.auto.${name}: ${fault}, so the capacity of a pod is not measured`,
        fix,
      );
    }),
  );
  return found.filter((one) => one !== null);
}

async function checkOwnGuards(guarded: GuardedMetric): Promise<readonly CheckResult[]> {
  const { metric, scaler, context, make } = guarded;
  const checks = metricChecks(metric, scaler);
  const found = await Promise.all(
    Object.entries(checks?.queries ?? {}).map(async ([name, query]): Promise<CheckResult | null> => {
      const answer = await context.runQuery(query);
      // The answer is combined with a usable answer of the metric, so that only the additional query can fail.
      // `isMissingZero` turns a fault into `invalid`, which is reported as failed.
      const usable: Answer = { class: 'value', series: [], evaluatedAt: context.clock.now() };
      const judged = applyChecks({ ...checks, isMissingZero: true }, usable, { [name]: answer });
      const message = messageOf(judged, name);
      if (message === null) return null;
      const { why, fix } = await explain(answer, query, guarded);
      const isFailed = judged.class === 'failed' || judged.class === 'invalid';
      const text = `${nameMetric(metric)}: ${message}${why === null ? '' : `: ${why}`}`;
      return make[isFailed ? 'failed' : 'warning'](text, fix);
    }),
  );
  return found.filter((one) => one !== null);
}

function isEmpty(answer: Answer): boolean {
  return answer.class === 'missing' || (answer.class === 'value' && answer.series.length === 0);
}

/** Returns the fix for a query, and why it has no series; null: it has series, or the reason is not known. */
async function explain(
  answer: Answer,
  query: string,
  guarded: GuardedMetric,
): Promise<{ readonly why: string | null; readonly fix: string }> {
  const why = isEmpty(answer) ? await whyNoSeries(query, guarded) : null;
  return { why: why?.message ?? null, fix: why?.fix ?? fixForQuery(answer, query) };
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
