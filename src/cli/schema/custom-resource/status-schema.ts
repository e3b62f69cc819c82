import type { JsonSchema } from '../json-schema.js';

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

const CURRENT = object('What it is now. A value that is not known is absent.', {
  averageUtilization: count('Percent of what the pods request, as their average.'),
  averageValue: quantity('For each pod.'),
  value: quantity('For all pods together.'),
});

const METRIC = object('Which metric.', { name: text('What the metric is called.') });

const CURRENT_METRIC = object(
  'One metric of the document, in the form of autoscaling/v2.',
  {
    type: text('Resource, ContainerResource, Pods, Object or External.'),
    resource: object('cpu or memory of whole pods.', { name: text('cpu or memory.'), current: CURRENT }),
    containerResource: object('cpu or memory of one container of each pod.', {
      name: text('cpu or memory.'),
      container: text('The name of the container.'),
      current: CURRENT,
    }),
    pods: object('One series for each pod.', { metric: METRIC, current: CURRENT }),
    object: object('One series.', {
      metric: METRIC,
      describedObject: object('What the series is about.', {
        apiVersion: text('Its group and version.'),
        kind: text('Its kind.'),
        name: text('Its name.'),
      }),
      current: CURRENT,
    }),
    external: object('All series, added up.', { metric: METRIC, current: CURRENT }),
  },
  ['type'],
);

const CONDITION = object(
  'One aspect of the state.',
  {
    type: text(
      'Accepted (the document is taken up), Ready (it works), or what the algorithm says: AbleToScale, ScalingActive, ScalingLimited, Held, TargetReached, MetricsUnique.',
    ),
    status: { ...text('True, False or Unknown.'), enum: ['True', 'False', 'Unknown'] },
    reason: text('Why, in one word.'),
    message: text('Why, as a sentence.'),
    lastTransitionTime: time('When status became what it is.'),
    observedGeneration: {
      ...count('The generation of the document that this is about.'),
      format: 'int64',
    },
  },
  ['type', 'status'],
);

/** The `status` of a Scaler. Only promscaler writes it. No field is required: a value that is not known is absent. */
export const STATUS_SCHEMA: JsonSchema = object('What promscaler makes of it. Written by promscaler alone.', {
  observedGeneration: {
    ...count('The generation of the document that this status is about.'),
    format: 'int64',
  },
  currentReplicas: count('What the target is set to.'),
  desiredReplicas: count('What the last decision wants.'),
  lastScaleTime: time('When promscaler last changed the replicas.'),
  currentMetrics: {
    description: 'What the metrics are now, refreshed once a minute at most.',
    type: 'array',
    'x-kubernetes-list-type': 'atomic',
    items: CURRENT_METRIC,
  },
  conditions: {
    description: 'The state in its aspects, one for each type.',
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    items: CONDITION,
  },
});
