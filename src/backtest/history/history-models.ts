import type { Assumptions } from '../simulation/settings.js';
import type { WorkloadModel } from '../compare/variant.js';
import type { Load } from '../simulation/load.js';
import { countAt, type CountStep } from '../simulation/count-steps.js';
import { type MetricModel, CONTAINER, spanOfRate } from '../simulation/samples.js';
import { isDifference, isRate } from '../../promql/ranges.js';
import { isCpu, isMemory, isOfResource, isOfTotal, type MetricSpec, type Scaler } from '../../scaler/spec.js';
import { type Milli, milliFromNumber } from '../../units/quantity.js';
import { addSeconds, type Instant, instantFromMs } from '../../units/time.js';
import { type Column, loadOfColumn, observedOfColumn } from './columns.js';

export interface MetricHistory {
  /**
   * The total of all pods (memory: the mean per pod), shifted back by half the window, because each value is a mean
   * over the window.
   */
  readonly load: Load;
  /** The result of the query at each time, not shifted. */
  readonly observed: Load;
  readonly windowSeconds: number;
  /**
   * Seconds over which the value is a mean: between the first and the last sample of a window for a rate, otherwise the
   * window.
   */
  readonly spanSeconds: number;
  /**
   * Whether an increase is divided by the whole window, as in `rate`, even for a pod that is younger than the window.
   */
  readonly isRate: boolean;
  /** The largest value that a pod can have, in the unit of the load; null: there is no limit. */
  readonly saturation: number | null;
}

/**
 * Returns the history of a metric from the results of its query. `windowSeconds`: the window of the query. If
 * `spanOfRate` returns 0, the window itself is used: the window is too short for two samples at the given scrape
 * interval, but the history has values, so the real interval is shorter.
 */
export function metricHistory(
  metric: MetricSpec,
  column: Column,
  {
    query,
    windowSeconds,
    scrapeIntervalSeconds,
    saturation,
  }: Pick<MetricHistory, 'windowSeconds' | 'saturation'> & {
    readonly query: string;
    readonly scrapeIntervalSeconds: number;
  },
): MetricHistory {
  const isOfCounter = isOfResource(metric) || isDifference(query);
  const span = spanOfRate(windowSeconds, scrapeIntervalSeconds);
  return {
    load: loadOfColumn(column, windowSeconds),
    observed: observedOfColumn(column),
    windowSeconds,
    spanSeconds: isOfCounter && span > 0 ? span : windowSeconds,
    isRate: isOfResource(metric) || isRate(query),
    saturation,
  };
}

/** Returns the sum of the amounts of all containers of a pod. */
export function sumOf(amounts: ReadonlyMap<string, number>): number {
  return [...amounts.values()].reduce((sum, amount) => sum + amount, 0);
}

/** Returns the CPU limit of a pod, or its request times the usage at capacity; null: neither is known. */
export function cpuCapacity(
  metric: MetricSpec,
  {
    cpuLimit,
    cpuRequest,
    usageAtCapacityPercent,
  }: {
    readonly cpuLimit: number | null;
    readonly cpuRequest: number | null;
    readonly usageAtCapacityPercent: number;
  },
): number | null {
  if (!isCpu(metric)) return null;
  return cpuLimit ?? (cpuRequest === null ? null : (cpuRequest * usageAtCapacityPercent) / 100);
}

export interface History {
  readonly metricOf: (scaler: Scaler, metric: MetricSpec) => MetricHistory | null;
  /** The values of the query of `maxReplicasFrom`; null: the document has none, or there are no recorded values. */
  readonly ceilingOf: (scaler: Scaler) => Load | null;
  /** Maps a resource and a container to the mean request of a pod, in cores or bytes. */
  readonly requests: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The recorded replicas since the start of the warm-up; empty: they are unknown. */
  readonly replicas: readonly CountStep[];
  /** The sync period of the first document. */
  readonly syncPeriodSeconds: number;
}

/**
 * Returns how each metric of a document depends on the history. `initialReplicas`: the replicas at the start of the
 * scored time; null: the run starts `warmUpSeconds` earlier, with the recorded replicas. `queued`: the load, if load
 * waits in a queue until pods serve and report it; null: there is no queue.
 */
export function historyWorkload(
  { metricOf, ceilingOf, requests, replicas, syncPeriodSeconds }: History,
  {
    initialReplicas,
    measures,
    warmUpSeconds,
    queued,
  }: Pick<Assumptions, 'initialReplicas' | 'measures'> & {
    readonly warmUpSeconds: number;
    readonly queued: Load | null;
  },
): WorkloadModel {
  return (scaler, start) => {
    const { spec } = scaler;
    const models: MetricModel[] = [];
    for (const metric of spec.metrics) {
      const history = metricOf(scaler, metric);
      if (history === null) return { error: `metric ${metric.identity}: the history has no values` };
      const missing = missingRequest(metric, requests);
      if (missing !== null) return { error: `metric ${metric.identity}: ${missing}` };
      models.push(modelOf(metric, history, { queued, expression: measures.get(metric.identity) }));
    }
    const warmUpFrom = initialReplicas === null ? addSeconds(start, -warmUpSeconds) : start;
    const changes = spec.syncPeriodSeconds === syncPeriodSeconds ? replicas.slice(1) : [];
    const isCountKnown = initialReplicas === null && replicas.length > 0;
    return {
      models,
      requests: requestsOf(scaler, requests),
      ceiling: ceilingOf(scaler) ?? undefined,
      warmUpFrom,
      firstRoundAt: firstRoundAt(changes, warmUpFrom, spec.syncPeriodSeconds),
      ...(isCountKnown ? { initialReplicas: countAt(replicas, warmUpFrom) } : {}),
    };
  };
}

function modelOf(
  metric: MetricSpec,
  history: MetricHistory,
  { queued, expression }: { readonly queued: Load | null; readonly expression: string | undefined },
): MetricModel {
  const { observed: load, windowSeconds, spanSeconds, isRate, saturation } = history;
  if (queued !== null && expression !== undefined)
    return { kind: 'measured', load: queued, loadIs: 'present', expression, windowSeconds, spanSeconds };
  if (queued === history.load && !isOfTotal(metric)) {
    const present = { load: queued, loadIs: 'present', windowSeconds, spanSeconds } as const;
    return { kind: 'share', ...present, saturation, unitsPerLoad: 1, isRate };
  }
  if (isOfTotal(metric)) return { kind: 'total', load, loadIs: 'mean', windowSeconds, spanSeconds };
  if (isMemory(metric)) return { kind: 'constant', load };
  const measured = { load, loadIs: 'mean', windowSeconds, spanSeconds } as const;
  return { kind: 'share', ...measured, saturation, unitsPerLoad: 1, isRate };
}

function missingRequest(metric: MetricSpec, requests: History['requests']): string | null {
  if (metric.type !== 'Resource' && metric.type !== 'ContainerResource') return null;
  if (metric.target.type !== 'Utilization') return null;
  const ofResource = requests.get(metric.name);
  const isKnown =
    ofResource !== undefined &&
    ofResource.size > 0 &&
    (metric.type === 'Resource' || ofResource.has(metric.container) || ofResource.has(CONTAINER));
  if (isKnown) return null;
  return metric.name === 'cpu'
    ? 'the request of the pods is unknown: kube_pod_container_resource_requests has no values; set --request'
    : `the request of the pods is unknown: kube_pod_container_resource_requests has no values for ${metric.name}`;
}

/**
 * Returns the requests of a simulated pod. It has a container for each container that a metric names, and a container
 * with the requests of all other containers.
 */
function requestsOf(
  { spec }: Scaler,
  requests: History['requests'],
): ReadonlyMap<string, ReadonlyMap<string, Milli>> {
  const named = new Set(
    spec.metrics.flatMap((metric) => (metric.type === 'ContainerResource' ? [metric.container] : [])),
  );
  const simulated = new Map<string, Map<string, Milli>>();
  for (const [resource, containers] of requests) {
    const amounts = new Map<string, number>();
    for (const [container, amount] of containers) {
      const name = named.has(container) ? container : CONTAINER;
      amounts.set(name, (amounts.get(name) ?? 0) + amount);
    }
    for (const [name, amount] of amounts) {
      const resources = simulated.get(name) ?? new Map<string, Milli>();
      simulated.set(name, resources.set(resource, milliFromNumber(amount)));
    }
  }
  // The value of `--request` is the request of the whole pod. It is used for each named container.
  const rest = simulated.get(CONTAINER);
  for (const name of named)
    if (!simulated.has(name) && rest !== undefined && simulated.size === 1) simulated.set(name, rest);
  return simulated;
}

/**
 * Returns the time of the first round after `start`, estimated from the recorded changes: each follows a round, and
 * rounds are one period apart. Without changes, it is one period after `start`.
 */
export function firstRoundAt(changes: readonly CountStep[], start: Instant, periodSeconds: number): Instant {
  const periodMs = periodSeconds * 1000;
  let sine = 0;
  let cosine = 0;
  for (const { at } of changes) {
    const angle = (2 * Math.PI * (at - start)) / periodMs;
    sine += Math.sin(angle);
    cosine += Math.cos(angle);
  }
  if (changes.length === 0) return addSeconds(start, periodSeconds);
  const phaseMs = Math.round((Math.atan2(sine, cosine) / (2 * Math.PI)) * periodMs);
  return instantFromMs(start + (phaseMs > 0 ? phaseMs : phaseMs + periodMs));
}
