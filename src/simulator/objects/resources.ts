import type { JsonObject } from '../json.js';

/** A resource that the API serves. */
export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** `status` and `scale`, where they exist. */
  readonly subresources: readonly ('status' | 'scale')[];
  /** Whether `metadata.generation` counts changes of the spec. */
  readonly hasGeneration: boolean;
  /** Custom resources take no strategic merge patch. */
  readonly isCustom: boolean;
  /** Where its objects are stored: `GROUP/PLURAL`. Two versions or groups may share one place. */
  readonly storage: string;
  /** The apiVersion in which its objects are stored: that of another version or group where two share one place. */
  readonly storedAs: string;
  /** The structural schema of its CustomResourceDefinition; null where it has none. */
  readonly schema: JsonObject | null;
  /** Its `additionalPrinterColumns`; null for a resource without a CustomResourceDefinition. */
  readonly columns: readonly JsonObject[] | null;
}

/** The name of a resource without its version, as `Store` takes it: `apps/deployments`, `/pods`. */
export function storageName(group: string, plural: string): string {
  return `${group}/${plural}`;
}

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

/** A resource from its group, version, plural and kind; namespaced and without subresources unless said otherwise. */
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

/** What the API serves unless more is added. */
export const RESOURCES: readonly Resource[] = [
  core('namespaces', 'Namespace', { namespaced: false, shortNames: ['ns'], subresources: ['status'] }),
  core('nodes', 'Node', { namespaced: false, shortNames: ['no'], subresources: ['status'] }),
  core('pods', 'Pod', { shortNames: ['po'], categories: ALL, subresources: ['status'] }),
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

/** Finds resources by what a path or a manifest names. */
export class Catalog {
  #resources: Resource[];

  constructor(resources: readonly Resource[] = RESOURCES) {
    this.#resources = [...resources];
  }

  get resources(): readonly Resource[] {
    return this.#resources;
  }

  /** Serves one more resource from now on, as a CustomResourceDefinition does. */
  add(resource: Resource): void {
    this.#resources.push(resource);
  }

  /** Serves what a CustomResourceDefinition of this name (`PLURAL.GROUP`) defined no longer. */
  dropDefined(definition: string): void {
    this.#resources = this.#resources.filter(
      ({ schema, plural, group }) => schema === null || `${plural}.${group}` !== definition,
    );
  }

  /** By what stands in a path; null where it is not served. */
  byPath(group: string, version: string, plural: string): Resource | null {
    return (
      this.#resources.find((r) => r.group === group && r.version === version && r.plural === plural) ?? null
    );
  }

  /** By the apiVersion and kind of a manifest; null where it is not served. */
  byKind(apiVersion: string, kind: string): Resource | null {
    return this.#resources.find((r) => apiVersionOf(r) === apiVersion && r.kind === kind) ?? null;
  }
}

/** `apps/v1`, `v1`. */
export function apiVersionOf(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}
