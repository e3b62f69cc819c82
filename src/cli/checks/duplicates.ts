import {
  describeLabels,
  type Duplicates,
  findContainerDuplicates,
} from '../../prometheus/queries/find-duplicates.js';
import { stringLiteral } from '../../promql/quoting.js';
import { labelText } from '../../promql/vector-selectors.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { type SourceContext, sourceSubject } from './context.js';
import type { UsedResource } from './used-resources.js';

/** Checks for several series per container, which would count the usage several times. */
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
  const fix = `${key}: ${fixFor(found)}`;
  if (!found.isAdded) return [make.warning(`${message}once, because the query takes the largest`, fix)];
  return Object.hasOwn(source.onceQueries, resource)
    ? [make.warning(`${message}once, because the service takes the largest`, fix)]
    : [make.failed(`${message}${found.times} times`, fix)];
}

/** Labels of the copies of one Prometheus or receiver. Any of the copies may be down. */
const OF_A_REPLICA = /replica|^(?:receive|prometheus)$/;

/** If some series lack the label, the fix excludes those series. */
function fixFor({ labels }: Duplicates): string {
  const [first] = labels;
  if (first === undefined) return 'aggregate the duplicates with max by (...) before the sum';
  const { name, values } = first;
  if (OF_A_REPLICA.test(name))
    return (
      `count each series once, whichever replica is up: put max without (${labelText(name)}) (...) around rate(...), ` +
      `or around the selector of a gauge, inside the sum; or let the server deduplicate ` +
      `(Thanos: --query.replica-label=${name}, VictoriaMetrics: -dedup.minScrapeInterval, Mimir: HA tracker)`
    );
  const matcher = values.includes('') ? `${name}!=""` : `${name}=${stringLiteral(values[0] ?? '')}`;
  return `add ${matcher} to its matchers, or remove one of the scrape jobs`;
}
