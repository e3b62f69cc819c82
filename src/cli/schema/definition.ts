import { stringify } from 'yaml';
import { isPlainObject } from '../../scaler/plain-json.js';
import { MEMBERS, TYPE_OF_MEMBER } from '../../scaler/resolve/metric-form.js';
import { API_VERSION } from '../../scaler/schema/document-schema.js';
import { type JsonSchema, documentJsonSchema } from './json-schema.js';

const [GROUP = '', VERSION = ''] = API_VERSION.split('/');
const NAMES = {
  kind: 'Scaler',
  listKind: 'ScalerList',
  plural: 'scalers',
  singular: 'scaler',
  shortNames: ['psc'],
} as const;

/**
 * Columns of `kubectl get scalers` after the name, in the order of `kubectl get hpa`. They show the version of the
 * document in effect: `spec` may contain a rejected version, and no defaults.
 */
const COLUMNS: readonly JsonSchema[] = [
  { name: 'Reference', type: 'string', jsonPath: '.status.reference' },
  { name: 'Targets', type: 'string', jsonPath: '.status.targets' },
  { name: 'Min', type: 'integer', jsonPath: '.status.minReplicas' },
  { name: 'Max', type: 'integer', jsonPath: '.status.maxReplicas' },
  { name: 'Replicas', type: 'integer', jsonPath: '.status.currentReplicas' },
  { name: 'Desired', type: 'integer', jsonPath: '.status.desiredReplicas' },
  { name: 'State', type: 'string', jsonPath: '.status.state' },
  // kubectl prints how much time has passed since this date.
  { name: 'Since', type: 'date', jsonPath: '.status.stateSince' },
  // A column with a priority above 0 is only shown with -o wide.
  { name: 'Cause', type: 'string', priority: 1, jsonPath: '.status.cause' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

export function customResourceDefinition(): JsonSchema {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${NAMES.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      names: NAMES,
      scope: 'Namespaced',
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          additionalPrinterColumns: COLUMNS,
          subresources: { status: {} },
          schema: { openAPIV3Schema: objectSchema() },
        },
      ],
    },
  };
}

export function customResourceDefinitionYaml(): string {
  // kubectl reads YAML 1.1, in which strings such as `on` are booleans unless they are quoted.
  return stringify(customResourceDefinition(), {
    version: '1.1',
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
}

/** Only `spec` is the schema of the document, because the API server validates metadata itself. */
function objectSchema(): JsonSchema {
  const { properties } = documentJsonSchema();
  const spec: unknown = isPlainObject(properties) ? properties['spec'] : undefined;
  return {
    description:
      'Configuration for scaling one workload. promscaler reads this object and writes its status.',
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { description: 'GROUP/VERSION of the object.', type: 'string' },
      kind: { description: 'Kind of the object.', type: 'string' },
      metadata: { type: 'object' },
      spec: structuralSchema(spec, { path: 'spec', additions: FIELD_RULES }),
      status: STATUS_SCHEMA,
    },
  };
}

/**
 * Returns a CEL expression that holds if `expression` holds for each schedule. The message of such a rule cannot name
 * the schedule: `messageExpression` is unknown before Kubernetes 1.27, and `kubectl apply` would reject the whole
 * definition.
 */
function ofSchedules(expression: string): string {
  return `!has(self.schedules) || self.schedules.all(one, ${expression})`;
}

function rule(expression: string, message: string): JsonSchema {
  return { rule: expression, message };
}

const IS_SET = MEMBERS.map((member) => `has(self.${member})`);

/** CEL rules replace `oneOf`: for `oneOf`, the API server would report only a missing field of the first branch. */
const METRIC_RULES = [
  rule(['has(self.type)', ...IS_SET].join(' || '), `a metric must have one of ${MEMBERS.join(', ')}`),
  rule(
    `[${IS_SET.join(', ')}].filter(is_set, is_set).size() <= 1`,
    `a metric can have only one of ${MEMBERS.join(', ')}: write one metric for each`,
  ),
  ...MEMBERS.map((member) => {
    const type = TYPE_OF_MEMBER[member];
    const expression = `!has(self.type) || self.type != '${type}' || has(self.${member})`;
    return rule(expression, `a metric of type ${type} must have the field ${member}`);
  }),
];

/**
 * Rules across fields that the API server checks. A rule is included only if it is cheap and holds with any service
 * config. A rule for the items of a list needs a maximum length of the list, which limits the estimated cost.
 * promscaler checks the remaining rules and reports them in the condition Accepted.
 */
const FIELD_RULES: SchemaAdditions = {
  spec: {
    'x-kubernetes-validations': [
      rule(
        '!has(self.minReplicas) || self.minReplicas <= self.maxReplicas',
        'spec.minReplicas must be at most spec.maxReplicas',
      ),
      rule(
        "!has(self.scaleTargetRef.kind) || self.scaleTargetRef.kind != 'DaemonSet'",
        'a DaemonSet runs one pod on each node and has no replicas to scale',
      ),
      rule(
        ofSchedules('has(one.maxReplicas) || !has(one.minReplicas) || one.minReplicas <= self.maxReplicas'),
        'minReplicas of a schedule without maxReplicas must be at most spec.maxReplicas',
      ),
      rule(
        ofSchedules(
          'has(one.minReplicas) || !has(one.maxReplicas) || one.maxReplicas >= (has(self.minReplicas) ? self.minReplicas : 1)',
        ),
        'maxReplicas of a schedule without minReplicas must be at least spec.minReplicas (default 1)',
      ),
    ],
  },
  'spec.metrics[]': { 'x-kubernetes-validations': METRIC_RULES },
  'spec.schedules[]': {
    'x-kubernetes-validations': [
      rule('has(self.start) == has(self.end)', 'start and end must be set together'),
      rule('has(self.start) || has(self.dates)', 'a schedule must have start and end, or dates'),
      rule(
        'has(self.minReplicas) || has(self.maxReplicas)',
        'a schedule must have minReplicas or maxReplicas, because it has no effect otherwise',
      ),
      rule(
        '!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas',
        'minReplicas of a schedule must be at most its maxReplicas',
      ),
    ],
  },
};

/** Maps the path of a field (`spec.schedules[]`) to keywords that are added to the schema of the field. */
type SchemaAdditions = Readonly<Record<string, JsonSchema>>;

interface SchemaContext {
  readonly path: string;
  readonly additions: SchemaAdditions;
}

/** Keywords that mean the same in a CustomResourceDefinition and in JSON Schema. */
const KEPT: readonly string[] = [
  ...['type', 'enum', 'required', 'pattern'],
  ...['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'],
];
const TRANSLATED = ['description', 'default', 'const', 'properties', 'items', 'additionalProperties'];
const DROPPED = ['$schema', 'title', 'propertyNames'];

const WORDS: ReadonlySet<string> = new Set([...KEPT, ...TRANSLATED, ...DROPPED]);

/**
 * Converts a JSON Schema (draft 7) to a structural schema of a CustomResourceDefinition. Defaults become part of the
 * descriptions, because the API server must not write them into objects. Throws `Error` for an unknown keyword, which
 * would otherwise be ignored. Source: structural schemas, apiextensions.k8s.io/v1.
 */
export function structuralSchema(schema: unknown, context: SchemaContext): JsonSchema {
  const { path, additions } = context;
  if (!isPlainObject(schema))
    throw new Error(`building the structural schema of ${path}: it is not an object`);
  const unknown = Object.keys(schema).find((word) => !WORDS.has(word));
  if (unknown !== undefined)
    throw new Error(`building the structural schema of ${path}: unknown keyword ${unknown}`);
  const { const: only, properties, items, additionalProperties } = schema;
  const hasTypes = Array.isArray(schema['type']);
  const kept = KEPT.filter((word) => schema[word] !== undefined && !(word === 'type' && hasTypes));
  return {
    ...describedBy(schema),
    ...Object.fromEntries(kept.map((word) => [word, schema[word]])),
    ...severalTypes(schema),
    ...(only === undefined ? {} : { enum: [only] }),
    ...(isPlainObject(properties) ? { properties: structuralMembers(properties, context) } : {}),
    ...(items === undefined ? {} : { items: structuralSchema(items, { path: `${path}[]`, additions }) }),
    ...(isPlainObject(additionalProperties)
      ? {
          additionalProperties: structuralSchema(additionalProperties, { path: `${path}.NAME`, additions }),
        }
      : {}),
    ...additions[path],
  };
}

function structuralMembers(
  properties: JsonSchema,
  { path, additions }: SchemaContext,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [
      name,
      structuralSchema(field, { path: path === '' ? name : `${path}.${name}`, additions }),
    ]),
  );
}

/** Appends the default to the description, because `kubectl explain` shows only defaults that the API server sets. */
function describedBy({ description, default: value }: JsonSchema): JsonSchema {
  if (typeof description !== 'string') return {};
  return { description: value === undefined ? description : `${description} Default: ${shown(value)}.` };
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Converts a field with several types. It has no `type`, because a structural schema has only one type, and
 * int-or-string would reject 0.1. Instead, other keywords reject objects and lists that are not empty, and booleans.
 */
function severalTypes({ type: types, enum: values }: JsonSchema): JsonSchema {
  if (!Array.isArray(types)) return {};
  const open = { 'x-kubernetes-preserve-unknown-fields': true };
  if (values !== undefined) return open;
  return {
    ...open,
    ...(types.includes('object') ? {} : { maxProperties: 0 }),
    ...(types.includes('array') ? {} : { maxItems: 0 }),
    ...(types.includes('boolean') ? {} : { not: { enum: [true, false] } }),
  };
}

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
const STATUS_SCHEMA: JsonSchema = object('Current state of the scaler. Only promscaler writes it.', {
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
