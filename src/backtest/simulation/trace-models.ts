import { isRate, largestWrittenRangeSeconds } from '../../promql/ranges.js';
import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import { parseQuantity } from '../../units/quantity.js';
import type { Milli } from '../../units/quantity.js';
import type { Load } from '../load/load.js';
import type { MetricModel } from './metric-model.js';
import { CONTAINER } from './take-sample.js';

export interface TraceAssumptions {
  /** Load that one pod carries. */
  readonly capacity: number;
  /** Cpu usage of a pod at its capacity, in percent of its request. */
  readonly usageAtCapacityPercent: number;
  /** The window of the rate in resource queries. */
  readonly resourceWindowSeconds: number;
}

/** The request of each simulated pod; only the ratio of usage and request matters. */
const REQUEST_MILLI: Milli = parseQuantity('1') ?? 1000n;

/**
 * Returns how each metric of a document follows a load trace, or why one cannot. Cpu is proportional to the load of a
 * pod and ends at its capacity, because usage hides the load that a pod cannot carry. Pods metrics report the load that
 * a pod carries, Object and External metrics the whole load.
 */
export function traceModels(
  scaler: Scaler,
  load: Load,
  assumptions: TraceAssumptions,
): { readonly models: readonly MetricModel[] } | { readonly error: string } {
  const models: MetricModel[] = [];
  const containers = containersOf(scaler).length;
  for (const metric of scaler.spec.metrics) {
    const model = modelOf(metric, load, { ...assumptions, containers });
    if (typeof model === 'string') return { error: `metric ${metric.identity}: ${model}` };
    models.push(model);
  }
  return { models };
}

function modelOf(
  metric: MetricSpec,
  load: Load,
  assumptions: TraceAssumptions & { readonly containers: number },
): MetricModel | string {
  const { capacity, usageAtCapacityPercent, resourceWindowSeconds, containers } = assumptions;
  switch (metric.type) {
    case 'Resource':
    case 'ContainerResource': {
      if (metric.name !== 'cpu')
        return `a load trace does not contain the usage of ${metric.name}; use --prometheus, or a document without this metric`;
      // The usage of a Resource metric is compared with the requests of all containers.
      const coresAtCapacity = (usageAtCapacityPercent / 100) * (metric.type === 'Resource' ? containers : 1);
      const unitsPerLoad = coresAtCapacity / capacity;
      return {
        kind: 'share',
        load,
        loadIs: 'present',
        saturation: capacity,
        unitsPerLoad,
        windowSeconds: resourceWindowSeconds,
        isRate: true,
      };
    }
    case 'Pods':
      return {
        kind: 'share',
        load,
        loadIs: 'present',
        saturation: capacity,
        unitsPerLoad: 1,
        windowSeconds: windowOf(metric),
        isRate: isRate(metric.query),
      };
    case 'Object':
    case 'External':
      return { kind: 'total', load, loadIs: 'present', windowSeconds: windowOf(metric) };
    default:
      return metric satisfies never;
  }
}

function windowOf({ query }: Extract<MetricSpec, { readonly query: string }>): number {
  return largestWrittenRangeSeconds(query);
}

/** Returns requests of 1 core for each container that a metric of the document names. */
export function traceRequests(scaler: Scaler): ReadonlyMap<string, ReadonlyMap<string, Milli>> {
  return new Map(containersOf(scaler).map((name) => [name, new Map([['cpu', REQUEST_MILLI]])]));
}

/** Returns the containers of the simulated pods: those that metrics of the document name. */
export function containersOf({ spec }: Scaler): readonly string[] {
  const named = spec.metrics.flatMap((metric) =>
    metric.type === 'ContainerResource' ? [metric.container] : [],
  );
  return named.length === 0 ? [CONTAINER] : [...new Set(named)];
}
