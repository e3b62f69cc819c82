import type { Answer } from '../../../prometheus/answer.js';
import { applyChecks, type MetricChecks } from '../../../prometheus/metric-checks.js';
import { metricChecks } from '../../../prometheus/scaler-queries.js';
import type { MetricSpec, Scaler } from '../../../scaler/spec.js';
import type { Finding, FindingMaker } from '../finding.js';
import type { SourceInquiry } from '../inquiry.js';
import { whyNoSeries } from './why-no-series.js';

/** A metric that has a guard or a freshness, and how it is asked. */
export interface Guarded {
  readonly metric: MetricSpec;
  readonly scaler: Scaler;
  readonly inquiry: SourceInquiry;
  readonly make: FindingMaker;
}

/** What is wrong with the guard and the freshness of a metric, each by itself; nothing where they hold or there are none. */
export async function judgeGuards(guarded: Guarded): Promise<readonly Finding[]> {
  const checks = metricChecks(guarded.metric, guarded.scaler);
  if (checks === null) return [];
  const { guard, freshness } = checks;
  const asked = [
    ...(guard === null ? [] : [{ query: guard, only: { guard, freshness: null } }]),
    ...(freshness === null ? [] : [{ query: freshness.query, only: { guard: null, freshness } }]),
  ];
  const found = await Promise.all(asked.map((one) => judgeOne(one.query, one.only, guarded)));
  return found.filter((one) => one !== null);
}

async function judgeOne(
  query: string,
  only: Pick<MetricChecks, 'guard' | 'freshness'>,
  { metric, inquiry, make }: Guarded,
): Promise<Finding | null> {
  const answer = await inquiry.ask(query);
  // As if the metric itself were well; `isMissingZero` gives the reason as a sentence.
  const well: Answer = { class: 'value', series: [], evaluatedAt: inquiry.clock.now() };
  const judged = applyChecks(
    { ...only, isMissingZero: true },
    { answer: well, guard: only.guard === null ? null : answer, freshness: answer },
  );
  if (judged.class !== 'failed' && judged.class !== 'invalid') return null;
  const isEmpty = answer.class === 'missing' || (answer.class === 'value' && answer.series.length === 0);
  const why = isEmpty ? await whyNoSeries(inquiry.ask, query) : null;
  return make.failed(
    `${metric.type} metric ${metric.identity}: ${judged.message}${why === null ? '' : `: ${why.message}`}`,
    why?.mend ?? `try it on the Prometheus page: ${query}`,
  );
}
