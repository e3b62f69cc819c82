import { formatMilli } from '../units/quantity.js';
import type { LabelSelector, MetricSpec, MetricTarget, ScalerSpec } from './spec.js';
import type { PlainObject } from './plain.js';

/**
 * A spec as a document would write it in full: nothing left out, no short form, no preset needed. Read again it is the
 * same, but that the scale-up limit then counts as written; it is left out where it does not apply (with `behavior`,
 * and named by neither document nor preset), so that reading it again changes nothing.
 */
export function writeSpec(spec: ScalerSpec): PlainObject {
  const {
    scaleUpLimit,
    behavior,
    metrics,
    preset,
    scaleTargetRef,
    minReplicas,
    maxReplicas,
    tolerance,
    ...rest
  } = spec;
  const hasLimit = behavior === null || scaleUpLimit.isExplicit;
  return {
    preset,
    scaleTargetRef,
    minReplicas,
    maxReplicas,
    metrics: metrics.map(writeMetric),
    ...(behavior === null ? {} : { behavior }),
    tolerance,
    ...(hasLimit
      ? { scaleUpLimitFactor: scaleUpLimit.factor, scaleUpLimitMinimum: scaleUpLimit.minimum }
      : {}),
    ...rest,
  };
}

function writeMetric(metric: MetricSpec): PlainObject {
  const target = writeTarget(metric.target);
  const { type, name } = metric;
  switch (metric.type) {
    case 'Resource':
      return { type, resource: { name, target } };
    case 'ContainerResource':
      return { type, containerResource: { name, container: metric.container, target } };
    case 'Pods':
      return { type, pods: { ...writeQueried(metric), target } };
    case 'Object': {
      const { describedObject, onMissing, onNaN } = metric;
      const described = describedObject === null ? {} : { describedObject };
      return { type, object: { ...described, ...writeQueried(metric), target, onMissing, onNaN } };
    }
    case 'External': {
      const { onMissing, onNaN } = metric;
      return { type, external: { ...writeQueried(metric), target, onMissing, onNaN } };
    }
    default:
      return metric satisfies never;
  }
}

function writeQueried(metric: {
  readonly name: string;
  readonly selector: LabelSelector;
  readonly query: string;
  readonly source: string;
}): PlainObject {
  const { name, selector, query, source } = metric;
  const matchExpressions = selector.map(({ key, operator, values }) =>
    values.length === 0 ? { key, operator } : { key, operator, values },
  );
  return {
    metric: selector.length === 0 ? { name } : { name, selector: { matchExpressions } },
    query,
    source,
  };
}

function writeTarget(target: MetricTarget): PlainObject {
  const { type } = target;
  switch (type) {
    case 'Utilization':
      return { type, averageUtilization: target.percent };
    case 'AverageValue':
      return { type, averageValue: formatMilli(target.milli) };
    case 'Value':
      return { type, value: formatMilli(target.milli) };
    default:
      return target satisfies never;
  }
}
