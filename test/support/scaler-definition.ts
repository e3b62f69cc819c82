import type { JsonObject } from '../../src/simulator/kinds/json.js';

/** Builds the CRD of scalers for tests of the service: it accepts every spec and every status. */
export function scalerDefinition(): JsonObject {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'scalers.promscaler.dev' },
    spec: {
      group: 'promscaler.dev',
      scope: 'Namespaced',
      names: { plural: 'scalers', singular: 'scaler', kind: 'Scaler', listKind: 'ScalerList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
        },
      ],
    },
  };
}
