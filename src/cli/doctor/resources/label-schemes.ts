import { labelOf } from '../../../prometheus/series-index.js';
import type { Series } from '../../../prometheus/answer.js';
import type { SourceContext } from '../context.js';
import {
  type LabelScheme,
  findLabelScheme,
  resourceQueryFor,
  selectorsOfNamespace,
} from './resource-labels.js';

/** Namespaces that are queried, one query each. */
const MAX_NAMESPACES = 5;

/**
 * Returns the distinct label schemes of a metric in these namespaces; empty if they have no series of it. A Prometheus
 * may have several: from two scrape jobs or two clusters.
 */
export async function readLabelSchemes(
  runQuery: SourceContext['runQuery'],
  metric: string,
  namespaces: readonly string[],
): Promise<readonly LabelScheme[]> {
  const schemes = new Map<string, LabelScheme>();
  for (const namespace of namespaces.slice(0, MAX_NAMESPACES)) {
    const answer = await runQuery(`topk(20, ${selectorsOfNamespace(metric, namespace).join(' or ')})`);
    if (answer.class !== 'value' && answer.class !== 'partial') continue;
    const scheme = schemeOf(answer.series, namespace);
    if (scheme !== null) schemes.set(JSON.stringify(scheme), scheme);
  }
  return [...schemes.values()];
}

/** Only a label whose value is the namespace can be the namespace label. */
function schemeOf(series: readonly Series[], namespace: string): LabelScheme | null {
  const names = new Set(series.flatMap(({ labels }) => Object.keys(labels)));
  const isOf = (label: string): boolean => series.some((one) => labelOf(one, label) === namespace);
  return findLabelScheme(new Set([...names].filter((name) => !/namespace/.test(name) || isOf(name))));
}

/** Builds a resource query for series with several label schemes. */
export function queryForSchemes(
  metric: string,
  schemes: readonly LabelScheme[],
  options: { readonly isCounter: boolean },
): string {
  return schemes.map((scheme) => resourceQueryFor(metric, scheme, options)).join(' or ');
}
