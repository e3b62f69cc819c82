import type { JsonObject } from '../../json/json.js';
import { knownType } from '../../kinds/known.js';
import { typeSchema } from '../../kinds/type-schema.js';
import { IMITATED_VERSION } from './discovery.js';
import { type Catalog, type Resource, apiVersionOf } from '../../objects/resources.js';

/**
 * Returns the parts of the OpenAPI v3 document at a path that kubectl reads: `fieldValidation` of each kind, so `apply`
 * and `create` leave validation to the server, and the schemas for `explain`, without descriptions for built-in kinds.
 * Returns null for any other path.
 */
export function describeOpenApi(catalog: Catalog, path: string): JsonObject | null {
  const groupVersions = new Map<string, Resource[]>();
  for (const resource of catalog.resources) {
    const root = resource.group === '' ? 'api' : 'apis';
    const key = `${root}/${apiVersionOf(resource)}`;
    groupVersions.set(key, [...(groupVersions.get(key) ?? []), resource]);
  }
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
