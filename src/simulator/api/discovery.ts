import type { JsonObject } from '../kinds/json.js';
import { type Catalog, type Resource, apiVersionOf } from '../objects/resources.js';
import { knownType } from '../kinds/known.js';
import type { ObjectType, ScalarType, Type } from '../kinds/type.js';
import { cached, groupBy } from '../../units/maps.js';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];

/**
 * Version of the kube-apiserver that the simulator imitates. `test/conformance` contains recorded answers of that
 * version.
 */
export const IMITATED_VERSION = '1.36.2';

const [MAJOR = '', MINOR = ''] = IMITATED_VERSION.split('.');

const SERVER_VERSION: JsonObject = {
  major: MAJOR,
  minor: MINOR,
  gitVersion: `v${IMITATED_VERSION}`,
  gitCommit: 'simulated',
  gitTreeState: 'clean',
  buildDate: '2025-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'simulated/any',
};

/** Answers a discovery request, in the unaggregated form; null: the path is not a discovery path. */
export function discover(catalog: Catalog, path: string, host: string): JsonObject | null {
  const [root, group, version, ...rest] = path.split('/').filter((part) => part !== '');
  if (rest.length > 0) return null;
  if (root === 'version' && group === undefined) return SERVER_VERSION;
  if (root === 'api' && group === undefined) return coreVersions(host);
  if (root === 'api' && group === 'v1' && version === undefined) return resourceList(catalog, '', 'v1');
  if (root !== 'apis') return null;
  if (group === undefined) {
    const groups = groupNames(catalog).map((name) => groupOf(catalog, name));
    return { kind: 'APIGroupList', apiVersion: 'v1', groups };
  }
  if (!groupNames(catalog).includes(group)) return null;
  if (version === undefined) return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(catalog, group) };
  return versionsOf(catalog, group).includes(version) ? resourceList(catalog, group, version) : null;
}

function coreVersions(host: string): JsonObject {
  const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress: host }];
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs };
}

function groupNames(catalog: Catalog): readonly string[] {
  const names = new Set(catalog.resources.map(({ group }) => group).filter((group) => group !== ''));
  return [...names, 'authorization.k8s.io'];
}

function versionsOf(catalog: Catalog, group: string): readonly string[] {
  if (group === 'authorization.k8s.io') return ['v1'];
  return [...new Set(catalog.resources.filter((r) => r.group === group).map(({ version }) => version))];
}

function groupOf(catalog: Catalog, name: string): JsonObject {
  const versions = versionsOf(catalog, name).map((version) => ({
    groupVersion: `${name}/${version}`,
    version,
  }));
  return { name, versions, preferredVersion: versions[0] };
}

function resourceList(catalog: Catalog, group: string, version: string): JsonObject {
  const served = catalog.resources.filter((r) => r.group === group && r.version === version);
  const resources = group === 'authorization.k8s.io' ? REVIEWS : served.flatMap(entriesOf);
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources,
  };
}

const REVIEWS: readonly JsonObject[] = ['SelfSubjectAccessReview', 'SelfSubjectRulesReview'].map((kind) => ({
  name: `${kind.toLowerCase()}s`,
  singularName: kind.toLowerCase(),
  namespaced: false,
  kind,
  verbs: ['create'],
}));

function entriesOf(resource: Resource): readonly JsonObject[] {
  const { plural, singular, namespaced, kind, shortNames, categories } = resource;
  const main: JsonObject = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: VERBS,
    shortNames: shortNames.length === 0 ? undefined : shortNames,
    categories: categories.length === 0 ? undefined : categories,
  };
  return [main, ...resource.subresources.map((name) => subresourceEntry(resource, name))];
}

function subresourceEntry(resource: Resource, name: 'status' | 'scale'): JsonObject {
  const entry = { name: `${resource.plural}/${name}`, singularName: '', namespaced: resource.namespaced };
  if (name === 'status') return { ...entry, kind: resource.kind, verbs: SUBRESOURCE_VERBS };
  return { ...entry, group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: SUBRESOURCE_VERBS };
}

/**
 * Returns the parts of an OpenAPI v3 document that kubectl reads; null: there is no document at the path. Each kind has
 * the parameter `fieldValidation`, so that `kubectl apply` and `create` leave the validation to the server. The schemas
 * are for `kubectl explain`; schemas of built-in kinds have no descriptions.
 */
export function describeOpenApi(catalog: Catalog, path: string): JsonObject | null {
  const groupVersions = groupBy(catalog.resources, (resource) => {
    const root = resource.group === '' ? 'api' : 'apis';
    return `${root}/${apiVersionOf(resource)}`;
  });
  if (path === '/openapi/v3') {
    const index: Record<string, JsonObject> = {};
    for (const key of groupVersions.keys()) index[key] = { serverRelativeURL: `/openapi/v3/${key}` };
    return { paths: index };
  }
  const wanted = path.startsWith('/openapi/v3/') ? path.slice('/openapi/v3/'.length) : '';
  const resources = groupVersions.get(wanted);
  if (resources === undefined) return null;
  const paths: Record<string, JsonObject> = {};
  for (const resource of resources) {
    const where = resource.namespaced ? '/namespaces/{namespace}' : '';
    paths[`/${wanted}${where}/${resource.plural}/{name}`] = { patch: patchOperation(resource) };
  }
  const info = { title: 'simulated', version: `v${IMITATED_VERSION}` };
  return { openapi: '3.0.0', info, paths, components: { schemas: schemasOf(resources) } };
}

function schemasOf(resources: readonly Resource[]): JsonObject {
  const schemas: Record<string, JsonObject> = {};
  for (const resource of resources) {
    const { group, version, kind } = resource;
    const known = knownType(apiVersionOf(resource), kind);
    const schema = known === null ? resource.schema : typeSchema(known);
    if (schema === null) continue;
    const names = group.split('.').reverse().join('.');
    schemas[`${names}.${version}.${kind}`] = {
      ...schema,
      'x-kubernetes-group-version-kind': [{ group, version, kind }],
    };
  }
  return schemas;
}

function patchOperation({ group, version, kind }: Resource): JsonObject {
  return {
    parameters: [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }],
    responses: { 200: { description: 'OK' } },
    'x-kubernetes-action': 'patch',
    'x-kubernetes-group-version-kind': { group, version, kind },
  };
}

const SCALAR_SCHEMAS: Readonly<Record<ScalarType['is'], JsonObject>> = {
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  bool: { type: 'boolean' },
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
  intOrString: { type: 'string', format: 'int-or-string' },
  string: { type: 'string' },
  quantity: { type: 'string' },
  any: { type: 'object' },
};

/** Returns the OpenAPI schema of a type, without descriptions. */
const typeSchema = cached((type: Type): JsonObject => {
  if (type.is === 'object') return objectSchema(type);
  if (type.is === 'map') return { type: 'object', additionalProperties: typeSchema(type.of) };
  if (type.is === 'list') return { type: 'array', items: typeSchema(type.of) };
  return SCALAR_SCHEMAS[type.is];
});

/** Returns the schema of an object, with the keys by which a strategic merge patch merges its lists. */
function objectSchema({ fields, isAtomic }: ObjectType): JsonObject {
  const properties = Object.entries(fields).map(([name, { type, fallback }]) => {
    const [key] = type.is === 'list' ? (type.keys ?? []) : [];
    const merge =
      key === undefined
        ? {}
        : { 'x-kubernetes-patch-merge-key': key, 'x-kubernetes-patch-strategy': 'merge' };
    return [name, { ...typeSchema(type), ...merge, default: fallback }] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    'x-kubernetes-map-type': isAtomic === true ? 'atomic' : undefined,
  };
}
