import { condition, kind, labelSelector } from './meta.js';
import {
  type ObjectType,
  always,
  int32,
  int64,
  quantity,
  list,
  object,
  pointer,
  string,
  time,
} from './type.js';

const reference = object('CrossVersionObjectReference', {
  kind: always(string),
  name: always(string),
  apiVersion: string,
});

const amounts = object('MetricTarget', {
  type: always(string),
  value: pointer(quantity),
  averageValue: pointer(quantity),
  averageUtilization: pointer(int32),
});
const current = object('MetricValueStatus', {
  value: pointer(quantity),
  averageValue: pointer(quantity),
  averageUtilization: pointer(int32),
});
const identifier = object('MetricIdentifier', { name: always(string), selector: pointer(labelSelector) });

function metric(go: string, suffix: string, amount: Readonly<Record<string, ObjectType>>): ObjectType {
  const named = { name: always(string), ...amount };
  const source = { metric: identifier, ...amount };
  return object(go, {
    type: always(string),
    object: pointer(object(`ObjectMetric${suffix}`, { describedObject: reference, ...source })),
    pods: pointer(object(`PodsMetric${suffix}`, source)),
    resource: pointer(object(`ResourceMetric${suffix}`, named)),
    containerResource: pointer(
      object(`ContainerResourceMetric${suffix}`, { ...named, container: always(string) }),
    ),
    external: pointer(object(`ExternalMetric${suffix}`, source)),
  });
}

const rules = object('HPAScalingRules', {
  stabilizationWindowSeconds: pointer(int32),
  selectPolicy: pointer(string),
  policies: list(
    object('HPAScalingPolicy', { type: always(string), value: always(int32), periodSeconds: always(int32) }),
  ),
  tolerance: pointer(quantity),
});

export const AUTOSCALER_TYPES = {
  // Autoscalers are stored in this version.
  'autoscaling/v2/HorizontalPodAutoscaler': kind('HorizontalPodAutoscaler', {
    spec: object('HorizontalPodAutoscalerSpec', {
      scaleTargetRef: reference,
      minReplicas: pointer(int32, 1),
      maxReplicas: always(int32),
      metrics: list(metric('MetricSpec', 'Source', { target: amounts })),
      behavior: pointer(
        object('HorizontalPodAutoscalerBehavior', { scaleUp: pointer(rules), scaleDown: pointer(rules) }),
      ),
    }),
    status: object('HorizontalPodAutoscalerStatus', {
      observedGeneration: pointer(int64),
      lastScaleTime: pointer(time),
      currentReplicas: int32,
      desiredReplicas: always(int32),
      currentMetrics: always(list(metric('MetricStatus', 'Status', { current }))),
      conditions: list(condition, ['type']),
    }),
  }),
  // This version has a field only for CPU utilization.
  'autoscaling/v1/HorizontalPodAutoscaler': kind('HorizontalPodAutoscaler', {
    spec: object('HorizontalPodAutoscalerSpec', {
      scaleTargetRef: reference,
      minReplicas: pointer(int32, 1),
      maxReplicas: always(int32),
      targetCPUUtilizationPercentage: pointer(int32),
    }),
    status: object('HorizontalPodAutoscalerStatus', {
      observedGeneration: pointer(int64),
      lastScaleTime: pointer(time),
      currentReplicas: always(int32),
      desiredReplicas: always(int32),
      currentCPUUtilizationPercentage: pointer(int32),
    }),
  }),
} as const;
