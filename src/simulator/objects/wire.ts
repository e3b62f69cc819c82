import { type JsonObject, listAt, numberAt, objectAt, stringAt } from '../kinds/json.js';
import { knownType } from '../kinds/known.js';
import { type KubeObject, asKubeObject } from './kube-object.js';
import { type Resource, apiVersionOf } from './resources.js';
import { selectorText } from './selectors.js';

/** The JSON of objects, by the apiVersion in which they are shown; for items of lists, after `item `. */
const TEXTS = new WeakMap<KubeObject, Map<string, string>>();

/**
 * Converts a stored object to the group and version of `resource`. Events are stored as core events and served in two
 * groups. HorizontalPodAutoscalers are stored in v2 and also served in v1.
 */
export function toWire(resource: Resource, object: KubeObject): KubeObject {
  const apiVersion = apiVersionOf(resource);
  if (object.apiVersion === apiVersion) return object;
  if (resource.group === 'events.k8s.io') return eventFromCore(object);
  return isFirstAutoscaler(resource) ? autoscalerToV1(object) : { ...object, apiVersion };
}

export function fromWire(resource: Resource, object: KubeObject): KubeObject {
  if (resource.group === 'events.k8s.io') return eventToCore(object);
  return isFirstAutoscaler(resource) ? autoscalerFromV1(object) : object;
}

/** Returns an object as JSON. The JSON is cached, so that an object is serialized only once for all clients. */
export function wireText(resource: Resource, object: KubeObject): string {
  return cachedText(object, apiVersionOf(resource), () => shownObject(resource, object));
}

/** Returns an object as an item of a list. Items of built-in kinds have no kind and apiVersion. */
export function itemText(resource: Resource, object: KubeObject): string {
  if (knownType(apiVersionOf(resource), resource.kind) === null) return wireText(resource, object);
  const unnamed = { kind: undefined, apiVersion: undefined };
  return cachedText(object, `item ${apiVersionOf(resource)}`, () => ({
    ...shownObject(resource, object),
    ...unnamed,
  }));
}

/** Converts an object for an answer. An object of a dry run has an empty resourceVersion, which is omitted. */
function shownObject(resource: Resource, object: KubeObject): JsonObject {
  const shown = toWire(resource, object);
  if (shown.metadata.resourceVersion !== '') return shown;
  return { ...shown, metadata: { ...shown.metadata, resourceVersion: undefined } };
}

function cachedText(object: KubeObject, key: string, show: () => JsonObject): string {
  const texts = TEXTS.get(object) ?? new Map<string, string>();
  const text = texts.get(key) ?? JSON.stringify(show());
  TEXTS.set(object, texts.set(key, text));
  return text;
}

function isFirstAutoscaler({ group, version }: Resource): boolean {
  return group === 'autoscaling' && version === 'v1';
}

function eventFromCore(object: KubeObject): KubeObject {
  const {
    involvedObject,
    message,
    source,
    firstTimestamp,
    lastTimestamp,
    count,
    reportingComponent,
    ...rest
  } = object;
  return {
    ...rest,
    apiVersion: 'events.k8s.io/v1',
    regarding: involvedObject,
    note: message,
    reportingController: reportingComponent || (stringAt(source, 'component') ?? ''),
    reportingInstance: object['reportingInstance'] ?? '',
    deprecatedSource: objectAt(source),
    deprecatedFirstTimestamp: firstTimestamp ?? null,
    deprecatedLastTimestamp: lastTimestamp ?? null,
    deprecatedCount: count,
    eventTime: object['eventTime'] ?? null,
  };
}

function eventToCore(object: KubeObject): KubeObject {
  const { regarding, note, reportingController, deprecatedSource, ...rest } = object;
  const { deprecatedFirstTimestamp, deprecatedLastTimestamp, deprecatedCount, ...kept } = rest;
  return {
    ...kept,
    apiVersion: 'v1',
    involvedObject: regarding,
    message: note,
    reportingComponent: reportingController ?? '',
    reportingInstance: object['reportingInstance'] ?? '',
    source: objectAt(deprecatedSource),
    firstTimestamp: deprecatedFirstTimestamp ?? null,
    lastTimestamp: deprecatedLastTimestamp ?? null,
    count: deprecatedCount,
  };
}

/**
 * Converts an autoscaler to autoscaling/v1, which has a field only for CPU utilization. Unlike the real server, the
 * simulator keeps no other metrics in an annotation: `kubectl autoscale` is the only client of this version.
 */
function autoscalerToV1(object: KubeObject): KubeObject {
  const { scaleTargetRef, minReplicas, maxReplicas } = objectAt(object, 'spec');
  const cpu = listAt(object, 'spec', 'metrics').find(
    (metric) => stringAt(metric, 'resource', 'name') === 'cpu',
  );
  const percent = numberAt(cpu, 'resource', 'target', 'averageUtilization') ?? undefined;
  const { observedGeneration, lastScaleTime, currentReplicas, desiredReplicas } = objectAt(object, 'status');
  return {
    ...object,
    apiVersion: 'autoscaling/v1',
    spec: { scaleTargetRef, minReplicas, maxReplicas, targetCPUUtilizationPercentage: percent },
    status: {
      observedGeneration,
      lastScaleTime,
      currentReplicas: currentReplicas ?? 0,
      desiredReplicas: desiredReplicas ?? 0,
    },
  };
}

function autoscalerFromV1(object: KubeObject): KubeObject {
  const { targetCPUUtilizationPercentage: percent, ...spec } = objectAt(object, 'spec');
  const target = { type: 'Utilization', averageUtilization: percent };
  return {
    ...object,
    apiVersion: 'autoscaling/v2',
    spec: {
      ...spec,
      metrics: percent === undefined ? [] : [{ type: 'Resource', resource: { name: 'cpu', target } }],
    },
    status: { currentMetrics: null, ...objectAt(object, 'status') },
  };
}

/**
 * Returns the Scale of an object, always in autoscaling/v1. As in the real server, 0 replicas are omitted in the spec,
 * but not in the status. An object without `spec.replicas` has 1 replica.
 */
export function scaleOf(object: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = numberAt(object, 'spec', 'replicas') ?? 1;
  return asKubeObject({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas: numberAt(object, 'status', 'replicas') ?? 0, selector: selectorOf(object) },
  });
}

/** Returns the selector for `/scale`. Custom resources have it in `status.selector`, which their controller writes. */
function selectorOf(object: KubeObject): string | undefined {
  const text = stringAt(object, 'status', 'selector') ?? selectorText(objectAt(object, 'spec', 'selector'));
  return text === '' ? undefined : text;
}

/** Returns the object with the replicas of a Scale. Absent replicas count as 0. */
export function withScale(object: KubeObject, scale: JsonObject): KubeObject {
  const replicas = numberAt(scale, 'spec', 'replicas') ?? 0;
  return { ...object, spec: { ...objectAt(object, 'spec'), replicas } };
}
