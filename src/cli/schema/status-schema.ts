import type { JsonSchema } from './json-schema.js';

const text = (description: string): JsonSchema => ({ description, type: 'string' });
const time = (description: string): JsonSchema => ({ description, type: 'string', format: 'date-time' });
const count = (description: string): JsonSchema => ({ description, type: 'integer', format: 'int32' });
const quantity = (description: string): JsonSchema => ({ description, 'x-kubernetes-int-or-string': true });

function object(
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return { description, type: 'object', ...(required.length === 0 ? {} : { required }), properties };
}

const CURRENT = object('Current value of the metric. Absent: the value is unknown.', {
  averageUtilization: count('Average usage in percent of the requests.'),
  averageValue: quantity('Average value per pod.'),
  value: quantity('Value for all pods together.'),
});

const METRIC = object('Identifies the metric.', { name: text('Name of the metric.') });

const CURRENT_METRIC = object(
  'Status of a metric, in the form of autoscaling/v2.',
  {
    type: text('Type of the metric: Resource, ContainerResource, Pods, Object or External.'),
    resource: object('CPU or memory usage of whole pods.', {
      name: text('Name of the resource: cpu or memory.'),
      current: CURRENT,
    }),
    containerResource: object('CPU or memory usage of one container of each pod.', {
      name: text('Name of the resource: cpu or memory.'),
      container: text('Name of the container.'),
      current: CURRENT,
    }),
    pods: object('Metric of a query that returns one series per pod.', { metric: METRIC, current: CURRENT }),
    object: object('Metric of a query that returns exactly one series.', {
      metric: METRIC,
      describedObject: object('Object that the metric describes.', {
        apiVersion: text('GROUP/VERSION of the object.'),
        kind: text('Kind of the object.'),
        name: text('Name of the object.'),
      }),
      current: CURRENT,
    }),
    external: object('Metric of a query. The values of its series are added up.', {
      metric: METRIC,
      current: CURRENT,
    }),
  },
  ['type'],
);

const CONDITION = object(
  'Condition: one aspect of the current state of the scaler.',
  {
    type: text(
      'Type of the condition: Accepted (the document is valid and in effect), Ready (its target can be scaled), or a condition of the last decision: AbleToScale, ScalingActive, ScalingLimited, Held, TargetReached, MetricsUnique, ForecastUseful.',
    ),
    status: {
      ...text('Status of the condition: True, False or Unknown.'),
      enum: ['True', 'False', 'Unknown'],
    },
    reason: text('Reason for the status, as a CamelCase word.'),
    message: text('Human-readable details of the reason.'),
    lastTransitionTime: time('When the status last changed.'),
    observedGeneration: {
      ...count('Generation of the Scaler that the condition refers to.'),
      format: 'int64',
    },
  },
  ['type', 'status'],
);

/** The schema of `status`, which only promscaler writes. No field is required, because unknown values are absent. */
export const STATUS_SCHEMA: JsonSchema = object('Current state of the scaler. Only promscaler writes it.', {
  observedGeneration: {
    ...count('Generation of the Scaler that the status refers to.'),
    format: 'int64',
  },
  state: text(
    'The state in one word, such as OK, AtMaximum, NoData, Conflict, Paused, Stabilizing or AtMinimum.',
  ),
  stateSince: time('When the state began.'),
  cause: text('The cause of the state in a few words. Absent: the state needs no explanation.'),
  currentReplicas: count('Replicas of the target.'),
  desiredReplicas: count('Result of the last decision.'),
  minReplicas: count('Lower bound in effect, of the document or a schedule.'),
  maxReplicas: count('Upper bound in effect, of the document or a schedule.'),
  reference: text('Kind and name of the target in effect, as a column of kubectl get scalers.'),
  lastScaleTime: time(
    'When promscaler last changed the replicas for this object, truncated to seconds. Absent: promscaler has not changed them yet.',
  ),
  targets: text(
    'Metrics with their current values and targets, as a column of kubectl get scalers. They are updated with each change of the counts, otherwise at most once a minute.',
  ),
  currentMetrics: {
    description:
      'Current values of the metrics. They are updated with each change of the counts, otherwise at most once a minute.',
    type: 'array',
    'x-kubernetes-list-type': 'atomic',
    items: CURRENT_METRIC,
  },
  conditions: {
    description: 'Conditions of the scaler, one per type.',
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    items: CONDITION,
  },
});
