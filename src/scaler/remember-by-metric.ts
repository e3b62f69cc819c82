import { rememberByText } from '../units/recent-map.js';
import type { MetricSpec, MetricType } from './spec.js';

/**
 * Returns `build` with a cache of its last results. `build` must depend only on the type and identity of a metric, so
 * scalers with equal metrics share the results.
 */
export function rememberByMetric<T>(
  build: (type: MetricType, identity: string) => T,
): (metric: Pick<MetricSpec, 'type' | 'identity'>) => T {
  const ofType = (type: MetricType): ((identity: string) => T) =>
    rememberByText((identity) => build(type, identity));
  const known: Readonly<Record<MetricType, (identity: string) => T>> = {
    Resource: ofType('Resource'),
    ContainerResource: ofType('ContainerResource'),
    Pods: ofType('Pods'),
    Object: ofType('Object'),
    External: ofType('External'),
  };
  return ({ type, identity }) => known[type](identity);
}
