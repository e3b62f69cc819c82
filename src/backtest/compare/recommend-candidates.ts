import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import { formatMilli } from '../../units/quantity.js';
import type { Assignment } from './sweep.js';

const PERCENT = [50, 60, 70, 75, 80, 85, 90, 95] as const;
/** For targets without an upper bound: multiples of the present one. */
const FACTORS = [0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.35] as const;
const FINE_PERCENT = [-3, -2, 2, 3] as const;
const FINE_FACTORS = [0.97, 1.03] as const;
const STABILIZATION_SECONDS = [60, 120, 180, 300, 600] as const;
const TOLERANCES = [0.02, 0.1] as const;
const MAX_PERCENT = 95;

const KEY_OF_TYPE: Readonly<Record<MetricSpec['type'], string>> = {
  Resource: 'resource',
  ContainerResource: 'containerResource',
  Pods: 'pods',
  Object: 'object',
  External: 'external',
};

/** One change of the document. */
export type Candidate = readonly Assignment[];

/** The coarse grid: target of the metric, stabilization of scale-downs, tolerance. */
export function coarseCandidates(scaler: Scaler, metricIndex: number): readonly Candidate[] {
  return targetsOf(scaler, metricIndex).flatMap((target) =>
    STABILIZATION_SECONDS.flatMap((seconds) =>
      TOLERANCES.map((value) => [
        target,
        { field: stabilizationField(scaler), value: seconds },
        { field: 'tolerance', value },
      ]),
    ),
  );
}

/** Other targets near that of the best candidate. */
export function fineCandidates(
  scaler: Scaler,
  metricIndex: number,
  [target, ...others]: Candidate,
): readonly Candidate[] {
  const metric = scaler.spec.metrics[metricIndex];
  if (metric === undefined || target === undefined) return [];
  if (metric.target.type !== 'Utilization')
    return FINE_FACTORS.map((factor) => [scaledTarget(metric, metricIndex, factor), ...others]);
  return FINE_PERCENT.map((more) => Number(target.value) + more)
    .filter((value) => value <= MAX_PERCENT)
    .map((value) => [{ ...target, value }, ...others]);
}

function targetsOf({ spec }: Scaler, metricIndex: number): readonly Assignment[] {
  const metric = spec.metrics[metricIndex];
  if (metric === undefined) return [];
  if (metric.target.type !== 'Utilization')
    return FACTORS.map((factor) => scaledTarget(metric, metricIndex, factor));
  const field = fieldOf(metric, metricIndex, 'averageUtilization');
  return [...new Set([...PERCENT, metric.target.percent])].map((value) => ({ field, value }));
}

function scaledTarget(metric: MetricSpec, metricIndex: number, factor: number): Assignment {
  const { target } = metric;
  if (target.type === 'Utilization') throw new Error('a utilization is not scaled');
  const milli = (target.milli * BigInt(Math.round(factor * 100))) / 100n;
  const name = target.type === 'Value' ? 'value' : 'averageValue';
  return { field: fieldOf(metric, metricIndex, name), value: formatMilli(milli > 0n ? milli : 1n) };
}

function fieldOf(metric: MetricSpec, metricIndex: number, name: string): string {
  return `metrics[${metricIndex}].${KEY_OF_TYPE[metric.type]}.target.${name}`;
}

/** A document without `behavior` keeps its other limits, which `behavior` would replace. */
function stabilizationField({ spec }: Scaler): string {
  return spec.behavior === null
    ? 'downscaleStabilizationSeconds'
    : 'behavior.scaleDown.stabilizationWindowSeconds';
}
