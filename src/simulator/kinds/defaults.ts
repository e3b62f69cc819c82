import {
  type Json,
  type JsonObject,
  isObject,
  listAt,
  objectAt,
  stringAt,
  stringsAt,
  valueAt,
} from './json.js';

const UP_POLICIES = [
  { type: 'Pods', value: 4, periodSeconds: 15 },
  { type: 'Percent', value: 100, periodSeconds: 15 },
];
const DOWN_POLICIES = [{ type: 'Percent', value: 100, periodSeconds: 15 }];
const CPU = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};
const TOLERATIONS = ['not-ready', 'unreachable'].map((condition) => ({
  key: `node.kubernetes.io/${condition}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

/** Sets defaults that depend on more than one field. Defaults of single fields must be set already. */
export function fillDefaults(object: JsonObject): JsonObject {
  switch (`${stringAt(object, 'apiVersion') ?? ''}/${stringAt(object, 'kind') ?? ''}`) {
    case 'apps/v1/Deployment':
      return withTemplate(withRolling(object, 'strategy', { maxUnavailable: '25%', maxSurge: '25%' }));
    case 'apps/v1/StatefulSet':
      return withTemplate(withRolling(object, 'updateStrategy', { partition: 0 }));
    case 'apps/v1/DaemonSet':
      return withTemplate(withRolling(object, 'updateStrategy', { maxUnavailable: 1, maxSurge: 0 }));
    case 'apps/v1/ReplicaSet':
      return withTemplate(object);
    case 'v1/ReplicationController':
      return withTemplate(ofReplicationController(object));
    case 'v1/Pod':
      return ofPod(object);
    case 'v1/Secret':
      return ofSecret(object);
    case 'v1/Namespace':
      return ofNamespace(object);
    case 'autoscaling/v2/HorizontalPodAutoscaler':
      return withSpec(object, {
        metrics: listAt(object, 'spec', 'metrics').length === 0 ? [CPU] : valueAt(object, 'spec', 'metrics'),
        behavior: behavior(valueAt(object, 'spec', 'behavior')),
      });
    default:
      return object;
  }
}

function withSpec(object: JsonObject, change: JsonObject): JsonObject {
  const members = Object.entries(change).filter(([, member]) => member !== undefined);
  return { ...object, spec: { ...objectAt(object, 'spec'), ...Object.fromEntries(members) } };
}

function withRolling(object: JsonObject, member: string, fallback: JsonObject): JsonObject {
  const strategy = objectAt(object, 'spec', member);
  const rollingUpdate = { ...fallback, ...objectAt(strategy, 'rollingUpdate') };
  const isRolling = strategy['type'] === 'RollingUpdate';
  return withSpec(object, { [member]: isRolling ? { ...strategy, rollingUpdate } : strategy });
}

function withTemplate(object: JsonObject): JsonObject {
  const template = valueAt(object, 'spec', 'template');
  if (!isObject(template)) return object;
  return withSpec(object, { template: { ...template, spec: withPullPolicies(objectAt(template, 'spec')) } });
}

function ofReplicationController(object: JsonObject): JsonObject {
  const labels = objectAt(object, 'spec', 'template', 'metadata')['labels'];
  return valueAt(object, 'spec', 'selector') === undefined ? withSpec(object, { selector: labels }) : object;
}

/**
 * Sets the pull policy of containers: `Always` for images without a tag or with the tag `latest`, otherwise
 * `IfNotPresent`.
 */
function withPullPolicies(spec: JsonObject): JsonObject {
  const pulled = (container: Json): Json =>
    isObject(container) && container['imagePullPolicy'] === undefined
      ? { ...container, imagePullPolicy: pullPolicy(stringAt(container, 'image') ?? '') }
      : container;
  const lists = ['containers', 'initContainers'].filter((member) => spec[member] !== undefined);
  return { ...spec, ...Object.fromEntries(lists.map((list) => [list, listAt(spec, list).map(pulled)])) };
}

function pullPolicy(image: string): string {
  if (image.includes('@')) return 'IfNotPresent';
  const tag = /:([^:/]+)$/.exec(image)?.[1] ?? 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function ofPod(object: JsonObject): JsonObject {
  const spec = withPullPolicies(objectAt(object, 'spec'));
  return {
    ...object,
    spec: admittedPodSpec(spec),
    status: { phase: 'Pending', qosClass: qosClass(spec), ...objectAt(object, 'status') },
  };
}

/** Returns a pod spec with what the default admission plug-ins add, such as tolerations. */
export function admittedPodSpec(spec: JsonObject): JsonObject {
  const tolerations = listAt(spec, 'tolerations');
  const missing = TOLERATIONS.filter(({ key }) => !tolerations.some((one) => stringAt(one, 'key') === key));
  return {
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
    ...spec,
    tolerations: [...tolerations, ...missing],
  };
}

/** Returns the QoS class. Guaranteed: the limits of CPU and memory of all containers equal the requests. */
function qosClass(spec: JsonObject): string {
  const containers = [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')];
  const amounts = containers.map((container) => objectAt(container, 'resources'));
  const isBare = amounts.every(
    (amount) =>
      Object.keys(objectAt(amount, 'requests')).length === 0 &&
      Object.keys(objectAt(amount, 'limits')).length === 0,
  );
  if (isBare) return 'BestEffort';
  const isGuaranteed = amounts.every((amount) =>
    ['cpu', 'memory'].every((resource) => {
      const limit = valueAt(amount, 'limits', resource);
      return limit !== undefined && (valueAt(amount, 'requests', resource) ?? limit) === limit;
    }),
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

/** Moves `stringData` to `data`, which is in base64. */
function ofSecret(object: JsonObject): JsonObject {
  const { stringData, ...rest } = object;
  if (!isObject(stringData)) return rest;
  const encoded = Object.entries(stringsAt(object, 'stringData')).map(
    ([key, text]) => [key, Buffer.from(text).toString('base64')] as const,
  );
  return { ...rest, data: { ...objectAt(object, 'data'), ...Object.fromEntries(encoded) } };
}

function ofNamespace(object: JsonObject): JsonObject {
  const metadata = objectAt(object, 'metadata');
  const name = { 'kubernetes.io/metadata.name': stringAt(metadata, 'name') ?? '' };
  return {
    ...object,
    metadata: { ...metadata, labels: { ...objectAt(metadata, 'labels'), ...name } },
    spec: { finalizers: ['kubernetes'], ...objectAt(object, 'spec') },
    status: { phase: 'Active', ...objectAt(object, 'status') },
  };
}

function behavior(value: Json | undefined): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const { scaleUp, scaleDown } = value;
  const up = { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: UP_POLICIES };
  const down = { selectPolicy: 'Max', policies: DOWN_POLICIES };
  return {
    scaleUp: { ...up, ...objectAt(scaleUp) },
    scaleDown: { ...down, ...objectAt(scaleDown) },
  };
}
