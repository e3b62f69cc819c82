import type { JsonObject } from '../../src/simulator/kinds/json.js';

/** Builds a HorizontalPodAutoscaler that keeps a Deployment at 60 % of its cpu requests. */
export function hpaManifest(namespace: string, name: string, min: number): JsonObject {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, namespace },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      minReplicas: min,
      maxReplicas: 12,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
        },
      ],
    },
  };
}
