import { autoscalerFromV1, autoscalerToV1 } from './autoscaler-v1.js';
import { type JsonObject, objectAt, stringAt } from '../../json/json.js';
import { knownType } from '../../kinds/known.js';
import type { KubeObject } from '../../objects/kube-object.js';
import { type Resource, apiVersionOf } from '../../objects/resources.js';

interface Texts {
  whole: string | null;
  item: string | null;
}

const TEXTS = new WeakMap<KubeObject, Map<string, Texts>>();

/**
 * Converts a stored object to the group and version of `resource`. Events are stored as core events and served in two
 * groups; HorizontalPodAutoscalers are stored in v2 and also served in v1.
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

/** Returns the JSON of an object, serialized once for all clients. */
export function wireText(resource: Resource, object: KubeObject): string {
  const texts = textsOf(resource, object);
  texts.whole ??= JSON.stringify(shownObject(resource, object));
  return texts.whole;
}

/** Same as `wireText`, for an item of a list: items of built-in kinds have no kind and apiVersion. */
export function itemText(resource: Resource, object: KubeObject): string {
  if (knownType(apiVersionOf(resource), resource.kind) === null) return wireText(resource, object);
  const texts = textsOf(resource, object);
  texts.item ??= JSON.stringify({
    ...shownObject(resource, object),
    kind: undefined,
    apiVersion: undefined,
  });
  return texts.item;
}

/** An object from a dry run has no resourceVersion. */
function shownObject(resource: Resource, object: KubeObject): JsonObject {
  const shown = toWire(resource, object);
  if (shown.metadata.resourceVersion !== '') return shown;
  return { ...shown, metadata: { ...shown.metadata, resourceVersion: undefined } };
}

function textsOf(resource: Resource, object: KubeObject): Texts {
  const apiVersion = apiVersionOf(resource);
  const known = TEXTS.get(object) ?? new Map<string, Texts>();
  const texts = known.get(apiVersion) ?? { whole: null, item: null };
  known.set(apiVersion, texts);
  TEXTS.set(object, known);
  return texts;
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
