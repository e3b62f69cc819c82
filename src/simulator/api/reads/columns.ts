import {
  type Json,
  type JsonObject,
  isObject,
  listAt,
  numberAt,
  objectAt,
  stringAt,
  stringsAt,
  valueAt,
  isList,
} from '../../kinds/json.js';
import type { KubeObject } from '../../objects/kube-object.js';
import type { Resource } from '../../objects/resources.js';

/** Descriptions of the columns of pods, as in the answers of the real server. */
const COLUMN_TEXTS: Readonly<Record<string, string>> = {
  Name: 'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  Ready: 'The aggregate readiness state of this pod for accepting traffic.',
  Status: 'The aggregate status of the containers in this pod.',
  Restarts:
    'The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.',
  Age: 'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
  IP: 'podIP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated.',
  Node: 'NodeName indicates in which node this pod is scheduled. If empty, this pod is a candidate for scheduling by the scheduler defined in schedulerName. Once this field is set, the kubelet for this node becomes responsible for the lifecycle of this pod. This field should not be used to express a desire for the pod to be scheduled on a specific node. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename',
  'Nominated Node':
    'nominatedNodeName is set only when this pod preempts other pods on the node, but it cannot be scheduled right away as preemption victims receive their graceful termination periods. This field does not guarantee that the pod will be scheduled on this node. Scheduler may decide to place the pod elsewhere if other nodes become available sooner. Scheduler may also decide to give the resources on this node to a higher priority pod that is created after preemption. As a result, this field may be different than PodSpec.nodeName when the pod is scheduled.',
  'Readiness Gates':
    'If specified, all readiness gates will be evaluated for pod readiness. A pod is ready when all its containers are ready AND all conditions specified in the readiness gates have status equal to "True" More info: https://git.k8s.io/enhancements/keps/sig-network/580-pod-readiness-gates',
};

/** A column of `kubectl get`. A column with priority 1 is only shown with `-o wide`. */
interface Column {
  readonly name: string;
  readonly priority?: number;
  /** Default: `string`. */
  readonly type?: string;
  readonly description?: string;
  readonly cell: (object: KubeObject, nowMs: number) => Json;
}

/** Returns the columns of a resource. A custom resource without `additionalPrinterColumns` has only Name and Age. */
export function columnsOf({ columns, plural }: Resource): readonly Column[] {
  if (columns === null) return COLUMNS[plural] ?? [NAME, AGE];
  if (columns.length === 0) return [NAME, AGE];
  return [NAME, ...columns.map(definedColumn)];
}

function definedColumn(column: JsonObject): Column {
  const type = stringAt(column, 'type') ?? 'string';
  return {
    name: stringAt(column, 'name') ?? '',
    priority: numberAt(column, 'priority') ?? 0,
    type: type === 'date' ? 'string' : type,
    cell: (object, nowMs) => {
      const value = printedCell(object, column);
      return type === 'date' && typeof value === 'string' ? ageOf(value, nowMs) : value;
    },
  };
}

/** Formats a duration like kubectl, such as 45s, 3m20s, 25m, 4h10m, 30h, 3d4h or 12d. */
function shortDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  return days < 8 ? withRest(days, 'd', hours % 24, 'h') : `${days}d`;
}

function withRest(count: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${count}${unit}` : `${count}${unit}${rest}${restUnit}`;
}

function ageOf(text: string | null, nowMs: number): string {
  const ms = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? '<unknown>' : shortDuration(nowMs - ms);
}

const NAME: Column = {
  name: 'Name',
  description: COLUMN_TEXTS['Name'] ?? '',
  cell: ({ metadata }) => metadata.name,
};
const AGE: Column = {
  name: 'Age',
  description: COLUMN_TEXTS['Age'] ?? '',
  cell: ({ metadata }, nowMs) => ageOf(metadata.creationTimestamp, nowMs),
};

function count(name: string, ...path: readonly string[]): Column {
  return { name, cell: (object) => numberAt(object, ...path) ?? 0 };
}

function text(name: string, ...path: readonly string[]): Column {
  return { name, cell: (object) => stringAt(object, ...path) ?? '' };
}

function ready(name: string): Column {
  return {
    name,
    cell: (object) =>
      `${numberAt(object, 'status', 'readyReplicas') ?? 0}/${numberAt(object, 'spec', 'replicas') ?? 1}`,
  };
}

function ofContainers(name: string, field: string): Column {
  const cell = (object: KubeObject): string =>
    listAt(object, 'spec', 'template', 'spec', 'containers')
      .map((container) => stringAt(container, field) ?? '')
      .join(',');
  return { name, priority: 1, cell };
}

const CONTAINERS = ofContainers('Containers', 'name');
const IMAGES = ofContainers('Images', 'image');
const SELECTOR: Column = {
  name: 'Selector',
  priority: 1,
  cell: (object) =>
    Object.entries(stringsAt(object, 'spec', 'selector', 'matchLabels'))
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
};

function podStatus(object: KubeObject): string {
  if (object.metadata['deletionTimestamp'] !== undefined) return 'Terminating';
  const waiting = stringAt(object, 'status', 'containerStatuses', 0, 'state', 'waiting', 'reason');
  return waiting ?? stringAt(object, 'status', 'reason') ?? stringAt(object, 'status', 'phase') ?? 'Unknown';
}

function podReady(object: KubeObject): string {
  const total = listAt(object, 'spec', 'containers').length;
  const statuses = listAt(object, 'status', 'containerStatuses');
  return `${statuses.filter((status) => isObject(status) && status['ready'] === true).length}/${total}`;
}

function podRestarts(object: KubeObject): string {
  const counts = listAt(object, 'status', 'containerStatuses').map((status) =>
    numberAt(status, 'restartCount'),
  );
  return String(counts.reduce<number>((sum, one) => sum + (one ?? 0), 0));
}

function hpaTargets(object: KubeObject): string {
  const metrics = listAt(object, 'spec', 'metrics').map((metric) => {
    const name = stringAt(metric, 'resource', 'name') ?? stringAt(metric, 'type') ?? '';
    const target = objectAt(metric, 'resource', 'target');
    const percent = numberAt(target, 'averageUtilization');
    return percent === null ? `${name}: <unknown>` : `${name}: <unknown>/${percent}%`;
  });
  return metrics.length === 0 ? '<none>' : metrics.join(', ');
}

const replicaSet: readonly Column[] = [
  NAME,
  count('Desired', 'spec', 'replicas'),
  count('Current', 'status', 'replicas'),
  count('Ready', 'status', 'readyReplicas'),
  AGE,
  CONTAINERS,
  IMAGES,
  SELECTOR,
];

function orNone(name: string, ...path: readonly string[]): Column {
  return { name, priority: 1, cell: (object) => stringAt(object, ...path) || '<none>' };
}

const BARE_POD_COLUMNS: readonly Column[] = [
  NAME,
  { name: 'Ready', cell: podReady },
  { name: 'Status', cell: podStatus },
  { name: 'Restarts', cell: podRestarts },
  AGE,
  orNone('IP', 'status', 'podIP'),
  orNone('Node', 'spec', 'nodeName'),
  orNone('Nominated Node', 'status', 'nominatedNodeName'),
  { name: 'Readiness Gates', priority: 1, cell: () => '<none>' },
];
const POD_COLUMNS = BARE_POD_COLUMNS.map((column) => ({
  ...column,
  description: COLUMN_TEXTS[column.name] ?? '',
}));

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  deployments: [
    NAME,
    ready('Ready'),
    count('Up-to-date', 'status', 'updatedReplicas'),
    count('Available', 'status', 'availableReplicas'),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
  ],
  rollouts: [
    NAME,
    count('Desired', 'spec', 'replicas'),
    count('Current', 'status', 'replicas'),
    count('Up-to-date', 'status', 'updatedReplicas'),
    count('Available', 'status', 'availableReplicas'),
    AGE,
  ],
  statefulsets: [NAME, ready('Ready'), AGE, CONTAINERS, IMAGES],
  replicasets: replicaSet,
  replicationcontrollers: replicaSet,
  pods: POD_COLUMNS,
  customresourcedefinitions: [NAME, text('Created At', 'metadata', 'creationTimestamp')],
  namespaces: [NAME, text('Status', 'status', 'phase'), AGE],
  nodes: [
    NAME,
    {
      name: 'Status',
      cell: (object) =>
        [
          listAt(object, 'status', 'conditions').some(
            (one) => stringAt(one, 'type') === 'Ready' && stringAt(one, 'status') === 'True',
          )
            ? 'Ready'
            : 'NotReady',
          ...(valueAt(object, 'spec', 'unschedulable') === true ? ['SchedulingDisabled'] : []),
        ].join(','),
    },
    AGE,
  ],
  configmaps: [NAME, { name: 'Data', cell: (object) => Object.keys(objectAt(object, 'data')).length }, AGE],
  leases: [NAME, text('Holder', 'spec', 'holderIdentity'), AGE],
  horizontalpodautoscalers: [
    NAME,
    {
      name: 'Reference',
      cell: (object) =>
        `${stringAt(object, 'spec', 'scaleTargetRef', 'kind') ?? ''}/${stringAt(object, 'spec', 'scaleTargetRef', 'name') ?? ''}`,
    },
    { name: 'Targets', cell: hpaTargets },
    { name: 'MinPods', cell: (object) => String(numberAt(object, 'spec', 'minReplicas') ?? 1) },
    count('MaxPods', 'spec', 'maxReplicas'),
    count('Replicas', 'status', 'currentReplicas'),
    AGE,
  ],
  events: [
    {
      name: 'Last Seen',
      cell: (object, nowMs) =>
        ageOf(
          stringAt(object, 'series', 'lastObservedTime') ??
            stringAt(object, 'lastTimestamp') ??
            stringAt(object, 'eventTime') ??
            object.metadata.creationTimestamp,
          nowMs,
        ),
    },
    text('Type', 'type'),
    text('Reason', 'reason'),
    {
      name: 'Object',
      cell: (object) =>
        `${(stringAt(object, 'involvedObject', 'kind') ?? '').toLowerCase()}/${stringAt(object, 'involvedObject', 'name') ?? ''}`,
    },
    { name: 'Message', cell: (object) => (stringAt(object, 'message') ?? '').trim() },
  ],
};

const STEP =
  /^\.([^.[\]\\]*(?:\\.[^.[\]\\]*)*)|^\[(\d+)\]|^\[\?\(@\.([\w.]+)\s*==\s*(["'])(.*?)\4\)\]|^\['([^']*)'\]/;

/**
 * Returns the values at a JSONPath; empty: there is no value, or the path is not supported. Supports the steps that
 * CustomResourceDefinitions use: `.a.b`, `[0]`, `['a']`, `[?(@.type=="Ready")]`.
 */
export function valuesAt(object: JsonObject, path: string): readonly Json[] {
  let found: readonly Json[] = [object];
  let rest = path;
  while (rest !== '') {
    const step = STEP.exec(rest);
    if (step === null) return [];
    const [whole, member, index, filtered, , wanted, quoted] = step;
    rest = rest.slice(whole.length);
    if (index !== undefined) found = found.flatMap((one) => (isList(one) ? present(one[Number(index)]) : []));
    else if (filtered !== undefined) {
      const items = found.flatMap((one) => (isList(one) ? one : []));
      found = items.filter((item) => stringAt(item, ...filtered.split('.')) === wanted);
    } else {
      const name = quoted ?? (member ?? '').replaceAll('\\.', '.');
      found = found.flatMap((one) => (isObject(one) ? present(one[name]) : []));
    }
  }
  return found;
}

/**
 * Returns a list with the value; empty: the value is undefined. If the value is a list, `flatMap` flattens only the
 * outer list.
 */
function present(value: Json | undefined): readonly Json[] {
  return value === undefined ? [] : [value];
}

/** Returns the cell of a printer column: the first value at its path, or null. */
export function printedCell(object: JsonObject, column: JsonObject): Json {
  const [value = null] = valuesAt(object, stringAt(column, 'jsonPath') ?? '');
  if (value === null) return null;
  const isNumber = column['type'] === 'integer' || column['type'] === 'number';
  if (isNumber) return typeof value === 'number' ? value : null;
  if (column['type'] === 'boolean') return typeof value === 'boolean' ? value : null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
