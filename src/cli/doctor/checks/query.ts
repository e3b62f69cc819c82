import { isReadAsZero, seriesCountError } from '../../../decision/samples/sample-rules.js';
import type { ErrorSample, Pod, Sample } from '../../../decision/snapshot.js';
import { KubernetesError } from '../../../kubernetes/types.js';
import type { Answer } from '../../../prometheus/answer.js';
import { toSample } from '../../../prometheus/samples.js';
import { metricQuery } from '../../../prometheus/scaler-queries.js';
import { labelOf, selectSeries } from '../../../prometheus/series-index.js';
import { checkPatterns } from '../../../scaler/rules/query-result-rules.js';
import { type MetricSpec, scalerKey } from '../../../scaler/spec.js';
import { type Finding, type FindingMaker, findingsOf } from '../finding.js';
import { labelValues, listSome, type SourceInquiry } from '../inquiry.js';
import type { ScalerFacts } from '../scaler-facts.js';
import { judgeGuards } from './guards.js';
import { mendOfFailure, mendOfInvalid } from './mend-of-query.js';
import { whyNoSeries } from './why-no-series.js';

/** More series than this in one total are worth an aggregation on the server. */
const MANY_SERIES = 2000;

/** One metric of a scaler and what was answered. */
interface Asked {
  readonly metric: MetricSpec;
  readonly answer: Answer;
  readonly facts: ScalerFacts;
  /** Null where its source does not answer, or there is none. */
  readonly inquiry: SourceInquiry | null;
  /** As it was sent; null where the source has none for the resource. */
  readonly query: string | null;
  readonly pods: readonly Pod[] | null;
  readonly make: FindingMaker;
}

/** Whether each metric's query gives what its type needs, and its guard and freshness hold. */
export async function checkQuery(facts: ScalerFacts): Promise<readonly Finding[]> {
  const { scaler, cluster, answers, sources } = facts;
  const make = findingsOf('query', scalerKey(scaler));
  const read = cluster?.pods ?? null;
  const pods = read === null || read instanceof KubernetesError ? null : read.map(({ pod }) => pod);
  const findings = await Promise.all(
    scaler.spec.metrics.map(async (metric, index): Promise<readonly Finding[]> => {
      const answer = answers[index];
      const inquiry = sources.get(metric.source) ?? null;
      if (answer === undefined || inquiry === null)
        return [make.skipped(`data source ${metric.source} does not answer`)];
      const query = metricQuery(metric, scaler, inquiry.source);
      const asked = { metric, answer, facts, inquiry, query, pods, make };
      const ofGuards = await judgeGuards({ metric, scaler, inquiry, make });
      if (ofGuards.length === 0 || query === null) return [await checkMetric(asked)];
      // The answer is that of a metric whose guard does not hold: its own query is looked at apart.
      return [await checkMetric({ ...asked, answer: await inquiry.ask(query) }), ...ofGuards];
    }),
  );
  const told = findings.flat().filter(({ status }) => status !== 'ok');
  return told.length === 0 ? [make.ok('')] : told;
}

function checkMetric(asked: Asked): Promise<Finding> | Finding {
  const { metric, answer, make } = asked;
  const who = nameMetric(metric);
  switch (answer.class) {
    case 'failed':
      return failedFinding(asked, answer);
    case 'invalid':
      return make.failed(`${who}: ${answer.message}`, tryIt(asked));
    case 'missing':
      return noSeries(asked);
    case 'value':
    case 'partial':
      return answer.series.length === 0 ? noSeries(asked) : judgeSeries(asked, answer);
    default:
      return answer satisfies never;
  }
}

function failedFinding(asked: Asked, answer: Extract<Answer, { class: 'failed' }>): Finding {
  const { metric, make } = asked;
  const who = nameMetric(metric);
  return make.failed(
    `${who}: ${answer.message}`,
    mendOfFailure(answer.reason, answer.message) ?? tryIt(asked),
  );
}

async function noSeries(asked: Asked): Promise<Finding> {
  const { metric, inquiry, query, make } = asked;
  const who = nameMetric(metric);
  if (isOfResource(metric))
    return make.failed(`${who} has no series`, 'see resource-series of the data source');
  if (isReadAsZero(metric, 'missing')) return make.ok('');
  // A regular expression that is compared as text matches nothing, whatever the data.
  const [pattern] = checkPatterns({ query: metric.query, path: ['query'] });
  if (pattern !== undefined) {
    const [, message = '', mend = ''] = /^query: (.*): (write .*)$/.exec(pattern.message) ?? [];
    return make.failed(`${who} has no series: ${message}`, mend);
  }
  const why = inquiry === null || query === null ? null : await whyNoSeries(inquiry.ask, query);
  return make.failed(
    `${who} has no series${why === null ? '' : `: ${why.message}`}`,
    why?.mend ?? tryIt(asked),
  );
}

type Answered = Extract<Answer, { readonly series: unknown }>;

function judgeSeries(asked: Asked, answer: Answered): Finding {
  const { metric, make, pods } = asked;
  const { namespace } = asked.facts.scaler;
  const who = nameMetric(metric);
  const shape = isOfResource(metric) ? null : judgeShape(asked, metric, answer);
  if (shape !== null) return shape;
  if (pods === null && (isOfResource(metric) || metric.type === 'Pods'))
    return make.skipped(`${who}: the pods cannot be read, so its series cannot be told apart`);
  const { source = null, clock = null } = asked.inquiry ?? {};
  const now = clock?.now() ?? answer.evaluatedAt;
  const { sample } = toSample(metric, answer, { namespace, pods: pods ?? [], now, source });
  if (sample.form !== 'error') return judgeCoverage(asked, sample);
  if (sample.kind === 'nan')
    return make.failed(
      `${who}: ${sample.error}`,
      'a division by zero? Guard the divisor: x / (y > 0), or say onNaN: zero where NaN means none',
    );
  return make.failed(`${who}: ${sample.error}`, mendOfSample(asked, answer, sample.error));
}

/** A usable sample: whether it is whole, and tells of each ready pod. */
function judgeCoverage({ metric, make, pods }: Asked, sample: Exclude<Sample, ErrorSample>): Finding {
  const who = nameMetric(metric);
  if (sample.partial !== null)
    return make.warning(
      `${who} is only partly there: ${sample.partial}`,
      'it may raise the count, never lower it, until that is over',
    );
  if (sample.form === 'values') return make.ok('');
  const told = sample.form === 'pods' ? sample.pods : sample.containers;
  const ready = (pods ?? []).filter(({ ready: isReady, deleting }) => isReady === true && !deleting);
  const missing = ready.filter(({ name }) => !told.has(name)).map(({ name }) => name);
  if (missing.length === 0) return make.ok('');
  return make.warning(
    `${who} has no series of ${missing.length} of ${ready.length} ready pods (${listSome(missing, 3)}): on the way down they are taken to be at the target`,
    'look at Status > Targets of Prometheus for the nodes or pods that are not scraped; of pods that are minutes old this is nothing',
  );
}

function mendOfSample(asked: Asked, answer: Answered, error: string): string {
  const { metric, pods } = asked;
  const mend = mendOfInvalid(metric, answer, { error, source: metric.source });
  if (mend !== null) return error.includes('series for pod') ? mend : `${mend}; ${tryIt(asked)}`;
  if (pods?.length === 0) return 'there are no pods yet: see pods';
  if (metric.type === 'ContainerResource')
    return 'look whether containerResource.container is spelled as in the pods, and see resource-series';
  if (metric.type !== 'Pods') return tryIt(asked);
  const names = listSome(labelValues(answer, 'pod'), 3);
  return `the label pod must be the name of the pod, such as ${pods?.[0]?.name ?? 'web-0'}; it is ${names}`;
}

/** The form that the type needs: `pod` for Pods, one series for Object, not too many for External. */
function judgeShape(
  { make, query }: Asked,
  metric: Exclude<MetricSpec, { readonly type: 'Resource' | 'ContainerResource' }>,
  answer: Answered,
): Finding | null {
  const who = nameMetric(metric);
  const labelNames = [...new Set(answer.series.flatMap(({ labels }) => Object.keys(labels)))].sort();
  const has = labelNames.length === 0 ? 'no labels at all' : listSome(labelNames, 8);
  const selected = selectSeries(answer.series, metric.selector);
  if (selected.length === 0) {
    const keys = metric.selector.map(({ key }) => key);
    const values = keys.map((key) => `${key} is ${listSome(labelValues(answer, key), 4) || 'not there'}`);
    return make.failed(
      `${who}: none of its ${answer.series.length} series matches metric.selector (${values.join('; ')})`,
      `write values that are there into metric.selector; the series have ${has}`,
    );
  }
  if (metric.type === 'Pods' && selected.some((one) => labelOf(one, 'pod') === undefined))
    return make.failed(
      `${who}: a series has no label pod, which a Pods metric needs; the series have ${has}`,
      labelNames.length === 0
        ? 'sum by (pod) (...) in the query keeps it; for a total over all pods write type: External'
        : `sum by (pod) (...) in the query keeps it; where another label names the pod: label_replace(..., "pod", "$1", "${podLikeLabel(labelNames)}", "(.+)")`,
    );
  const countError = seriesCountError(metric, selected.length);
  if (countError !== null)
    return make.failed(
      `${who}: ${countError}; they differ in ${listSome(differing(selected, labelNames))}`,
      `sum(...) around the query, or a matcher for ${differing(selected, labelNames)[0] ?? 'that label'}; query: ${query ?? ''}`,
    );
  if (metric.type === 'External' && selected.length > MANY_SERIES)
    return make.warning(
      `${who}: ${selected.length} series are fetched each time, only to be added up`,
      'add them up in Prometheus: sum(...) around the query',
    );
  return null;
}

function podLikeLabel(names: readonly string[]): string {
  return names.find((name) => /pod/i.test(name)) ?? names.find((name) => name === 'instance') ?? 'LABEL';
}

function differing(series: Answered['series'], names: readonly string[]): readonly string[] {
  return names.filter((name) => new Set(series.map((one) => labelOf(one, name) ?? '')).size > 1);
}

function isOfResource(
  metric: MetricSpec,
): metric is Extract<MetricSpec, { readonly type: 'Resource' | 'ContainerResource' }> {
  return metric.type === 'Resource' || metric.type === 'ContainerResource';
}

function nameMetric({ type, identity }: MetricSpec): string {
  return `${type} metric ${identity}`;
}

function tryIt({ query }: Asked): string {
  return `try it on the Prometheus page: ${query ?? ''}`;
}
