import {
  type Json,
  type JsonObject,
  isObject,
  listAt,
  numberAt,
  objectAt,
  stringAt,
} from '../../json/json.js';
import type { KubeObject } from '../../objects/kube-object.js';

/**
 * The annotation in which autoscaling/v1 keeps the metrics that have no field. Source:
 * pkg/apis/autoscaling/annotations.go and v1/conversion.go.
 */
const METRICS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/metrics';

/** Returns the stored autoscaler as autoscaling/v1: CPU utilization in its field, other metrics in the annotation. */
export function autoscalerToV1(object: KubeObject): KubeObject {
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

/** Returns the stored form of an autoscaler in autoscaling/v1: first the metrics of the annotation, then CPU. */
export function autoscalerFromV1(object: KubeObject): KubeObject {
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

/** Returns null if the annotation is absent or unreadable; the annotation is then kept unchanged. */
function readKept(text: string | null): readonly Json[] | null {
  try {
    const value = JSON.parse(text ?? 'null') as unknown;
    return Array.isArray(value) ? (value as readonly Json[]) : null;
  } catch {
    return null;
  }
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
