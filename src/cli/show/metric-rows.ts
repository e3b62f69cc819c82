import type { Path } from '../../scaler/problems/finding.js';
import { MEMBER_OF_TARGET, MEMBER_OF_TYPE, type TargetType } from '../../scaler/resolve/metric-form.js';
import { autoCapacityOf, type MetricSpec, type MetricTarget, type TargetRef } from '../../scaler/spec.js';
import { formatMilli } from '../../units/quantity.js';
import { type Row, type Written, rowBy, rowOf, rowsIn, unsetRow, writtenIn } from './row.js';

/** Names of the fields in autoscaling/v2beta1. Their values are shown as fields of autoscaling/v2. */
const OLD_TARGET_MEMBERS: Readonly<Record<TargetType, string | null>> = {
  Utilization: 'targetAverageUtilization',
  AverageValue: 'targetAverageValue',
  Value: null,
};

export function metricRows(written: Written, path: Path, metric: MetricSpec): readonly Row[] {
  const memberPath = [...path, MEMBER_OF_TYPE[metric.type]];
  const type = rowBy(written, [...path, 'type'], implied(written, memberPath, metric.type));
  const target = targetRows(written, memberPath, metric.target).map((row) => ({
    ...row,
    ...(row.path.at(-1) === 'type' ? {} : replacedTarget(memberPath, metric)),
  }));
  const leaf = (name: string, value: unknown): Row => rowOf(written, [...memberPath, name], value);
  switch (metric.type) {
    case 'Resource':
      return [
        type,
        leaf('name', metric.name),
        ...target,
        ...saturationRows(written, [...memberPath, 'saturation'], metric),
      ];
    case 'ContainerResource':
      return [type, leaf('name', metric.name), leaf('container', metric.container), ...target];
    case 'Pods':
      return [type, ...queryRows(written, memberPath, metric), ...target];
    case 'Object':
    case 'External': {
      const object = metric.type === 'Object' ? objectRows(written, memberPath, metric.describedObject) : [];
      const activation = rowsIn(written, [...memberPath, 'activation']);
      const policies = [leaf('onMissing', metric.onMissing), leaf('onNaN', metric.onNaN)];
      const checks = ['guard', 'freshness', 'backlog'].flatMap((name) =>
        checkRows(written, [...memberPath, name]),
      );
      const capacity = capacityRows(written, [...memberPath, 'capacity'], metric);
      return [
        type,
        ...object,
        ...queryRows(written, memberPath, metric),
        ...target,
        ...activation,
        ...policies,
        ...checks,
        ...capacity,
      ];
    }
    default:
      return metric satisfies never;
  }
}

/**
 * If a measured capacity replaces the target while the capacity has a value, returns the path of the capacity;
 * otherwise empty.
 */
function replacedTarget(memberPath: Path, metric: MetricSpec): Pick<Row, 'replacedBy' | 'replacedWhen'> {
  const isUsed = autoCapacityOf(metric)?.mode === 'Use' || 'capacityQuery' in metric;
  return isUsed ? { replacedBy: [...memberPath, 'capacity'], replacedWhen: 'while it has a value' } : {};
}

function saturationRows(
  written: Written,
  path: Path,
  { saturation }: Extract<MetricSpec, { readonly type: 'Resource' }>,
): readonly Row[] {
  if (saturation === undefined) return checkRows(written, path);
  const { servedQuery, factor } = saturation;
  return [
    rowOf(written, [...path, 'served', 'query'], servedQuery),
    rowOf(written, [...path, 'factor'], factor),
  ];
}

function capacityRows(
  written: Written,
  path: Path,
  { autoCapacity }: Extract<MetricSpec, { readonly type: 'Object' | 'External' }>,
): readonly Row[] {
  if (autoCapacity === undefined) return checkRows(written, path);
  const { mode, servedQuery } = autoCapacity;
  return [
    rowOf(written, [...path, 'auto', 'mode'], mode),
    rowOf(written, [...path, 'auto', 'served', 'query'], servedQuery),
    ...checkRows(written, [...path, 'auto', 'errors']),
  ];
}

/** Returns the rows of an optional block or field. If it is unset, returns one row without a value. */
function checkRows(written: Written, path: Path): readonly Row[] {
  const rows = rowsIn(written, path);
  return rows.length > 0 ? rows : [unsetRow(path)];
}

/** Returns `value` for a field that the document does not set, but that follows from the field `by`. */
function implied(written: Written, by: Path, value: unknown): Pick<Row, 'value' | 'from' | 'by'> {
  const from = writtenIn(written, by);
  return from === null ? { value, from: 'built in', by: null } : { value, from, by };
}

function targetRows(written: Written, memberPath: Path, target: MetricTarget): readonly Row[] {
  const { type } = target;
  const path = [...memberPath, 'target'];
  const valuePath = [...path, MEMBER_OF_TARGET[type]];
  const old = OLD_TARGET_MEMBERS[type];
  const oldPath = old === null ? null : [...memberPath, old];
  if (oldPath !== null && writtenIn(written, oldPath) !== null) {
    const { value, from } = rowOf(written, oldPath, null);
    const by = { from, by: oldPath, isUnset: false };
    return [
      { path: [...path, 'type'], value: type, ...by },
      { path: valuePath, value, ...by },
    ];
  }
  const resolved = target.type === 'Utilization' ? target.percent : formatMilli(target.milli);
  return [
    rowBy(written, [...path, 'type'], implied(written, valuePath, type)),
    rowOf(written, valuePath, resolved),
  ];
}

function queryRows(
  written: Written,
  memberPath: Path,
  metric: Extract<MetricSpec, { readonly query: string }>,
): readonly Row[] {
  const queryPath = [...memberPath, 'query'];
  const selectorPath = [...memberPath, 'metric', 'selector'];
  const selector = rowsIn(written, selectorPath);
  return [
    rowBy(written, [...memberPath, 'metric', 'name'], implied(written, queryPath, metric.name)),
    ...(selector.length > 0 ? selector : [rowOf(written, selectorPath, {})]),
    rowOf(written, queryPath, metric.query),
    rowOf(written, [...memberPath, 'source'], metric.source),
    ...checkRows(written, [...memberPath, 'maxSampleAgeSeconds']),
  ];
}

function objectRows(written: Written, memberPath: Path, object: TargetRef | null): readonly Row[] {
  const path = [...memberPath, 'describedObject'];
  return object === null ? [unsetRow(path)] : referenceRows(written, path, object);
}

export function referenceRows(written: Written, path: Path, reference: TargetRef): readonly Row[] {
  const { apiVersion, kind, name } = reference;
  return [
    // Shows the resolved value: extensions/v1beta1, for example, is treated as apps/v1.
    { ...rowOf(written, [...path, 'apiVersion'], apiVersion), value: apiVersion },
    rowOf(written, [...path, 'kind'], kind),
    rowOf(written, [...path, 'name'], name),
  ];
}
