import { podsPattern } from '../../promql/pods-pattern.js';
import { stringLiteral } from '../../promql/quoting.js';
import { sumOfWorkload, type TotalLoad } from '../../prometheus/queries/total-load.js';
import { markPods, OF_WORKLOAD, sumOfTotal } from '../../promql/workload-sum.js';
import { type LabelSelector, type MetricSpec, type Scaler, isOfResource } from '../../scaler/spec.js';
import {
  describeContainerDuplicates,
  describeLabels,
  type Duplicates,
  findContainerDuplicates,
  findQueryDuplicates,
  isReplicaLabel,
} from '../../prometheus/queries/duplicates.js';
import type { Answer } from '../../prometheus/answers/answer.js';
import { metricQueryText } from '../../prometheus/queries/compile-queries.js';
import { addSeconds, type Instant } from '../../units/time.js';
import { BacktestError } from '../compare/variant.js';
import { fetchInstant, type Fetching, type Range } from './fetch-series.js';

const LABEL_NAME = /^[A-Za-z_]\w*$/;

/**
 * Returns the query for the total of a metric at each time: the sum over the pods of the target, or, for an Object or
 * External metric, over all series. `query` must not contain variables.
 */
export function totalQuery(metric: MetricSpec, scaler: Scaler, query: string): TotalLoad {
  return sumOfWorkload(metric, scaler, { query, keysOf });
}

/** Returns the query for the sum of all series. `query` must not contain variables. */
export function sumQuery(query: string): TotalLoad {
  return { query: sumOfTotal([], query), labels: {}, selector: [] };
}

/** Returns the query for the number of pods that have a value of the metric. */
export function podCountQuery(scaler: Scaler, query: string): TotalLoad {
  const by = Object.keys(OF_WORKLOAD).join(', ');
  const pods = `count by (${by}, pod) (${markPods(query, scaler.spec.scaleTargetRef)})`;
  return { query: `count by (${by}) (${pods})`, labels: OF_WORKLOAD, selector: [] };
}

/** Returns the keys of a selector that are valid label names, so that a query can group by them. */
function keysOf(selector: LabelSelector): readonly string[] {
  return selector.map(({ key }) => key).filter((key) => LABEL_NAME.test(key));
}

interface ReplicasQuery {
  readonly query: string;
  /** Seconds from a change of the replicas until the metric contains it, without the delay of the scrape. */
  readonly lateSeconds: number;
}

/** The metrics of kube-state-metrics for the replicas and the ready pods, by the kind of the target. */
const COUNTS: Readonly<Record<string, { readonly replicas: string; readonly ready: string }>> = {
  Deployment: { replicas: 'kube_deployment_spec_replicas', ready: 'kube_deployment_status_replicas_ready' },
  StatefulSet: { replicas: 'kube_statefulset_replicas', ready: 'kube_statefulset_status_replicas_ready' },
};

/** Returns the query for the replicas or the ready pods; null: kube-state-metrics does not support the kind. */
export function countQuery(which: 'replicas' | 'ready', { namespace, spec }: Scaler): string | null {
  const { kind, name } = spec.scaleTargetRef;
  const metric = Object.hasOwn(COUNTS, kind) ? COUNTS[kind]?.[which] : undefined;
  if (metric === undefined) return null;
  return `max(${metric}{namespace=${stringLiteral(namespace)}, ${kind.toLowerCase()}=${stringLiteral(name)}})`;
}

/**
 * Returns queries for the replicas, in the order in which they are tried: first metrics of kube-state-metrics, then of
 * promscaler.
 */
export function replicasQueries(scaler: Scaler): readonly ReplicasQuery[] {
  const known = countQuery('replicas', scaler);
  const labels = `namespace=${stringLiteral(scaler.namespace)}, scaler=${stringLiteral(scaler.name)}`;
  // A round reads the replicas before it changes them, so only the next round reports the change.
  const lateSeconds = scaler.spec.syncPeriodSeconds;
  const own = { query: `max(promscaler_current_replicas{${labels}})`, lateSeconds };
  return known === null ? [own] : [{ query: known, lateSeconds: 0 }, own];
}

function podsOf({ namespace, spec }: Scaler): string {
  const { kind, name } = spec.scaleTargetRef;
  return `namespace=${stringLiteral(namespace)}, pod=~${stringLiteral(podsPattern(kind, name))}`;
}

/** Returns the query for the request or limit of each container, in cores or bytes, as a mean over the pods. */
export function perContainerQuery(which: 'requests' | 'limits', resource: string, scaler: Scaler): string {
  const labels = `${podsOf(scaler)}, resource=${stringLiteral(resource)}`;
  return `avg by (container) (max by (pod, container) (kube_pod_container_resource_${which}{${labels}}))`;
}

/** Pods below this age are young. Longer start times are ignored. */
const YOUNG_SECONDS = 3600;

/**
 * Returns two queries for the median time from the creation of a pod until it was ready. The first query uses only pods
 * that are young at the time; the second query uses all pods, in case no pod is young. Pods that have become unready
 * since are excluded, because kube_pod_status_ready_time is the time of the last change in either direction. Source:
 * kube-state-metrics, internal/store/pod.go
 */
export function podStartQueries(scaler: Scaler): readonly string[] {
  const pods = podsOf(scaler);
  const perPod = (series: string): string => `max by (pod, uid) (${series})`;
  const created = perPod(`kube_pod_created{${pods}}`);
  const unready = perPod(`kube_pod_status_ready{${pods}, condition="true"} == 0`);
  const took = `((${perPod(`kube_pod_status_ready_time{${pods}}`)} - ${created}) >= 0) < ${YOUNG_SECONDS}`;
  const isYoung = `(time() - ${created}) < ${YOUNG_SECONDS}`;
  // Uses `resets`, because VictoriaMetrics implements `changes` differently.
  const wasUnready = `${perPod(`resets(kube_pod_status_ready{${pods}, condition="true"}[${YOUNG_SECONDS}s])`)} > 0`;
  return [
    `quantile(0.5, (${took}) and (${isYoung}) unless (${wasUnready}) unless (${unready}))`,
    `quantile(0.5, (${took}) unless (${unready}))`,
  ];
}

/** Number of times at which the history is checked for duplicates: a second Prometheus may not exist all the time. */
const SEARCHES = 3;

/**
 * Returns the query for the history of a metric. If containers have duplicate series, returns a query that counts each
 * container once, as in the service, and a warning. Throws `BacktestError` if any other query adds up duplicates,
 * because the load would be a multiple of the true load.
 */
export async function historyQuery(
  metric: MetricSpec,
  scaler: Scaler,
  { range, fetching }: { readonly range: Range; readonly fetching: Fetching },
): Promise<{ readonly query: string; readonly warning: string | null }> {
  const { source } = fetching;
  const what = `metric ${metric.identity}`;
  const query = metricQueryText(metric, scaler, source);
  if (query === null)
    throw new BacktestError(`${what}: data source ${source.name} has no query for ${metric.name}`);
  const found = await findDuplicates(metric, query, { range, fetching });
  if (found?.isAdded !== true) return { query, warning: null };
  const copies = isOfResource(metric)
    ? describeContainerDuplicates(found, metric.name)
    : `each series of the query exists ${found.times} times, with different values of ${describeLabels(found)}`;
  if (isOfResource(metric)) {
    const resourceQueries = { ...source.resourceQueries, ...source.onceQueries };
    const once = Object.hasOwn(source.onceQueries, metric.name)
      ? metricQueryText(metric, scaler, { ...source, resourceQueries })
      : null;
    if (once !== null)
      return {
        query: once,
        warning: `${what}: ${copies}: only the largest is counted, as in the service`,
      };
  }
  throw new BacktestError(
    `${what}: ${copies}. Each copy is counted, so the load would be a multiple of the true load. ${found.labels.some(({ name }) => isReplicaLabel(name)) ? 'Aggregate the copies' : 'Add a matcher for one of the copies to the query, or aggregate the copies'} with max by before the sum`,
  );
}

async function findDuplicates(
  metric: MetricSpec,
  query: string,
  { range, fetching }: { readonly range: Range; readonly fetching: Fetching },
): Promise<Duplicates | null> {
  const { start, end, stepSeconds } = range;
  for (let search = 1; search <= SEARCHES; search += 1) {
    const at = addSeconds(start, ((end - start) / 1000) * (search / (SEARCHES + 1)));
    const ask = (text: string): Promise<Answer> => answerAt(text, { at, stepSeconds }, fetching);
    const found = isOfResource(metric)
      ? await findContainerDuplicates(ask, query)
      : await findQueryDuplicates(ask, query, { asWhole: true });
    if (found !== null) return found;
  }
  return null;
}

/**
 * Returns the answer to a query for duplicates. Does not throw if the query fails, because the query of the metric then
 * fails, too, and reports the error.
 */
async function answerAt(
  query: string,
  when: { readonly at: Instant; readonly stepSeconds: number },
  fetching: Fetching,
): Promise<Answer> {
  try {
    const found = await fetchInstant('duplicates', query, when, fetching);
    const series = found.flatMap(({ labels, points }) => {
      const value = points.at(-1)?.[1];
      return value === undefined ? [] : [{ labels, value }];
    });
    return series.length === 0
      ? { class: 'missing', message: 'no series' }
      : { class: 'value', series, evaluatedAt: when.at };
  } catch (error) {
    if (!(error instanceof BacktestError)) throw error;
    return { class: 'failed', reason: 'execution', message: error.message };
  }
}
