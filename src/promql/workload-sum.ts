import { analyzeQuery } from './analyze.js';
import { podsPattern } from './pods-pattern.js';
import { stringLiteral } from './quoting.js';

const TARGET_LABEL = 'promscaler_target';

/** The label that marks series of the workload's pods in a query, so that the server can sum them separately. */
export const OF_WORKLOAD: Readonly<Record<string, string>> = { [TARGET_LABEL]: 'yes' };

/**
 * Adds `OF_WORKLOAD` to the series whose label `pod` matches the pattern of the workload. A pattern is used, because
 * the API server no longer lists pods of earlier days; the label `pod`, because exporters have no other label in
 * common.
 */
export function markPods(
  query: string,
  { kind, name }: { readonly kind: string; readonly name: string },
): string {
  const pattern = stringLiteral(podsPattern(kind, name));
  // The newline ends a comment at the end of the query.
  return `label_replace(${query}\n, "${TARGET_LABEL}", "yes", "pod", ${pattern})`;
}

/** Returns the sums of a vector, one for each combination of the labels, which must be valid in PromQL. */
export function sumBy(labels: readonly string[], vector: string): string {
  const by = labels.length === 0 ? '' : ` by (${[...new Set(labels)].join(', ')}) `;
  return `sum${by}(${vector})`;
}

/** Returns the sums of a query. The query may also return a scalar. */
export function sumOfTotal(labels: readonly string[], query: string): string {
  const vector = analyzeQuery(query)?.type === 'scalar' ? `vector(${query}\n)` : query;
  return sumBy(labels, `${vector}\n`);
}
