import type { Loose, MetricInput } from '../schema/document-schema.js';
import type { MetricTargetInput } from '../schema/metric-schema.js';
import type { MetricType } from '../spec.js';

export type MetricMember = 'resource' | 'containerResource' | 'pods' | 'object' | 'external';

export const TYPE_OF_MEMBER = {
  resource: 'Resource',
  containerResource: 'ContainerResource',
  pods: 'Pods',
  object: 'Object',
  external: 'External',
} as const satisfies Readonly<Record<MetricMember, MetricType>>;

/** The inverse of `TYPE_OF_MEMBER`. */
export const MEMBER_OF_TYPE = Object.fromEntries(
  Object.entries(TYPE_OF_MEMBER).map(([member, type]) => [type, member]),
) as { readonly [M in MetricMember as (typeof TYPE_OF_MEMBER)[M]]: M };

export const MEMBERS = Object.keys(TYPE_OF_MEMBER) as readonly MetricMember[];

export type TargetType = 'Utilization' | 'AverageValue' | 'Value';
export type TargetMember = 'averageUtilization' | 'averageValue' | 'value';

export const MEMBER_OF_TARGET = {
  Utilization: 'averageUtilization',
  AverageValue: 'averageValue',
  Value: 'value',
} as const satisfies Readonly<Record<TargetType, TargetMember>>;

export const TARGET_TYPES = Object.keys(MEMBER_OF_TARGET) as readonly TargetType[];

export type QueriedMember = Exclude<MetricMember, 'resource' | 'containerResource'>;

/**
 * Returns the first of `pods`, `object` and `external` that is set in a metric, and its value; null: none is set.
 */
export function queriedBody(
  metric: Loose<MetricInput> | undefined,
): { readonly member: QueriedMember; readonly body: Loose<NonNullable<MetricInput['object']>> } | null {
  for (const member of ['pods', 'object', 'external'] as const) {
    const body = metric?.[member];
    if (body !== undefined) return { member, body };
  }
  return null;
}

/** Returns the target of a metric. The form of autoscaling/v2beta1 (`targetAverageValue`) is converted. */
export function targetOf(metric: Loose<MetricInput>): Loose<MetricTargetInput> {
  const body = metric.resource ?? metric.containerResource;
  if (body !== undefined) {
    const { target, targetAverageUtilization, targetAverageValue } = body;
    return target ?? { averageUtilization: targetAverageUtilization, averageValue: targetAverageValue };
  }
  return (metric.pods ?? metric.object ?? metric.external)?.target ?? {};
}

/** Returns the target type whose value field is set; null: no value field is set, or several are. */
export function targetTypeOf(target: Loose<MetricTargetInput>): TargetType | null {
  const present = TARGET_TYPES.filter((type) => target[MEMBER_OF_TARGET[type]] !== undefined);
  const [only] = present;
  return present.length === 1 && only !== undefined ? only : null;
}
