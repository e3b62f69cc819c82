import {
  describeLabels,
  type Duplicates,
  findContainerDuplicates,
} from '../../../prometheus/find-duplicates.js';
import { stringLiteral } from '../../../promql/quoting.js';
import { type CheckResult, resultsOf } from '../report/check-result.js';
import { type SourceContext, sourceSubject } from '../context/context.js';
import type { UsedResource } from './used-resources.js';

/** With several series per container, the usage would be counted several times. */
export async function checkDuplicates(
  { source, runQuery }: SourceContext,
  { resource }: UsedResource,
  query: string,
): Promise<readonly CheckResult[]> {
  const found = await findContainerDuplicates(runQuery, query);
  if (found === null) return [];
  const key = `prometheus.${source.name}.resourceQueries.${resource}`;
  const make = resultsOf('resource-series', sourceSubject(source));
  const message = `each container has ${found.times} ${resource} series, by ${describeLabels(found)}: its usage is counted `;
  const fix = `${key}: ${fixFor(found)}, or remove one of the scrape jobs`;
  if (!found.isAdded) return [make.warning(`${message}once, because the query takes the largest`, fix)];
  return Object.hasOwn(source.onceQueries, resource)
    ? [make.warning(`${message}once, because the service takes the largest`, fix)]
    : [make.failed(`${message}${found.times} times`, fix)];
}

/** If some series lack the label, the fix excludes those series. */
function fixFor({ labels }: Duplicates): string {
  const [first] = labels;
  if (first === undefined) return 'aggregate the duplicates with max by (...) before the sum';
  const { name, values } = first;
  return values.includes('')
    ? `add ${name}!="" to its matchers`
    : `add ${name}=${stringLiteral(values[0] ?? '')} to its matchers`;
}
