import {
  describeContainerDuplicates,
  describeLabels,
  type Duplicates,
  findContainerDuplicates,
  findQueryDuplicates,
  isReplicaLabel,
} from '../../prometheus/queries/find-duplicates.js';
import type { Answer } from '../../prometheus/answers/answer.js';
import { metricQueryText } from '../../prometheus/queries/compile-queries.js';
import { isOfResource, type MetricSpec, type Scaler } from '../../scaler/spec.js';
import { addSeconds, type Instant } from '../../units/time.js';
import { BacktestError } from '../compare/variant.js';
import { fetchInstant, type Fetching, type Range } from './fetch-series.js';

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
