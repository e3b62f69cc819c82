import { objectAt, stringAt } from '../json.js';
import type { KubeObject } from './objects.js';
import { type Resource, apiVersionOf } from './resources.js';

const TEXTS = new WeakMap<KubeObject, Map<string, string>>();

/**
 * An object as the group and version of `resource` write it. Only events are stored in one form (core) and served in
 * two.
 */
export function toWire(resource: Resource, object: KubeObject): KubeObject {
  const apiVersion = apiVersionOf(resource);
  if (object.apiVersion === apiVersion) return object;
  return resource.group === 'events.k8s.io' ? eventFromCore(object) : { ...object, apiVersion };
}

/** An object that a client sent, in the form that is stored. */
export function fromWire(resource: Resource, object: KubeObject): KubeObject {
  return resource.group === 'events.k8s.io' ? eventToCore(object) : object;
}

/** The JSON text of an object, written once however many clients get it. */
export function wireText(resource: Resource, object: KubeObject): string {
  const apiVersion = apiVersionOf(resource);
  const known = TEXTS.get(object) ?? new Map<string, string>();
  const text = known.get(apiVersion) ?? JSON.stringify(toWire(resource, object));
  known.set(apiVersion, text);
  TEXTS.set(object, known);
  return text;
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
    reportingController: reportingComponent ?? stringAt(source, 'component') ?? '',
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
    reportingComponent: reportingController,
    source: objectAt(deprecatedSource),
    firstTimestamp: deprecatedFirstTimestamp ?? null,
    lastTimestamp: deprecatedLastTimestamp ?? null,
    count: deprecatedCount,
  };
}
