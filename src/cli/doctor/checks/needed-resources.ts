import type { SourceInquiry } from '../inquiry.js';

/** A resource that documents ask a data source for. */
export interface NeededResource {
  readonly resource: string;
  /** Of those documents, sorted. */
  readonly namespaces: readonly string[];
}

/** The resources that the documents ask this data source for. */
export function neededResources({ source, scalers }: SourceInquiry): readonly NeededResource[] {
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
