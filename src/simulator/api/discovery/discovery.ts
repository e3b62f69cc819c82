import type { JsonObject } from '../../json/json.js';
import { type Catalog, type Resource, apiVersionOf } from '../../objects/resources.js';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];

/** Version of the kube-apiserver that the simulator imitates; `test/conformance` has its recorded answers. */
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

/** Answers a discovery path in the unaggregated form. Returns null for any other path. */
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
