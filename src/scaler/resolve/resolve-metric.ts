import { metricNames } from '../../promql/vector-selectors.js';
import { parseQuantity, type Milli } from '../../units/quantity.js';
import { targetOf, targetTypeOf } from './metric-form.js';
import { BUILT_IN } from '../schema/presets.js';
import type { Loose, MetricInput } from '../schema/document-schema.js';
import type { LabelSelectorInput } from '../schema/metric-schema.js';
import type {
  ExternalMetric,
  LabelRequirement,
  LabelSelector,
  MetricSpec,
  MetricTarget,
  TargetRef,
} from '../spec.js';

type Queried = NonNullable<MetricInput['external']>;

/** Returns `metric.name`, or the first metric name in the query if it is unset; null: there is neither. */
export function queriedName(body: Loose<Queried>): string | null {
  return body.metric?.name ?? (body.query === undefined ? null : (metricNames(body.query)[0] ?? null));
}

/**
 * Returns `NAME` or `CONTAINER/NAME`, which is unique among the metrics of a type in a document; null: unknown. Source:
 * contract.md section 5.
 */
export function identityOf(metric: Loose<MetricInput>): string | null {
  const { resource, containerResource } = metric;
  if (resource !== undefined) return resource.name ?? null;
  if (containerResource !== undefined) {
    const { container, name } = containerResource;
    return container === undefined || name === undefined ? null : `${container}/${name}`;
  }
  const body = metric.pods ?? metric.object ?? metric.external;
  return body === undefined ? null : queriedName(body);
}

/**
 * Returns the metric of a document without metrics: CPU at 80 % of the requests, as in the HPA. Each document gets a
 * new object, because the object is a key of caches (`prometheus/samples.ts`).
 */
export function defaultMetric(): MetricSpec {
  return {
    type: 'Resource',
    name: 'cpu',
    identity: 'cpu',
    target: { type: 'Utilization', percent: BUILT_IN.cpuUtilizationPercent },
    source: BUILT_IN.source,
  };
}

/** Expands short forms. The input must have passed the schema and `checkMetricForm`. */
export function resolveMetric(metric: MetricInput): MetricSpec {
  const target = resolveTarget(metric);
  const { resource, containerResource, pods, object, external } = metric;
  if (resource !== undefined) {
    const { name, saturation } = resource;
    const step =
      saturation === undefined
        ? {}
        : {
            saturation: {
              servedQuery: saturation.served.query,
              factor: saturation.factor ?? BUILT_IN.saturationFactor,
            },
          };
    return { type: 'Resource', name, identity: name, target, source: BUILT_IN.source, ...step };
  }
  if (containerResource !== undefined) {
    const { name, container } = containerResource;
    const identity = `${container}/${name}`;
    return { type: 'ContainerResource', name, container, identity, target, source: BUILT_IN.source };
  }
  if (pods !== undefined) return { type: 'Pods', ...resolveQueried(pods), target };
  const body = object ?? external;
  if (body === undefined) throw new Error('a metric without a member passed its checks');
  const total = {
    ...resolveQueried(body),
    target,
    activation: resolveActivation(body),
    onMissing: body.onMissing ?? BUILT_IN.missingPolicy,
    onNaN: body.onNaN ?? BUILT_IN.missingPolicy,
    guard: body.guard ?? null,
    freshness: body.freshness ?? null,
    ...(body.backlog === undefined ? {} : { backlog: body.backlog }),
    ...resolveCapacity(body.capacity),
  } as const;
  if (object === undefined) return { type: 'External', ...total };
  const { describedObject } = object;
  return {
    type: 'Object',
    ...total,
    describedObject: describedObject === undefined ? null : resolveReference(describedObject),
  };
}

function resolveCapacity(
  capacity: NonNullable<MetricInput['external']>['capacity'],
): Pick<ExternalMetric, 'capacityQuery' | 'autoCapacity'> {
  const { query, auto } = capacity ?? {};
  if (query !== undefined) return { capacityQuery: query };
  if (auto === undefined) return {};
  const { mode = BUILT_IN.capacityMode, served, errors } = auto;
  const ofErrors = errors === undefined ? {} : { errorsQuery: errors.query };
  return { autoCapacity: { mode, servedQuery: served.query, ...ofErrors } };
}

function resolveActivation({
  activation,
}: NonNullable<MetricInput['external']>): { readonly above: Milli } | null {
  const above = activation === undefined ? null : parseQuantity(activation.above);
  return above === null ? null : { above };
}

function resolveQueried(body: Queried): {
  readonly name: string;
  readonly identity: string;
  readonly query: string;
  readonly source: string;
  readonly selector: LabelSelector;
  readonly maxSampleAgeSeconds?: number;
} {
  const { query, source = BUILT_IN.source, maxSampleAgeSeconds } = body;
  if (query === undefined) throw new Error('a metric without a query passed its checks');
  // Only a snapshot may have a query without a metric name: a document with such a query is rejected.
  const name = queriedName(body) ?? 'unnamed';
  const resolved = { name, identity: name, query, source, selector: resolveSelector(body.metric?.selector) };
  return maxSampleAgeSeconds === undefined ? resolved : { ...resolved, maxSampleAgeSeconds };
}

function resolveSelector(selector: LabelSelectorInput | undefined): LabelSelector {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]): LabelRequirement => ({
    key,
    operator: 'In',
    values: [value],
  }));
  const expressions = (selector?.matchExpressions ?? []).map(
    ({ key, operator, values = [] }): LabelRequirement => ({ key, operator, values }),
  );
  return [...labels, ...expressions];
}

/**
 * Returns a reference with defaults. `extensions/v1beta1`, the former API version of Deployment and ReplicaSet, is
 * replaced with the current version.
 */
export function resolveReference(reference: {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly name: string;
}): TargetRef {
  const { apiVersion = BUILT_IN.targetApiVersion, kind = BUILT_IN.targetKind, name } = reference;
  const isMoved = apiVersion === 'extensions/v1beta1' && ['Deployment', 'ReplicaSet'].includes(kind);
  return { apiVersion: isMoved ? BUILT_IN.targetApiVersion : apiVersion, kind, name };
}

function resolveTarget(metric: MetricInput): MetricTarget {
  const target = targetOf(metric);
  const type = targetTypeOf(target);
  if (type === 'Utilization' && target.averageUtilization !== undefined) {
    return { type, percent: target.averageUtilization };
  }
  const quantity = type === 'Value' ? target.value : target.averageValue;
  const milli = quantity === undefined ? null : parseQuantity(quantity);
  if (milli === null || type === null || type === 'Utilization') {
    throw new Error('a metric without a target passed its checks');
  }
  return { type, milli };
}
