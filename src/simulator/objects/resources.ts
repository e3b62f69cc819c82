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

type Extra = Partial<
  Pick<
    Resource,
    | 'namespaced'
    | 'shortNames'
    | 'categories'
    | 'subresources'
    | 'hasGeneration'
    | 'isCustom'
    | 'storage'
    | 'storedAs'
    | 'schema'
    | 'columns'
  >
>;

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

function core(plural: string, kind: string, extra: Extra = {}): Resource {
  return makeResource({ group: '', version: 'v1', plural, kind }, extra);
}

const ALL = ['all'];
const SCALED = { subresources: ['status', 'scale'], categories: ALL, hasGeneration: true } as const;

function apps(plural: string, kind: string, shortNames: readonly string[]): Resource {
  return makeResource({ group: 'apps', version: 'v1', plural, kind }, { ...SCALED, shortNames });
}

export const RESOURCES: readonly Resource[] = [
  core('namespaces', 'Namespace', { namespaced: false, shortNames: ['ns'], subresources: ['status'] }),
  core('nodes', 'Node', { namespaced: false, shortNames: ['no'], subresources: ['status'] }),
  core('pods', 'Pod', {
    ...{ shortNames: ['po'], categories: ALL, subresources: ['status'] },
    hasGeneration: true,
  }),
  core('services', 'Service', { shortNames: ['svc'], categories: ALL, subresources: ['status'] }),
  core('configmaps', 'ConfigMap', { shortNames: ['cm'] }),
  core('secrets', 'Secret'),
  core('serviceaccounts', 'ServiceAccount', { shortNames: ['sa'] }),
  core('events', 'Event', { shortNames: ['ev'], storage: storageName('', 'events') }),
  core('replicationcontrollers', 'ReplicationController', { ...SCALED, shortNames: ['rc'] }),
  apps('deployments', 'Deployment', ['deploy']),
  apps('statefulsets', 'StatefulSet', ['sts']),
  apps('replicasets', 'ReplicaSet', ['rs']),
  makeResource(
    { group: 'apps', version: 'v1', plural: 'daemonsets', kind: 'DaemonSet' },
    { shortNames: ['ds'], categories: ALL, subresources: ['status'], hasGeneration: true },
  ),
  makeResource(
    {
      group: 'autoscaling',
      version: 'v2',
      plural: 'horizontalpodautoscalers',
      kind: 'HorizontalPodAutoscaler',
    },
    { shortNames: ['hpa'], categories: ALL, subresources: ['status'] },
  ),
  makeResource(
    {
      group: 'autoscaling',
      version: 'v1',
      plural: 'horizontalpodautoscalers',
      kind: 'HorizontalPodAutoscaler',
    },
    { shortNames: ['hpa'], categories: ALL, subresources: ['status'], storedAs: 'autoscaling/v2' },
  ),
  makeResource(
    {
      group: 'apiextensions.k8s.io',
      version: 'v1',
      plural: 'customresourcedefinitions',
      kind: 'CustomResourceDefinition',
    },
    { namespaced: false, shortNames: ['crd', 'crds'], subresources: ['status'], hasGeneration: true },
  ),
  makeResource({ group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease' }),
  makeResource(
    { group: 'events.k8s.io', version: 'v1', plural: 'events', kind: 'Event' },
    { shortNames: ['ev'], storage: storageName('', 'events'), storedAs: 'v1' },
  ),
  makeResource(
    { group: 'argoproj.io', version: 'v1alpha1', plural: 'rollouts', kind: 'Rollout' },
    { shortNames: ['ro'], subresources: ['status', 'scale'], hasGeneration: true, isCustom: true },
  ),
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
