import { sameEachDay } from '../backtest/simulation/samples.js';
import { errorSample } from '../decision/snapshot/judge-sample.js';
import { listUsage, type Pod, type Sample, type ValuesSample } from '../decision/snapshot/snapshot.js';
import type { MetricSpec } from '../scaler/spec.js';
import { milliToNumber } from '../units/quantity.js';
import type { Instant } from '../units/time.js';
import type { MetricInput } from './document-test.js';

/** Returns the answer of the query of a metric. `index`: the position in the series. */
export function sampleOf(
  metric: MetricSpec,
  inputs: readonly MetricInput[],
  { index, now, pods }: { readonly index: number; readonly now: Instant; readonly pods: readonly Pod[] },
): Sample {
  if (metric.type === 'Object' || metric.type === 'External') {
    const valuesOf = (of: MetricInput['part']): readonly number[] =>
      inputs.flatMap(({ part, values: series }) => (part === of ? (series.at(index) ?? []) : []));
    const values = valuesOf(null);
    if (values.length === 0) return NO_SERIES;
    return {
      form: 'values',
      at: now,
      values,
      partial: null,
      ...partsOf(metric, inputs, { at: now, valuesOf }),
    };
  }
  const byPod = valuesByPod(inputs, index, pods);
  const values = [...byPod.values()];
  if (values.length === 0) return NO_SERIES;
  if (values.every(Number.isNaN)) return errorSample('nan', 'every value is NaN');
  if (metric.type === 'Pods')
    return { form: 'pods', at: now, windowSeconds: 0, pods: [...byPod.keys()], values, partial: null };
  const usage = new Map(
    pods.flatMap((pod) => {
      const value = byPod.get(pod.name);
      return value === undefined ? [] : [[pod.name, usageOf(metric, value, pod)] as const];
    }),
  );
  return { form: 'containers', at: now, windowSeconds: 0, ...listUsage(usage), partial: null };
}

/** Without a series for the capacity, it is that of the target. */
function partsOf(
  metric: Extract<MetricSpec, { readonly type: 'Object' | 'External' }>,
  inputs: readonly MetricInput[],
  {
    at,
    valuesOf,
  }: { readonly at: Instant; readonly valuesOf: (part: MetricInput['part']) => readonly number[] },
): Partial<ValuesSample> {
  const { backlog, capacityQuery, autoCapacity, target } = metric;
  const waiting = backlog === undefined ? [] : valuesOf('backlog');
  const ofBacklog = waiting.length === 0 ? {} : { backlog: waiting.reduce((sum, value) => sum + value, 0) };
  if ((capacityQuery ?? autoCapacity) === undefined || target.type === 'Utilization') return ofBacklog;
  const [given] = valuesOf('capacity');
  const capacity = inputs.some(({ part }) => part === 'capacity') ? given : milliToNumber(target.milli);
  if (capacity !== undefined)
    return capacityQuery === undefined
      ? { ...ofBacklog, measuredCapacity: sameEachDay(capacity, at) }
      : { ...ofBacklog, capacity };
  return autoCapacity?.mode === 'Observe'
    ? ofBacklog
    : { ...ofBacklog, partial: 'capacity: no series, target.averageValue applies' };
}

export const NO_SERIES = errorSample(
  'missing',
  'no series has a value at this time; 80x10 repeats a value 10 times',
);

/**
 * A series for one pod takes precedence over a series for all pods. A series for all pods has values for ready pods
 * only.
 */
function valuesByPod(
  inputs: readonly MetricInput[],
  index: number,
  pods: readonly Pod[],
): ReadonlyMap<string, number> {
  const ready = pods.filter((pod) => pod.ready === true);
  const values = new Map<string, number>();
  for (const input of inputs) {
    const value = input.values.at(index);
    if (value === null || input.pod !== null) continue;
    for (const { name } of ready) values.set(name, input.isShared ? value / ready.length : value);
  }
  for (const { pod, values: own } of inputs) {
    const value = own.at(index);
    if (pod === null || !pods.some(({ name }) => name === pod)) continue;
    if (value === null) values.delete(pod);
    else values.set(pod, value);
  }
  return values;
}

/** A value has the unit of its target: percent of the request for a utilization, otherwise the usage of the pod. */
function usageOf(
  metric: Extract<MetricSpec, { readonly type: 'Resource' | 'ContainerResource' }>,
  value: number,
  { requests }: Pod,
): ReadonlyMap<string, number> {
  const containers = metric.type === 'ContainerResource' ? [metric.container] : [...requests.keys()];
  return new Map(
    containers.map((name, index) => {
      if (metric.target.type !== 'Utilization') return [name, index === 0 ? value : 0];
      const request = requests.get(name)?.get(metric.name) ?? 0n;
      return [name, (value / 100) * milliToNumber(request)];
    }),
  );
}
