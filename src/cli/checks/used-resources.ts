import type { SourceContext } from './context.js';

export interface UsedResource {
  readonly resource: string;
  readonly namespaces: readonly string[];
}

export function usedResources({ source, scalers }: SourceContext): readonly UsedResource[] {
  const byResource = new Map<string, Set<string>>();
  for (const { namespace, spec } of scalers) {
    for (const metric of spec.metrics) {
      if (metric.type !== 'Resource' && metric.type !== 'ContainerResource') continue;
      if (metric.source !== source.name) continue;
      const namespaces = byResource.get(metric.name) ?? new Set<string>();
      byResource.set(metric.name, namespaces.add(namespace));
    }
  }
  return [...byResource].map(([resource, namespaces]) => ({ resource, namespaces: [...namespaces].sort() }));
}
