import { labelOf, type Series } from '../../prometheus/answers/columns.js';
import type { SourceContext } from './context.js';
import {
  type LabelScheme,
  findLabelScheme,
  resourceQueryFor,
  selectorsOfNamespace,
} from './resource-labels.js';

/** Each namespace needs one query. */
const MAX_NAMESPACES = 5;

/**
 * Returns the distinct label schemes of a metric in these namespaces; empty without series. One Prometheus may have
 * several schemes, for example from two scrape jobs or two clusters.
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

/** A label counts as the namespace label only if a series has the namespace as its value. */
function schemeOf(series: readonly Series[], namespace: string): LabelScheme | null {
  const names = new Set(series.flatMap(({ labels }) => Object.keys(labels)));
  const isOf = (label: string): boolean => series.some((one) => labelOf(one, label) === namespace);
  return findLabelScheme(new Set([...names].filter((name) => !/namespace/.test(name) || isOf(name))));
}

export function queryForSchemes(
  metric: string,
  schemes: readonly LabelScheme[],
  options: { readonly isCounter: boolean },
): string {
  return schemes.map((scheme) => resourceQueryFor(metric, scheme, options)).join(' or ');
}
