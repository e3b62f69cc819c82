import { ceilingOf } from '../../decision/limits/ceiling.js';
import { isReadAsZero, seriesCountError } from '../../decision/snapshot/judge-sample.js';
import { EMPTY_STATE, type ErrorSample, type Pod, type Sample } from '../../decision/snapshot/snapshot.js';
import type { Answer, AnswerWithSeries } from '../../prometheus/answers/answer.js';
import { labelOf, selectSeries } from '../../prometheus/answers/columns.js';
import { describeLabels, findQueryDuplicates } from '../../prometheus/queries/duplicates.js';
import { ceilingQuery, metricQueryText } from '../../prometheus/queries/compile-queries.js';
import { analyzeQuery } from '../../promql/analyze.js';
import { excerpt } from '../../promql/types.js';
import { toCeiling, toSample } from '../../prometheus/samples.js';
import { checkPatterns } from '../../scaler/rules/query-result-rules.js';
import { isOfResource, type MetricSpec, type Scaler } from '../../scaler/spec.js';
import {
  type CheckResult,
  type Checked,
  type ResultBuilder,
  labelNames,
  labelValues,
} from './check-result.js';
import type { SourceContext } from './context.js';
import {
  describeNames,
  differingLabels,
  fixForCopies,
  fixForInvalid,
  fixForQuery,
  fixForSelector,
  fixForSeveral,
} from './query-fixes.js';
import { checkGuards } from './query-guards.js';
import { readPods, replicasOf, type ScalerFacts } from './scaler-facts.js';
import { hasNoReplicas, isExposedByOwnPods, isTargetMissing, whyNoPods } from './wake-up.js';
import { type NoSeriesReason, whyNoSeries } from './why-no-series.js';
import { describeFailure } from '../../units/failure.js';
import { countOf, listSome } from '../../units/format.js';
import { nameMetric } from '../../decision/conditions.js';

/** If an External metric has more series than this, the check recommends aggregating them in the query. */
const MANY_SERIES = 2000;

interface QueriedMetric {
  readonly metric: MetricSpec;
  readonly scaler: Scaler;
  readonly answer: Answer;
  readonly facts: ScalerFacts;
  readonly context: SourceContext;
  /** The query as it is sent; null: the data source has no query for the resource. */
  readonly query: string | null;
  readonly pods: readonly Pod[] | null;
  readonly make: ResultBuilder;
}

/** Checks that each query of a metric, including additional queries, returns what the type of the metric requires. */
export async function checkQuery(facts: Checked<ScalerFacts>): Promise<readonly CheckResult[]> {
  const { scaler, cluster, answers, sources, make } = facts;
  const pods = readPods(cluster)?.map(({ pod }) => pod) ?? null;
  const results = await Promise.all(
    scaler.spec.metrics.map(async (metric, index): Promise<readonly CheckResult[]> => {
      const answer = answers[index];
      const context = sources.get(metric.source);
      if (answer === undefined || context === undefined)
        return [make.skipped(`data source ${metric.source} does not answer`)];
      const query = metricQueryText(metric, scaler, context.source);
      const queried = { metric, scaler, answer, facts, context, query, pods, make };
      const ofGuards = await checkGuards(queried);
      const copies = await checkCopies(queried);
      // After a failed additional query, `answer` contains only its failure, so the query of the metric is sent alone.
      const isAlone = ofGuards.length > 0 && query !== null;
      const own = isAlone ? { ...queried, answer: await context.runQuery(query) } : queried;
      return [await checkMetric(own), ...(await checkConstants(own)), ...copies, ...ofGuards];
    }),
  );
  const found = [...results.flat(), ...(await checkCeiling(facts))].filter(
    ({ status, message }) => status !== 'ok' || message !== '',
  );
  return found.length === 0 ? [make.ok('')] : found;
}

/**
 * Checks that `maxReplicasFrom` has a value that is not below the running replicas. A lower value is usually a mistake:
 * the query must include the running replicas.
 */
async function checkCeiling(facts: Checked<ScalerFacts>): Promise<readonly CheckResult[]> {
  const { scaler, sources, make } = facts;
  const { maxReplicasFrom } = scaler.spec;
  const context = maxReplicasFrom === null ? undefined : sources.get(maxReplicasFrom.source);
  if (maxReplicasFrom === null || context === undefined) return [];
  const query = ceilingQuery(maxReplicasFrom, scaler);
  const answer = await context.runQuery(query);
  const fix = fixForQuery(answer, query);
  const sample = toCeiling(answer, { source: maxReplicasFrom.source, now: context.clock.now() });
  const ceiling = ceilingOf({ scaler, maxReplicasFrom: sample, state: EMPTY_STATE });
  if (ceiling === null) {
    const why = sample.form === 'error' ? describeFailure(sample.failure) : (sample.partial ?? 'no value');
    return [
      make.warning(
        `maxReplicasFrom: ${why}: the last value of the query applies; without a last value, only maxReplicas applies`,
        fix,
      ),
    ];
  }
  const current = replicasOf(facts) ?? 0;
  if (ceiling.replicas >= current) return [];
  const message = `maxReplicasFrom is ${ceiling.replicas}, below the current ${countOf(current, 'replica')}, so the scaler does not scale up`;
  return [
    make.warning(
      message,
      `the query must return the replicas that are possible in total, including the running ones, not the free capacity; ${fix}`,
    ),
  ];
}

function checkMetric(queried: QueriedMetric): Promise<CheckResult> | CheckResult {
  const { metric, answer, make } = queried;
  const who = nameMetric(metric);
  const noPods = whyNoPods(metric, queried.facts);
  switch (answer.class) {
    case 'failed':
      return make.failed(`${who}: ${answer.message}`, fixForQuery(answer, queried.query ?? ''));
    case 'invalid':
      return make.failed(`${who}: ${answer.message}`, tryIt(queried));
    case 'missing':
    case 'value':
    case 'partial':
      if (noPods !== null) return make.skipped(`${who}: ${noPods}, so no pod has a value`);
      return answer.class === 'missing' || answer.series.length === 0
        ? noSeries(queried)
        : judgeSeries(queried, answer);
    default:
      return answer satisfies never;
  }
}

/** Checks that the query of a document does not add up copies of the same series. */
async function checkCopies({ metric, context, query, make }: QueriedMetric): Promise<readonly CheckResult[]> {
  if (isOfResource(metric) || query === null) return [];
  const found = await findQueryDuplicates(context.runQuery, query, { asWhole: metric.type === 'External' });
  if (found === null) return [];
  return [
    make.failed(
      `${nameMetric(metric)}: each series of the query exists ${found.times} times, with different values of ${describeLabels(found)}, and is counted ${found.times} times`,
      `${fixForCopies(found)}; the current query: ${query}`,
    ),
  ];
}

async function noSeries(queried: QueriedMetric): Promise<CheckResult> {
  const { metric, scaler, query, make } = queried;
  const who = nameMetric(metric);
  if (isOfResource(metric))
    return make.failed(`${who} has no series`, 'see the result of the check `resource-series`');
  const isMissing = isTargetMissing(queried.facts);
  if (await isExpected(queried))
    return isMissing
      ? make.skipped(`${who}: only pods of the target, which does not exist, exposed the metric`)
      : make.ok('');
  const isZero = isReadAsZero(metric, 'missing');
  // A common cause: with `=`, a regular expression is compared as a plain string and matches no series.
  const [pattern] = checkPatterns({ query: metric.query, path: ['query'] });
  if (pattern !== undefined) {
    const [, message = '', fix = ''] = /^query: (.*): (write .*)$/.exec(pattern.message) ?? [];
    return isZero
      ? make.warning(`${who} ${READ_AS_ZERO}: ${message}`, fix)
      : make.failed(`${who} has no series: ${message}`, fix);
  }
  const why = query === null ? null : await whyNoSeries(query, queried);
  if (isZero) return judgeReplaced(make, `${who} ${READ_AS_ZERO}`, why);
  const fix = why?.fix ?? tryIt(queried);
  return make.failed(
    `${who} has no series${why === null ? '' : `: ${why.message}`}`,
    hasNoReplicas(queried.facts) && scaler.spec.minReplicas === 0 ? `${fix}; ${START_AGAIN}` : fix,
  );
}

const START_AGAIN =
  'the workload has 0 replicas: if only its own pods expose the metric, set spec.minReplicas: 1';
const READ_AS_ZERO =
  'has no series, so its value is 0 (onMissing: zero), which can cause a scale-down to the minimum';

/**
 * Returns whether the series are missing because the target has no replicas. The check `wake-up` or `target` reports
 * that.
 */
async function isExpected({ metric, scaler, context, facts }: QueriedMetric): Promise<boolean> {
  if (!isTargetMissing(facts) && !hasNoReplicas(facts)) return false;
  return isExposedByOwnPods(metric, { scaler, context, isAtZero: true });
}

/**
 * Checks the operands that a constant such as `or vector(0)` replaces if they have no series: a mistake in such an
 * operand looks like no load.
 */
async function checkConstants(queried: QueriedMetric): Promise<readonly CheckResult[]> {
  const { metric, answer, facts, context, query, make } = queried;
  if (isOfResource(metric) || query === null || whyNoPods(metric, facts) !== null) return [];
  const replaced = hasValue(answer) ? (analyzeQuery(query)?.filler?.replaced ?? []) : [];
  if (replaced.length === 0 || (await isExpected(queried))) return [];
  return Promise.all(
    replaced.map(async (span) => {
      const part = query.slice(span.from, span.to);
      if (hasValue(await context.runQuery(part))) return make.ok('');
      const why = await whyNoSeries(part, queried);
      const says = `${nameMetric(metric)}: ${excerpt(query, span)} has no series, so a constant in the query replaces it`;
      return judgeReplaced(make, says, why);
    }),
  );
}

function hasValue(answer: Answer): boolean {
  const isAnswered = answer.class === 'value' || answer.class === 'partial';
  return isAnswered && answer.series.some(({ value }) => !Number.isNaN(value));
}

/**
 * Judges missing series that are replaced by a value. `says`: the start of the message, which describes the
 * replacement.
 */
function judgeReplaced(make: ResultBuilder, says: string, why: NoSeriesReason | null): CheckResult {
  switch (why?.cause) {
    case 'selector':
      return make.warning(`${says}: ${why.message}`, why.fix);
    case 'outcome':
      return make.ok(`${says}: ${why.message}`);
    default:
      return make.ok('');
  }
}

function judgeSeries(queried: QueriedMetric, answer: AnswerWithSeries): CheckResult {
  const { metric, scaler, context, make, pods } = queried;
  const who = nameMetric(metric);
  const shape = isOfResource(metric) ? null : judgeShape(queried, metric, answer);
  if (shape !== null) return shape;
  if (pods === null && (isOfResource(metric) || metric.type === 'Pods'))
    return make.skipped(`${who}: the series cannot be matched to pods, because the pods cannot be read`);
  const { namespace, spec } = scaler;
  const { source, clock } = context;
  const read = { namespace, workload: spec.scaleTargetRef, pods: pods ?? [], now: clock.now(), source };
  const sample = toSample(metric, answer, read);
  if (sample.form !== 'error') return judgeCoverage(queried, sample);
  const { reason, message } = sample.failure;
  if (isReadAsZero(metric, reason)) return make.ok('');
  if (reason === 'nan')
    return make.failed(
      `${who}: ${message}`,
      'if the query divides by zero, guard the divisor: x / (y > 0); or set onNaN: zero if NaN means zero',
    );
  return make.failed(`${who}: ${message}`, fixForSample(queried, answer, message));
}

function judgeCoverage(
  { metric, make, pods }: QueriedMetric,
  sample: Exclude<Sample, ErrorSample>,
): CheckResult {
  const who = nameMetric(metric);
  if (sample.partial !== null)
    return make.warning(
      `${who} has incomplete data: ${sample.partial}`,
      'until the data is complete, the metric can scale up but not down',
    );
  if (sample.form === 'values') return make.ok('');
  const sampled = new Set(sample.pods);
  const ready = (pods ?? []).filter(({ ready: isReady, deleting }) => isReady === true && !deleting);
  const missing = ready.filter(({ name }) => !sampled.has(name)).map(({ name }) => name);
  if (missing.length === 0) return make.ok('');
  return make.warning(
    `${who} has no series for ${missing.length} of ${ready.length} ready pods (${listSome(missing, 3)}): for a scale-down, these pods are assumed to be at the target`,
    'check Status > Targets of Prometheus for nodes or pods that are not scraped; ignore this warning for pods that started minutes ago',
  );
}

function fixForSample(queried: QueriedMetric, answer: AnswerWithSeries, error: string): string {
  const { metric, pods } = queried;
  const fix = fixForInvalid(metric, answer, { error, source: metric.source });
  if (fix !== null) return error.includes('series for pod') ? fix : `${fix}; ${tryIt(queried)}`;
  if (pods?.length === 0) return 'the target has no pods: see the result of the check `pods`';
  if (metric.type === 'ContainerResource')
    return 'check that containerResource.container is the name of a container of the pods, and see the result of the check `resource-series`';
  if (metric.type !== 'Pods') return tryIt(queried);
  const names = listSome(labelValues(answer, 'pod'), 3);
  return `the label pod must be the name of a pod, such as ${pods?.[0]?.name ?? 'web-0'}; the values of the label are ${names}`;
}

/**
 * Checks the series of an answer: a Pods metric needs the label `pod`, an Object metric needs exactly one series, and
 * an External metric should not have too many.
 */
function judgeShape(
  { make, query, pods }: QueriedMetric,
  metric: Exclude<MetricSpec, { readonly type: 'Resource' | 'ContainerResource' }>,
  answer: AnswerWithSeries,
): CheckResult | null {
  const who = nameMetric(metric);
  const names = labelNames(answer.series);
  const selected = selectSeries(answer.series, metric.selector);
  if (selected.length === 0) {
    const keys = metric.selector.map(({ key }) => key);
    const values = keys.map(
      (key) => `${key} is ${listSome(labelValues(answer, key), 4) || 'not a label of any series'}`,
    );
    return make.failed(
      `${who}: none of its ${answer.series.length} series matches metric.selector (${values.join('; ')})`,
      fixForSelector(metric.query, answer.series, metric.selector),
    );
  }
  if (metric.type === 'Pods' && selected.some((one) => labelOf(one, 'pod') === undefined))
    return make.failed(
      `${who}: a series has no label pod, which a Pods metric needs; the series have ${describeNames(names)}`,
      names.length === 0
        ? 'keep the label pod with sum by (pod) (...); for a total over all pods use type: External'
        : `keep the label pod with sum by (pod) (...); if another label contains the name of the pod: label_replace(..., "pod", "$1", "${podLikeLabel(names)}", "(.+)")`,
    );
  const countError = seriesCountError(metric, selected.length);
  if (countError !== null) {
    const differ = differingLabels(selected, []);
    const own = (pods ?? []).map(({ name }) => name);
    return make.failed(
      `${who}: ${countError}; the series differ in ${listSome(differ)}`,
      `${fixForSeveral(selected, own)}; the current query: ${query ?? ''}`,
    );
  }
  if (metric.type === 'External' && selected.length > MANY_SERIES)
    return make.warning(
      `${who}: the query returns ${selected.length} series, and promscaler uses only their sum`,
      'aggregate the series in Prometheus: wrap the query in sum(...)',
    );
  return null;
}

function podLikeLabel(names: readonly string[]): string {
  return names.find((name) => /pod/i.test(name)) ?? names.find((name) => name === 'instance') ?? 'LABEL';
}

function tryIt({ query }: QueriedMetric): string {
  return fixForQuery(null, query ?? '');
}
