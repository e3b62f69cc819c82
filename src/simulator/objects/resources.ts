import type { JsonObject } from '../kinds/json.js';

export interface Resource {
  /** Empty: the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly ('status' | 'scale')[];
  /** Whether changes of the spec increase `metadata.generation`. */
  readonly hasGeneration: boolean;
  /** Whether the resource is a custom resource. Custom resources support no strategic merge patches. */
  readonly isCustom: boolean;
  /**
   * Key of the objects in the store: `GROUP/PLURAL`. Several versions or groups of a resource may share their objects.
   */
  readonly storage: string;
  /** apiVersion of the stored objects, which may differ from the apiVersion of the resource. */
  readonly storedAs: string;
  /** The structural schema of the CustomResourceDefinition; null: the resource is built in. */
  readonly schema: JsonObject | null;
  /** `additionalPrinterColumns`; null: the resource has no CustomResourceDefinition. */
  readonly columns: readonly JsonObject[] | null;
}

/** Returns the key of a resource in the store, such as `apps/deployments` or `/pods`. */
export function storageName(group: string, plural: string): string {
  return `${group}/${plural}`;
}

export const PODS = storageName('', 'pods');
export const NAMESPACES = storageName('', 'namespaces');

type Extra = Partial<Omit<Resource, 'group' | 'version' | 'plural' | 'singular' | 'kind'>>;

/** Returns a resource. By default, it is namespaced and has no subresources. */
export function makeResource(
  names: { readonly group: string; readonly version: string; readonly plural: string; readonly kind: string },
  extra: Extra = {},
): Resource {
  return {
    ...names,
    singular: names.kind.toLowerCase(),
    namespaced: true,
    shortNames: [],
    categories: [],
    subresources: [],
    hasGeneration: false,
    isCustom: false,
    storage: storageName(names.group, names.plural),
    storedAs: apiVersionOf(names),
    schema: null,
    columns: null,
    ...extra,
  };
}

/** Returns a resource whose plural is its kind and an `s`. */
function builtIn(apiVersion: string, kind: string, extra: Extra = {}): Resource {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return makeResource({ group, version, plural: `${kind.toLowerCase()}s`, kind }, extra);
}

const CLUSTER = { namespaced: false, subresources: ['status'] } as const;
const LISTED = { categories: ['all'], subresources: ['status'] } as const;
const RUN = { ...LISTED, hasGeneration: true } as const;
const SCALED = { ...RUN, subresources: ['status', 'scale'] } as const;
const EVENTS = { shortNames: ['ev'], storage: storageName('', 'events'), storedAs: 'v1' } as const;

export const RESOURCES: readonly Resource[] = [
  builtIn('v1', 'Namespace', { ...CLUSTER, shortNames: ['ns'] }),
  builtIn('v1', 'Node', { ...CLUSTER, shortNames: ['no'] }),
  builtIn('v1', 'Pod', { ...RUN, shortNames: ['po'] }),
  builtIn('v1', 'Service', { ...LISTED, shortNames: ['svc'] }),
  builtIn('v1', 'ConfigMap', { shortNames: ['cm'] }),
  builtIn('v1', 'Secret'),
  builtIn('v1', 'ServiceAccount', { shortNames: ['sa'] }),
  builtIn('v1', 'Event', EVENTS),
  builtIn('v1', 'ReplicationController', { ...SCALED, shortNames: ['rc'] }),
  builtIn('apps/v1', 'Deployment', { ...SCALED, shortNames: ['deploy'] }),
  builtIn('apps/v1', 'StatefulSet', { ...SCALED, shortNames: ['sts'] }),
  builtIn('apps/v1', 'ReplicaSet', { ...SCALED, shortNames: ['rs'] }),
  builtIn('apps/v1', 'DaemonSet', { ...RUN, shortNames: ['ds'] }),
  builtIn('autoscaling/v2', 'HorizontalPodAutoscaler', { ...LISTED, shortNames: ['hpa'] }),
  builtIn('autoscaling/v1', 'HorizontalPodAutoscaler', {
    ...LISTED,
    shortNames: ['hpa'],
    storedAs: 'autoscaling/v2',
  }),
  builtIn('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
    ...CLUSTER,
    shortNames: ['crd', 'crds'],
    hasGeneration: true,
  }),
  builtIn('coordination.k8s.io/v1', 'Lease'),
  builtIn('events.k8s.io/v1', 'Event', EVENTS),
  builtIn('argoproj.io/v1alpha1', 'Rollout', {
    ...SCALED,
    categories: [],
    shortNames: ['ro'],
    isCustom: true,
  }),
];

export class Catalog {
  #resources: Resource[];

  constructor(resources: readonly Resource[] = RESOURCES) {
    this.#resources = [...resources];
  }

  get resources(): readonly Resource[] {
    return this.#resources;
  }

  add(resource: Resource): void {
    this.#resources.push(resource);
  }

  /** Removes the resources of the CustomResourceDefinition of this name (`PLURAL.GROUP`). */
  dropDefined(definition: string): void {
    this.#resources = this.#resources.filter(
      ({ schema, plural, group }) => schema === null || `${plural}.${group}` !== definition,
    );
  }

  /** Returns the resource at a path; null: no such resource is served. */
  byPath(group: string, version: string, plural: string): Resource | null {
    return (
      this.#resources.find((r) => r.group === group && r.version === version && r.plural === plural) ?? null
    );
  }

  /** Returns the resource of a kind; null: no such resource is served. */
  byKind(apiVersion: string, kind: string): Resource | null {
    return this.#resources.find((r) => apiVersionOf(r) === apiVersion && r.kind === kind) ?? null;
  }
}

/** Returns for example `apps/v1` or `v1`. */
export function apiVersionOf(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}
