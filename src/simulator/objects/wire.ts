import { parseJson } from '../../units/json-bounds.js';
import { type JsonObject, objectAt, stringAt, type Json, isObject, listAt, numberAt } from '../kinds/json.js';
import { knownType } from '../kinds/known.js';
import { type KubeObject, asKubeObject } from './kube-object.js';
import { type Resource, apiVersionOf } from './resources.js';
import { selectorText } from './selectors.js';

interface Texts {
  whole: string | null;
  item: string | null;
}

const TEXTS = new WeakMap<KubeObject, Map<string, Texts>>();

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
  const texts = textsOf(resource, object);
  texts.whole ??= JSON.stringify(shownObject(resource, object));
  return texts.whole;
}

/** Returns an object as an item of a list. Items of built-in kinds have no kind and apiVersion. */
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

/** Converts an object for an answer. An object of a dry run has an empty resourceVersion, which is omitted. */
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

/**
 * The annotation for the metrics that have no field in autoscaling/v1. Source: pkg/apis/autoscaling/annotations.go and
 * v1/conversion.go.
 */
const METRICS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/metrics';

/** Converts an autoscaler to autoscaling/v1: CPU utilization to its field, other metrics to the annotation. */
function autoscalerToV1(object: KubeObject): KubeObject {
  const { scaleTargetRef, minReplicas, maxReplicas } = objectAt(object, 'spec');
  const spec = { scaleTargetRef, minReplicas, maxReplicas };
  const metrics = listAt(object, 'spec', 'metrics');
  const cpu = metrics.find((metric) => cpuPercent(metric) !== null);
  const percent = cpuPercent(cpu);
  const others = metrics.filter((metric) => cpuPercent(metric) === null);
  const { observedGeneration, lastScaleTime, currentReplicas, desiredReplicas } = objectAt(object, 'status');
  return {
    ...object,
    apiVersion: 'autoscaling/v1',
    metadata:
      others.length === 0 ? object.metadata : annotated(object, JSON.stringify(others.map(metricToV1))),
    spec: percent === null ? spec : { ...spec, targetCPUUtilizationPercentage: percent },
    status: {
      observedGeneration,
      lastScaleTime,
      currentReplicas: currentReplicas ?? 0,
      desiredReplicas: desiredReplicas ?? 0,
    },
  };
}

/** Converts an autoscaler from autoscaling/v1 to the stored form: first the metrics in the annotation, then CPU. */
function autoscalerFromV1(object: KubeObject): KubeObject {
  const { targetCPUUtilizationPercentage: percent, ...spec } = objectAt(object, 'spec');
  const target = { type: 'Utilization', averageUtilization: percent };
  const cpu = percent === undefined ? [] : [{ type: 'Resource', resource: { name: 'cpu', target } }];
  const kept = readKept(stringAt(object, 'metadata', 'annotations', METRICS_ANNOTATION));
  const status = { currentMetrics: null, ...objectAt(object, 'status') };
  return {
    ...object,
    apiVersion: 'autoscaling/v2',
    metadata: kept === null ? object.metadata : annotated(object, undefined),
    spec: { ...spec, metrics: [...(kept ?? []).map(metricFromV1), ...cpu] },
    status,
  };
}

function cpuPercent(metric: Json | undefined): number | null {
  const isCpu = stringAt(metric, 'resource', 'name') === 'cpu';
  return isCpu ? numberAt(metric, 'resource', 'target', 'averageUtilization') : null;
}

function annotated({ metadata }: KubeObject, text: string | undefined): KubeObject['metadata'] {
  const all = Object.entries(objectAt(metadata, 'annotations'));
  const others = Object.fromEntries(all.filter(([key]) => key !== METRICS_ANNOTATION));
  const annotations = text === undefined ? others : { ...others, [METRICS_ANNOTATION]: text };
  return { ...metadata, annotations };
}

/** Returns the metrics in the annotation; null: there is no annotation, or it is invalid and is kept unchanged. */
function readKept(text: string | null): readonly Json[] | null {
  const value = parseJson(text ?? 'null');
  return Array.isArray(value) ? (value as readonly Json[]) : null;
}

function memberOf(metric: Json): string {
  const type = stringAt(metric, 'type') ?? '';
  return type.slice(0, 1).toLowerCase() + type.slice(1);
}

function metricToV1(metric: Json): Json {
  const member = memberOf(metric);
  const { target, metric: named, describedObject, ...rest } = objectAt(metric, member);
  const value = isObject(target) ? target : {};
  const written: JsonObject = {
    ...rest,
    ...(describedObject === undefined ? {} : { target: describedObject }),
    ...nameToV1(named, member),
    targetAverageUtilization: value['averageUtilization'],
    [member === 'object' ? 'averageValue' : 'targetAverageValue']: value['averageValue'],
    targetValue: value['value'],
  };
  return { type: stringAt(metric, 'type') ?? '', [member]: written };
}

function nameToV1(metric: Json | undefined, member: string): JsonObject {
  if (!isObject(metric)) return {};
  const selector = member === 'external' ? 'metricSelector' : 'selector';
  return { metricName: metric['name'], [selector]: metric['selector'] };
}

function metricFromV1(metric: Json): Json {
  const member = memberOf(metric);
  const written = objectAt(metric, member);
  const { target: describedObject, metricName, metricSelector, selector, ...rest } = written;
  const { targetAverageUtilization, targetAverageValue, averageValue, targetValue, ...own } = rest;
  const mean = targetAverageValue ?? averageValue;
  const target = {
    ...(targetAverageUtilization === undefined
      ? {}
      : { type: 'Utilization', averageUtilization: targetAverageUtilization }),
    ...(mean === undefined ? {} : { type: 'AverageValue', averageValue: mean }),
    ...(targetValue === undefined || mean !== undefined ? {} : { type: 'Value', value: targetValue }),
  };
  const chosen = metricSelector ?? selector;
  const named = { name: metricName, ...(chosen === undefined ? {} : { selector: chosen }) };
  return {
    type: stringAt(metric, 'type') ?? '',
    [member]: {
      ...own,
      ...(describedObject === undefined ? {} : { describedObject }),
      ...(metricName === undefined ? {} : { metric: named }),
      target,
    },
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
