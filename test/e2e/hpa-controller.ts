/** Where the simulator keeps HorizontalPodAutoscalers. */
export const HPAS = 'autoscaling/horizontalpodautoscalers';

/** What the HPA controller writes once it has metrics. */
export const COMPUTED = {
  currentReplicas: 2,
  desiredReplicas: 2,
  currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageValue: '1m' } } }],
};
