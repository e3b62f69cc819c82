import { isDifference, isRate, largestWrittenRangeSeconds } from '../../promql/ranges.js';
import { isMemory, type MetricSpec, type Scaler } from '../../scaler/spec.js';
import { parseQuantity, type Milli } from '../../units/quantity.js';
import type { Load } from './load.js';
import type { Assumptions } from './settings.js';
import { type MetricModel, spanOfRate, CONTAINER } from './samples.js';

/** If `measures` is unset, all metrics measure the load. */
type TraceAssumptions = Partial<Pick<Assumptions, 'measures'>> &
  Pick<
    Assumptions,
    'capacity' | 'usageAtCapacityPercent' | 'resourceWindowSeconds' | 'scrapeIntervalSeconds'
  >;

/** The CPU request of each container of a simulated pod. Only the ratio of usage and request matters. */
const REQUEST_MILLI: Milli = parseQuantity('1') ?? 1000n;

/**
 * Returns how each metric of a document depends on a load trace, or why that is impossible. Null: the metric is
 * omitted, because a trace contains no memory usage. The CPU usage of a pod is proportional to its load, up to its
 * capacity. A Pods metric has the load of a pod, an Object or External metric the whole load.
 */
export function traceModels(
  scaler: Scaler,
  load: Load,
  assumptions: TraceAssumptions,
): { readonly models: readonly (MetricModel | null)[] } | { readonly error: string } {
  const models: (MetricModel | null)[] = [];
  const containers = containersOf(scaler).length;
  const { metrics } = scaler.spec;
  if (metrics.every(isMemory)) {
    const names = metrics.map(({ identity }) => identity).join(', ');
    return { error: `a load trace does not contain the usage of ${names}: use --prometheus` };
  }
  for (const metric of metrics) {
    if (isMemory(metric)) {
      models.push(null);
      continue;
    }
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
  const { capacity, usageAtCapacityPercent, resourceWindowSeconds, scrapeIntervalSeconds, containers } =
    assumptions;
  const expression = assumptions.measures?.get(metric.identity);
  switch (metric.type) {
    case 'Resource':
    case 'ContainerResource': {
      // A Resource metric is relative to the requests of all containers, which are 1 core each.
      const coresAtCapacity = (usageAtCapacityPercent / 100) * (metric.type === 'Resource' ? containers : 1);
      const unitsPerLoad = coresAtCapacity / capacity;
      return {
        kind: 'share',
        load,
        loadIs: 'present',
        saturation: capacity,
        unitsPerLoad,
        windowSeconds: resourceWindowSeconds,
        spanSeconds: spanOfRate(resourceWindowSeconds, scrapeIntervalSeconds),
        isRate: true,
      };
    }
    case 'Pods': {
      const window = windowOf(metric.query, scrapeIntervalSeconds);
      if (typeof window === 'string') return window;
      if (expression !== undefined)
        return { kind: 'measured', load, loadIs: 'present', expression, ...window };
      return {
        kind: 'share',
        load,
        loadIs: 'present',
        saturation: capacity,
        unitsPerLoad: 1,
        ...window,
        isRate: isRate(metric.query),
      };
    }
    case 'Object':
    case 'External': {
      const window = windowOf(metric.query, scrapeIntervalSeconds);
      if (typeof window === 'string') return window;
      if (expression !== undefined)
        return { kind: 'measured', load, loadIs: 'present', expression, ...window };
      return { kind: 'total', load, loadIs: 'present', ...window };
    }
    default:
      return metric satisfies never;
  }
}

/** Returns the window of the query, or why the query never has a value. */
function windowOf(
  query: string,
  scrapeIntervalSeconds: number,
): Pick<MetricModel & { readonly kind: 'total' }, 'windowSeconds' | 'spanSeconds'> | string {
  const windowSeconds = largestWrittenRangeSeconds(query);
  if (windowSeconds === 0 || !isDifference(query)) return { windowSeconds, spanSeconds: windowSeconds };
  const spanSeconds = spanOfRate(windowSeconds, scrapeIntervalSeconds);
  return spanSeconds > 0
    ? { windowSeconds, spanSeconds }
    : `a window of ${windowSeconds} s has fewer than two samples at a scrape interval of ${scrapeIntervalSeconds} s (scrapeIntervalSeconds of --config), so the query has no value`;
}

/** Returns a CPU request of 1 core for each container. */
export function traceRequests(scaler: Scaler): ReadonlyMap<string, ReadonlyMap<string, Milli>> {
  return new Map(containersOf(scaler).map((name) => [name, new Map([['cpu', REQUEST_MILLI]])]));
}

/** Returns the CPU limit of a pod. It equals the usage of a pod at its capacity. */
export function traceCpuLimit(scaler: Scaler, usageAtCapacityPercent: number): Milli {
  const milli = BigInt(containersOf(scaler).length) * REQUEST_MILLI;
  return (milli * BigInt(Math.round(usageAtCapacityPercent * 1000))) / 100_000n;
}

/** Returns the containers of a simulated pod: the containers that metrics name, otherwise a single container. */
export function containersOf({ spec }: Scaler): readonly string[] {
  const named = spec.metrics.flatMap((metric) =>
    metric.type === 'ContainerResource' ? [metric.container] : [],
  );
  return named.length === 0 ? [CONTAINER] : [...new Set(named)];
}
