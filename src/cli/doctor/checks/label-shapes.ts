import { labelOf } from '../../../prometheus/series-index.js';
import type { Series } from '../../../prometheus/answer.js';
import type { SourceInquiry } from '../inquiry.js';
import {
  type WhoseLabels,
  findWhoseLabels,
  resourceQueryFor,
  selectorsOfNamespace,
} from './resource-labels.js';

/** More namespaces than this are not looked at one by one. */
const MAX_NAMESPACES = 5;

/**
 * The labels that name namespace, pod and container in the series of these namespaces, each way once. A Prometheus may
 * hold several: of two scrape jobs, or of two clusters. Empty where these namespaces have no series of the metric.
 */
export async function labelShapes(
  ask: SourceInquiry['ask'],
  metric: string,
  namespaces: readonly string[],
): Promise<readonly WhoseLabels[]> {
  const shapes = new Map<string, WhoseLabels>();
  for (const namespace of namespaces.slice(0, MAX_NAMESPACES)) {
    const answer = await ask(`topk(20, ${selectorsOfNamespace(metric, namespace).join(' or ')})`);
    if (answer.class !== 'value' && answer.class !== 'partial') continue;
    const shape = shapeOf(answer.series, namespace);
    if (shape !== null) shapes.set(JSON.stringify(shape), shape);
  }
  return [...shapes.values()];
}

/** The labels of series that are of this namespace: the one that names it has it for its value. */
function shapeOf(series: readonly Series[], namespace: string): WhoseLabels | null {
  const names = new Set(series.flatMap(({ labels }) => Object.keys(labels)));
  const isOf = (label: string): boolean => series.some((one) => labelOf(one, label) === namespace);
  return findWhoseLabels(new Set([...names].filter((name) => !/namespace/.test(name) || isOf(name))));
}

/** A resource query for series with labels of several shapes. */
export function queryForShapes(
  metric: string,
  shapes: readonly WhoseLabels[],
  options: { readonly isCounter: boolean },
): string {
  return shapes.map((shape) => resourceQueryFor(metric, shape, options)).join(' or ');
}
