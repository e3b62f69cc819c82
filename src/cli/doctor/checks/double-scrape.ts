import {
  describeLabels,
  type Duplicates,
  findContainerDuplicates,
} from '../../../prometheus/find-duplicates.js';
import { stringLiteral } from '../../../promql/quoting.js';
import { type Finding, findingsOf } from '../finding.js';
import { type SourceInquiry, sourceSubject } from '../inquiry.js';
import type { NeededResource } from './needed-resources.js';

/** Whether each container is in the data more than once: then the sum is a multiple of what it uses. */
export async function findDoubleScrape(
  { source, ask }: SourceInquiry,
  { resource }: NeededResource,
  query: string,
): Promise<readonly Finding[]> {
  const found = await findContainerDuplicates(ask, query);
  if (found === null) return [];
  const key = `prometheus.${source.name}.resourceQueries.${resource}`;
  const make = findingsOf('resource-series', sourceSubject(source));
  const message = `each container's ${resource} is there ${found.times} times, by ${describeLabels(found)}: its usage is `;
  const mend = `${key}: ${fixOf(found)}, or take one of the scrape jobs away`;
  if (!found.isAdded)
    return [make.warning(`${message}counted once, as the query takes the largest of them`, mend)];
  return Object.hasOwn(source.onceQueries, resource)
    ? [make.warning(`${message}counted once, as the service takes the largest of them`, mend)]
    : [make.failed(`${message}counted ${found.times} times`, mend)];
}

/** Without a value for all, the series without the label are those to leave out. */
function fixOf({ labels }: Duplicates): string {
  const [first] = labels;
  if (first === undefined) return 'aggregate the duplicates with max by (...) before the sum';
  const { name, values } = first;
  return values.includes('')
    ? `add ${name}!="" to its matchers`
    : `add ${name}=${stringLiteral(values[0] ?? '')} to its matchers`;
}
