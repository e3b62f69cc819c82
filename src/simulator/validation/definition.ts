import { type Json, type JsonObject, isObject, listAt, objectAt, stringAt, valueAt } from '../kinds/json.js';
import { type KubeObject, timestamp, namespaceOf } from '../objects/kube-object.js';
import { type Resource, makeResource, storageName } from '../objects/resources.js';
import { invalidFields } from '../objects/status-error.js';
import { invalid } from './objects.js';
import type { ClusterState } from '../objects/store.js';

export const DEFINITIONS = storageName('apiextensions.k8s.io', 'customresourcedefinitions');

function resourcesOf(definition: KubeObject): readonly Resource[] {
  const group = stringAt(definition, 'spec', 'group') ?? '';
  const names = objectAt(definition, 'spec', 'names');
  const plural = stringAt(names, 'plural') ?? '';
  const kind = stringAt(names, 'kind') ?? '';
  return listAt(definition, 'spec', 'versions')
    .filter((version) => valueAt(version, 'served') === true)
    .map((version) => {
      const resource = makeResource(
        { group, version: stringAt(version, 'name') ?? '', plural, kind },
        {
          namespaced: stringAt(definition, 'spec', 'scope') !== 'Cluster',
          shortNames: textsAt(names, 'shortNames'),
          categories: textsAt(names, 'categories'),
          subresources: (['status', 'scale'] as const).filter(
            (name) => valueAt(version, 'subresources', name) !== undefined,
          ),
          hasGeneration: true,
          isCustom: true,
          schema: objectAt(version, 'schema', 'openAPIV3Schema'),
          columns: listAt(version, 'additionalPrinterColumns').filter(isObject),
        },
      );
      return { ...resource, singular: stringAt(names, 'singular') ?? resource.singular };
    });
}

function textsAt(value: Json, member: string): readonly string[] {
  return listAt(value, member).filter((item) => typeof item === 'string');
}

/**
 * Throws 422 if the real server would reject a definition: its name is not `PLURAL.GROUP`, it does not have exactly one
 * storage version, or a schema is missing or not structural.
 */
export function checkDefinition(definition: KubeObject): void {
  const { name } = definition.metadata;
  const identity = { kind: 'CustomResourceDefinition', group: 'apiextensions.k8s.io', name };
  const refuse = (field: string, value: string, message: string): void => {
    throw invalidFields(identity, [invalid(field, value, message)]);
  };
  const group = stringAt(definition, 'spec', 'group') ?? '';
  const plural = stringAt(definition, 'spec', 'names', 'plural') ?? '';
  if (name !== `${plural}.${group}`)
    refuse('metadata.name', name, 'must be spec.names.plural+"."+spec.group');
  const versions = listAt(definition, 'spec', 'versions');
  const stored = versions.filter((version) => valueAt(version, 'storage') === true);
  if (stored.length !== 1)
    refuse('spec.versions', `${stored.length}`, 'must have exactly one version marked as storage version');
  versions.forEach((version, index) => {
    const field = `spec.versions[${index}].schema.openAPIV3Schema`;
    const schema = valueAt(version, 'schema', 'openAPIV3Schema');
    const [problem] = isObject(schema) ? structuralProblems(schema) : [{ path: '', message: 'is required' }];
    if (problem !== undefined) refuse(`${field}${problem.path}`, '', problem.message);
  });
}

/** Returns the status of a definition, which is established at once, unlike in a real cluster. */
export function establishedStatus(definition: KubeObject, nowMs: number): JsonObject {
  const known = objectAt(definition, 'status');
  const lastTransitionTime = stringAt(known, 'conditions', 0, 'lastTransitionTime') ?? timestamp(nowMs);
  const stored = listAt(definition, 'spec', 'versions').find(
    (version) => valueAt(version, 'storage') === true,
  );
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: 'True',
    reason,
    message,
    lastTransitionTime,
  });
  return {
    acceptedNames: objectAt(definition, 'spec', 'names'),
    storedVersions: [stringAt(stored, 'name') ?? ''],
    conditions: [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
    ],
  };
}

/**
 * Serves the resources of each CustomResourceDefinition as long as the definition exists. When a definition is deleted,
 * deletes its objects and calls `endWatches` with its plural. The returned function stops all of this.
 */
export function serveDefinitions(
  { store, catalog }: Pick<ClusterState, 'store' | 'catalog'>,
  endWatches: (plural: string) => void,
): () => void {
  return store.subscribe(DEFINITIONS, ({ type, object }) => {
    const [first] = resourcesOf(object);
    catalog.dropDefined(object.metadata.name);
    if (type !== 'DELETED') {
      for (const resource of resourcesOf(object)) catalog.add(resource);
      return;
    }
    if (first === undefined) return;
    for (const one of [...store.all(first.storage)])
      store.remove(first.storage, namespaceOf(one), one.metadata.name);
    endWatches(first.plural);
  });
}

/** A violation. `path`: the path of the schema node, which starts with a dot; empty: the root. */
interface StructuralProblem {
  readonly path: string;
  readonly message: string;
}

const TYPES: ReadonlySet<string> = new Set(['array', 'boolean', 'integer', 'number', 'object', 'string']);
const NEVER = [
  ...['$ref', '$id', '$defs', 'const', 'contains', 'definitions', 'dependencies', 'deprecated', 'examples'],
  ...['id', 'if', 'then', 'else', 'patternProperties', 'prefixItems', 'propertyNames'],
];
/** Keywords that a structural schema must not contain in allOf, anyOf, oneOf and not. */
const NOT_IN_JUNCTORS = [
  'type',
  'description',
  'title',
  'default',
  'additionalProperties',
  'nullable',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
];
const KNOWN: ReadonlySet<string> = new Set([
  ...NOT_IN_JUNCTORS,
  ...['properties', 'items', 'required', 'enum', 'format', 'pattern', 'multipleOf', 'uniqueItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties', 'allOf', 'anyOf', 'oneOf', 'not'],
  ...['externalDocs', 'example', 'x-kubernetes-validations'],
]);

/**
 * Returns the violations of the following rules for structural schemas.
 * - The root is an object, and all keywords are known.
 * - A node outside of `allOf`, `anyOf`, `oneOf` and `not` has a type or is an int-or-string.
 * - Within `allOf`, `anyOf`, `oneOf` and `not`, only fields are declared that are also declared outside.
 * - No node has both `properties` and `additionalProperties`.
 */
export function structuralProblems(schema: JsonObject): readonly StructuralProblem[] {
  const problems = nodeProblems(schema, '');
  const isObjectType = schema['type'] === 'object';
  return isObjectType ? problems : [{ path: '.type', message: 'must be object at the root' }, ...problems];
}

function nodeProblems(schema: Json | undefined, path: string): readonly StructuralProblem[] {
  if (!isObject(schema)) return [{ path, message: 'must be a schema' }];
  const problems = [...wordProblems(schema, path)];
  const say = (member: string, message: string): number =>
    problems.push({ path: `${path}${member}`, message });
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const { type, properties, items, additionalProperties } = schema;
  if (isIntOrString && type !== undefined) say('.type', 'must be empty for an int-or-string');
  if (!isIntOrString && !isOpen && type === undefined)
    say('.type', 'must not be empty for specified object fields');
  if (type !== undefined && !(typeof type === 'string' && TYPES.has(type)))
    say('.type', 'must be one known type');
  if (type === 'array' && items === undefined) say('.items', 'must be specified');
  if (type !== 'array' && items !== undefined) say('.items', 'must not be used without type array');
  if (properties !== undefined && additionalProperties !== undefined)
    say('.additionalProperties', 'must not be used together with properties');
  if (additionalProperties === false) say('.additionalProperties', 'must not be false');
  if (schema['uniqueItems'] === true) say('.uniqueItems', 'must not be true');
  for (const [name, child] of Object.entries(objectAt(properties)))
    problems.push(...nodeProblems(child, `${path}.properties[${name}]`));
  if (items !== undefined) problems.push(...nodeProblems(items, `${path}.items`));
  if (isObject(additionalProperties))
    problems.push(...nodeProblems(additionalProperties, `${path}.additionalProperties`));
  for (const [branch, where] of junctorsOf(schema))
    problems.push(...junctorProblems(branch, schema, `${path}${where}`));
  return problems;
}

/** Returns the schemas in allOf, anyOf, oneOf and not, with their paths. */
function junctorsOf(schema: JsonObject): readonly (readonly [Json, string])[] {
  const lists = ['allOf', 'anyOf', 'oneOf'].flatMap((word) =>
    listAt(schema, word).map((branch, i) => [branch, `.${word}[${i}]`] as const),
  );
  const { not } = schema;
  return not === undefined ? lists : [...lists, [not, '.not'] as const];
}

/**
 * Returns whether a branch is `{type: integer}` or `{type: string}` of an int-or-string. Other branches must not
 * contain a type.
 */
function isTypeOfIntOrString(branch: JsonObject, outside: JsonObject): boolean {
  const { type } = branch;
  const isKnown = type === 'integer' || type === 'string';
  return outside['x-kubernetes-int-or-string'] === true && isKnown && Object.keys(branch).length === 1;
}

function junctorProblems(
  branch: Json | undefined,
  outside: JsonObject,
  path: string,
): readonly StructuralProblem[] {
  if (!isObject(branch)) return [{ path, message: 'must be a schema' }];
  const problems = [...wordProblems(branch, path)];
  for (const word of NOT_IN_JUNCTORS) {
    if (branch[word] === undefined || (word === 'type' && isTypeOfIntOrString(branch, outside))) continue;
    problems.push({ path: `${path}.${word}`, message: 'must be empty to be structural' });
  }
  const declared = objectAt(outside, 'properties');
  for (const [name, child] of Object.entries(objectAt(branch, 'properties'))) {
    const memberPath = `${path}.properties[${name}]`;
    const own = declared[name];
    if (isObject(own)) problems.push(...junctorProblems(child, own, memberPath));
    else problems.push({ path: memberPath, message: 'must be declared outside of the junctor, too' });
  }
  if (branch['items'] !== undefined) {
    const { items } = outside;
    if (isObject(items)) problems.push(...junctorProblems(branch['items'], items, `${path}.items`));
    else problems.push({ path: `${path}.items`, message: 'must be declared outside of the junctor, too' });
  }
  for (const [inner, where] of junctorsOf(branch))
    problems.push(...junctorProblems(inner, outside, `${path}${where}`));
  return problems;
}

function wordProblems(schema: JsonObject, path: string): readonly StructuralProblem[] {
  const problems: StructuralProblem[] = [];
  for (const word of Object.keys(schema)) {
    if (NEVER.includes(word)) problems.push({ path: `${path}.${word}`, message: 'is not supported' });
    else if (!KNOWN.has(word)) problems.push({ path: `${path}.${word}`, message: 'is unknown' });
  }
  for (const word of ['exclusiveMinimum', 'exclusiveMaximum']) {
    if (schema[word] === undefined || typeof schema[word] === 'boolean') continue;
    problems.push({ path: `${path}.${word}`, message: 'must be a boolean' });
  }
  return problems;
}
