import { type Json, type JsonObject, isList, isObject } from '../json/json.js';

/** A violation. `path` is that of the schema node and starts with a dot; empty for the root. */
export interface StructuralProblem {
  readonly path: string;
  readonly message: string;
}

const TYPES: ReadonlySet<string> = new Set(['array', 'boolean', 'integer', 'number', 'object', 'string']);
const NEVER = [
  '$ref',
  'const',
  'definitions',
  'dependencies',
  'deprecated',
  'id',
  'patternProperties',
  '$id',
];
const NEVER_TOO = ['examples', 'if', 'then', 'else', 'propertyNames', 'contains', '$defs', 'prefixItems'];
/** Keywords that annotate a value and do not restrict it: not allowed in allOf, anyOf, oneOf and not. */
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
 * Returns the violations of the rules for structural schemas: a node outside of a junctor (allOf, anyOf, oneOf, not)
 * has a type or is an int-or-string; a junctor declares only fields that are also declared outside of it; no node has
 * both `properties` and `additionalProperties`; the root is an object; all keywords are known.
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
  for (const [name, child] of Object.entries(isObject(properties) ? properties : {}))
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
  const lists = ['allOf', 'anyOf', 'oneOf'].flatMap((word) => {
    const branches = schema[word];
    return isList(branches) ? branches.map((branch, i) => [branch, `.${word}[${i}]`] as const) : [];
  });
  const { not } = schema;
  return not === undefined ? lists : [...lists, [not, '.not'] as const];
}

/** The only types in a junctor: `anyOf: [{type: integer}, {type: string}]` of an int-or-string. */
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
  const declared = isObject(outside['properties']) ? outside['properties'] : {};
  for (const [name, child] of Object.entries(isObject(branch['properties']) ? branch['properties'] : {})) {
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
    if ([...NEVER, ...NEVER_TOO].includes(word))
      problems.push({ path: `${path}.${word}`, message: 'is not supported' });
    else if (!KNOWN.has(word)) problems.push({ path: `${path}.${word}`, message: 'is unknown' });
  }
  for (const word of ['exclusiveMinimum', 'exclusiveMaximum']) {
    if (schema[word] === undefined || typeof schema[word] === 'boolean') continue;
    problems.push({ path: `${path}.${word}`, message: 'must be a boolean' });
  }
  return problems;
}
