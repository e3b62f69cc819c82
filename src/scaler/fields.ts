/** One field, as the manual and the JSON Schema describe it. */
export interface Field {
  /** `[]`: each entry of a list; `*`: any member of a metric that has the field; `NAME`: any name. */
  readonly path: string;
  readonly type: string;
  /** As the manual shows it; empty: must be written, or is absent. */
  readonly default: string;
  readonly range: string;
  /** One sentence. */
  readonly text: string;
}

const REPLICAS = '0 to 2147483647';
const NAME = 'DNS-1123 name';
const WINDOW = '0 to 86400';

/** Every field of the scaler document. A test holds it against the schema and against config/README.md. */
export const DOCUMENT_FIELDS: readonly Field[] = [
  row('apiVersion', 'text', '', 'promscaler.dev/v1', 'The version of this format.'),
  row('kind', 'text', '', 'Scaler', 'What this document is.'),
  row('metadata.name', 'text', '', NAME, 'What the scaler is called; unique in its namespace.'),
  row('metadata.namespace', 'text', '', NAME, 'Where the workload lives.'),
  row('metadata.labels', 'mapping', '{}', 'text to text', 'Yours; promscaler does not read them.'),
  row('metadata.annotations', 'mapping', '{}', 'text to text', 'Yours; promscaler does not read them.'),
  row(
    'spec.preset',
    'text',
    'hpa',
    'hpa, chpa, hpa-1.11',
    'Which defaults hold where the document says nothing.',
  ),
  row(
    'spec.scaleTargetRef.apiVersion',
    'text',
    'apps/v1',
    'GROUP/VERSION',
    'The API of the workload; the group counts, whatever version is written.',
  ),
  row(
    'spec.scaleTargetRef.kind',
    'text',
    'Deployment',
    'a kind with /scale',
    'The kind of the workload; not a DaemonSet, which has no replicas.',
  ),
  row('spec.scaleTargetRef.name', 'text', '', NAME, 'The name of the workload.'),
  row(
    'spec.minReplicas',
    'integer',
    '1',
    `${REPLICAS}, at most maxReplicas`,
    'The fewest replicas; 0 needs an Object or External metric.',
  ),
  row('spec.maxReplicas', 'integer', '', '1 to 2147483647', 'The most replicas.'),
  row(
    'spec.metrics[].type',
    'text',
    'the member that is there',
    'Resource, ContainerResource, Pods, Object, External',
    'The kind of the metric.',
  ),
  row(
    'spec.metrics[].*.name',
    'text',
    '',
    'cpu, memory',
    'The resource of a Resource or ContainerResource metric.',
  ),
  row('spec.metrics[].*.container', 'text', '', NAME, 'The container of a ContainerResource metric.'),
  row(
    'spec.metrics[].*.target.type',
    'text',
    'the member that is there',
    'Utilization, AverageValue, Value',
    'How the value is compared.',
  ),
  row(
    'spec.metrics[].*.target.averageUtilization',
    'integer',
    '',
    '1 to 2147483647',
    'Percent of the requests, on average over the pods; Resource and ContainerResource.',
  ),
  row('spec.metrics[].*.target.averageValue', 'quantity', '', 'above 0', 'Value for each pod; all types.'),
  row('spec.metrics[].*.target.value', 'quantity', '', 'above 0', 'Value as a whole; Object and External.'),
  row(
    'spec.metrics[].*.targetAverageUtilization',
    'integer',
    '',
    '1 to 2147483647',
    'As target.averageUtilization, in the older form of CHPA.',
  ),
  row(
    'spec.metrics[].*.targetAverageValue',
    'quantity',
    '',
    'above 0',
    'As target.averageValue, in the older form of CHPA.',
  ),
  row(
    'spec.metrics[].*.describedObject.apiVersion',
    'text',
    'apps/v1',
    'GROUP/VERSION',
    'The API of the object that an Object metric is about.',
  ),
  row('spec.metrics[].*.describedObject.kind', 'text', 'Deployment', 'a kind', 'The kind of that object.'),
  row(
    'spec.metrics[].*.describedObject.name',
    'text',
    '',
    NAME,
    'The name of that object: $object in the query.',
  ),
  row(
    'spec.metrics[].*.metric.name',
    'text',
    'taken from the query',
    'any text',
    'What the metric is called; unique among those of its type.',
  ),
  row(
    'spec.metrics[].*.metric.selector',
    'label selector',
    'everything',
    'matchLabels, matchExpressions',
    "Keeps the matching series of the query's answer.",
  ),
  row(
    'spec.metrics[].*.query',
    'PromQL',
    '',
    '',
    'The query that gives the value; it may use $namespace, $name, $pods and $object.',
  ),
  row(
    'spec.metrics[].*.source',
    'text',
    'default',
    'a data source of the service config',
    'Which Prometheus is asked.',
  ),
  row(
    'spec.metrics[].*.onMissing',
    'text',
    'error',
    'error, zero',
    'What no series means; Object and External.',
  ),
  row('spec.metrics[].*.onNaN', 'text', 'error', 'error, zero', 'What NaN alone means; Object and External.'),
  ...direction('scaleUp', '0', '4 pods or 100 % in 15 s'),
  ...direction('scaleDown', 'downscaleStabilizationSeconds', '100 % in 15 s'),
  row(
    'spec.tolerance',
    'number',
    '0.1',
    '0 to 1',
    'How far the ratio of value to target may be from 1 without a change.',
  ),
  row(
    'spec.scaleUpLimitFactor',
    'number',
    '2',
    'at least 1',
    'CHPA: one scale-up goes at most to this times the replicas; 2 without behavior, with behavior off unless this or the minimum is written.',
  ),
  row(
    'spec.scaleUpLimitMinimum',
    'integer',
    '4',
    'at least 1',
    'CHPA: up to this count the factor does not limit.',
  ),
  row(
    'spec.upscaleForbiddenWindowSeconds',
    'integer',
    '0',
    WINDOW,
    'CHPA: no scale-up for this long after the last one; 0 is off.',
  ),
  row(
    'spec.downscaleForbiddenWindowSeconds',
    'integer',
    '0',
    WINDOW,
    'CHPA: no scale-down for this long after the last one; 0 is off.',
  ),
  row(
    'spec.forbiddenWindowsSince',
    'text',
    'SameDirection',
    'SameDirection, AnyRescale',
    'Whether the windows run since the last change of the same direction or since any.',
  ),
  row(
    'spec.cpuInitializationPeriodSeconds',
    'integer',
    '300',
    WINDOW,
    'How long the cpu of a pod that has just started is not trusted.',
  ),
  row(
    'spec.initialReadinessDelaySeconds',
    'integer',
    '30',
    WINDOW,
    'How long after its start a pod that is not ready counts as never having been.',
  ),
  row(
    'spec.downscaleStabilizationSeconds',
    'integer',
    '300',
    '0 to 3600',
    'The highest recommendation of this window holds; 0 is off.',
  ),
  row('spec.syncPeriodSeconds', 'integer', '15', '1 to 3600', 'How often this workload is decided on.'),
  row('spec.dryRun', 'boolean', 'false', '', 'Decide, export and explain, never patch.'),
  row('spec.paused', 'boolean', 'false', '', 'Leave the replicas as they are.'),
  row(
    'spec.fallback',
    'mapping',
    '{}',
    'empty',
    'Not built in this version: only the empty mapping is taken.',
  ),
  row('spec.schedules', 'list', '[]', 'empty', 'Not built in this version: only the empty list is taken.'),
  row(
    'spec.podDeletionCost',
    'mapping',
    '{}',
    'empty',
    'Not built in this version: only the empty mapping is taken.',
  ),
];

function direction(name: 'scaleUp' | 'scaleDown', window: string, policies: string): readonly Field[] {
  const path = `spec.behavior.${name}`;
  const extreme = name === 'scaleUp' ? 'lowest' : 'highest';
  return [
    row(
      `${path}.stabilizationWindowSeconds`,
      'integer',
      window,
      '0 to 3600',
      `The ${extreme} recommendation of this window holds.`,
    ),
    row(
      `${path}.selectPolicy`,
      'text',
      'Max',
      'Max, Min, Disabled',
      'Which policy holds: the one that allows the largest change, the smallest, or none at all.',
    ),
    row(`${path}.policies[].type`, 'text', policies, 'Pods, Percent', 'What a policy counts.'),
    row(
      `${path}.policies[].value`,
      'integer',
      '',
      '1 to 2147483647',
      'How many of them may come or go in a period.',
    ),
    row(`${path}.policies[].periodSeconds`, 'integer', '', '1 to 1800', 'The period.'),
    row(`${path}.tolerance`, 'quantity', 'spec.tolerance', '0 to 1', 'The tolerance in this direction.'),
  ];
}

// Five columns of a table: a row of an object each would take four times the lines.
function row(
  ...[path, type, byDefault, range, text]: readonly [string, string, string, string, string]
): Field {
  return { path, type, default: byDefault, range, text };
}
