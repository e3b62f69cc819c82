import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import type { ConformanceRequest } from '../exchange.js';

export const NS = 'conformance';
export const apps = `/apis/apps/v1/namespaces/${NS}`;
export const core = `/api/v1/namespaces/${NS}`;
export const merge = { method: 'PATCH', type: 'application/merge-patch+json' } as const;

const CONTAINERS = [{ name: 'app', image: 'x', resources: { requests: { cpu: '100m' } } }];

export function deployment(name: string, spec: JsonObject): JsonObject {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels: { team: 'a' } },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: CONTAINERS } },
      ...spec,
    },
  };
}

export function pod(name: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'web' } },
    spec: { containers: CONTAINERS },
  };
}

/** Builds a merge patch of the scale of `web`. */
export function scale(
  query: string,
  spec: JsonObject,
  metadata?: JsonObject,
): Omit<ConformanceRequest, 'name'> {
  const body = metadata === undefined ? { spec } : { metadata, spec };
  return { ...merge, path: `${apps}/deployments/web/scale${query}`, body };
}
