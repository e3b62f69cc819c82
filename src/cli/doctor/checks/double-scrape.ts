import { vectorSelectors } from '../../../promql/vector-selectors.js';
import { type Finding, findingsOf } from '../finding.js';
import { listSome, labelValues, onlyValue, type SourceInquiry, sourceSubject } from '../inquiry.js';
import type { NeededResource } from './needed-resources.js';

/** Labels by which the same container is told twice: two scrape jobs, or two replicas of Prometheus. */
const TWICE_BY = ['job', 'prometheus_replica', 'prometheus', 'endpoint', 'replica', 'cluster'];

/** Whether each container is in the data more than once: then the sum is a multiple of what it uses. */
export async function findDoubleScrape(
  inquiry: SourceInquiry,
  { resource }: NeededResource,
  query: string,
): Promise<readonly Finding[]> {
  const { source, ask } = inquiry;
  const selector = vectorSelectors(query)[0]?.text ?? null;
  if (selector === null || !/\bcontainer_/.test(selector)) return [];
  const perContainer = `max(count by (namespace, pod, container) (${selector}))`;
  if ((onlyValue(await ask(perContainer)) ?? 1) < 2) return [];
  for (const label of TWICE_BY) {
    const times = onlyValue(
      await ask(
        `max(count by (namespace, pod, container) (group by (namespace, pod, container, ${label}) (${selector})))`,
      ),
    );
    if (times === null || times < 2) continue;
    const values = labelValues(await ask(`group by (${label}) (${selector})`), label);
    const [first = ''] = values;
    const key = `prometheus.${source.name}.resourceQueries.${resource}`;
    const make = findingsOf('resource-series', sourceSubject(source));
    return [
      make.failed(
        `each container's ${resource} is there ${times} times, by ${label} ${listSome(values)}: its usage is counted ${times} times`,
        `${key}: add ${label}="${first}" to its matchers, or take one of the scrape jobs away`,
      ),
    ];
  }
  return [];
}
