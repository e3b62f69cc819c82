/** Store of HorizontalPodAutoscalers in the simulator. */
export const HPAS = 'autoscaling/horizontalpodautoscalers';

/** Written by the HPA controller once it has metrics. */
export const COMPUTED = {
  currentReplicas: 2,
  desiredReplicas: 2,
  currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageValue: '1m' } } }],
};
