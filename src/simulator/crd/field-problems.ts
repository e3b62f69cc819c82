import { type Json, type JsonObject, isList, isObject, sameJson } from '../json/json.js';
import type { FieldCause } from '../objects/status-error.js';

/** Returns the violations of a schema, with the messages of the real server. */
export function fieldProblems(value: Json, schema: JsonObject, path: string): readonly FieldCause[] {
  if (value === null && schema['nullable'] === true) return [];
  const type = typeProblem(value, schema, path);
  if (type !== null) return [type];
  return [
    ...enumProblems(value, schema, path),
    ...limitProblems(value, schema, path),
    ...memberProblems(value, schema, path),
    ...junctorProblems(value, schema, path),
  ];
}

function invalid(path: string, value: Json, message: string): FieldCause {
  const shown = typeof value === 'object' ? JSON.stringify(JSON.stringify(value)) : JSON.stringify(value);
  const text = `Invalid value: ${shown}: ${path} in body ${message}`;
  return { reason: 'FieldValueInvalid', field: path === '' ? '<nil>' : path, text };
}

function typeProblem(value: Json, schema: JsonObject, path: string): FieldCause | null {
  const found = typeOf(value);
  const name = JSON.stringify(found);
  const wrong = (wanted: string): FieldCause => ({
    reason: 'FieldValueInvalid',
    field: path === '' ? '<nil>' : path,
    text: `Invalid value: ${name}: ${path} in body must be of type ${wanted}: ${name}`,
  });
  if (schema['x-kubernetes-int-or-string'] === true)
    return found === 'integer' || found === 'string' ? null : wrong('integer,string');
  const { type } = schema;
  if (typeof type !== 'string') return null;
  return found === type || (type === 'number' && found === 'integer') ? null : wrong(type);
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function enumProblems(value: Json, schema: JsonObject, path: string): readonly FieldCause[] {
  const allowed = schema['enum'];
  if (!isList(allowed) || allowed.some((one) => sameJson(one, value))) return [];
  const supported = allowed.map((one) => JSON.stringify(one)).join(', ');
  const text = `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`;
  return [{ reason: 'FieldValueNotSupported', field: path, text }];
}

function limitProblems(value: Json, schema: JsonObject, path: string): readonly FieldCause[] {
  const problems: FieldCause[] = [];
  const limit = (
    word: string,
    isBroken: (bound: number) => boolean,
    say: (bound: number) => string,
  ): void => {
    const bound = schema[word];
    if (typeof bound === 'number' && isBroken(bound)) problems.push(invalid(path, value, say(bound)));
  };
  if (typeof value === 'number') {
    const isAbove = schema['exclusiveMinimum'] === true;
    const isBelow = schema['exclusiveMaximum'] === true;
    const orEqual = (exclusive: boolean): string => (exclusive ? '' : ' or equal to');
    limit(
      'minimum',
      (bound) => value < bound || (isAbove && value === bound),
      (bound) => `should be greater than${orEqual(isAbove)} ${bound}`,
    );
    limit(
      'maximum',
      (bound) => value > bound || (isBelow && value === bound),
      (bound) => `should be less than${orEqual(isBelow)} ${bound}`,
    );
  }
  if (typeof value === 'string') {
    const { length } = Array.from(value);
    limit(
      'minLength',
      (bound) => length < bound,
      (bound) => `should be at least ${bound} chars long`,
    );
    limit(
      'maxLength',
      (bound) => length > bound,
      (bound) => `should be at most ${bound} chars long`,
    );
    const { pattern, format } = schema;
    if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value))
      problems.push(invalid(path, value, `should match '${pattern}'`));
    if (format === 'date-time' && Number.isNaN(Date.parse(value)))
      problems.push(invalid(path, value, `must be of type date-time: ${JSON.stringify(value)}`));
  }
  if (isList(value)) {
    const { length } = value;
    limit(
      'minItems',
      (bound) => length < bound,
      (bound) => `should have at least ${bound} items`,
    );
    limit(
      'maxItems',
      (bound) => length > bound,
      (bound) => `should have at most ${bound} items`,
    );
  }
  if (isObject(value)) {
    const { length } = Object.keys(value);
    limit(
      'minProperties',
      (bound) => length < bound,
      (bound) => `should have at least ${bound} properties`,
    );
    limit(
      'maxProperties',
      (bound) => length > bound,
      (bound) => `should have at most ${bound} properties`,
    );
  }
  return problems;
}

function memberProblems(value: Json, schema: JsonObject, path: string): readonly FieldCause[] {
  if (isList(value)) {
    const { items } = schema;
    return isObject(items) ? value.flatMap((item, i) => fieldProblems(item, items, `${path}[${i}]`)) : [];
  }
  if (!isObject(value)) return [];
  const pathOf = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const { properties, additionalProperties, required } = schema;
  const missing = (isList(required) ? required : [])
    .filter((name) => typeof name === 'string')
    .filter((name) => value[name] === undefined);
  const found = Object.entries(value).flatMap(([name, member]) => {
    const own = isObject(properties) ? properties[name] : undefined;
    const known = own ?? additionalProperties;
    return isObject(known) && member !== undefined ? fieldProblems(member, known, pathOf(name)) : [];
  });
  return [
    ...missing.map((name): FieldCause => ({
      reason: 'FieldValueRequired',
      field: pathOf(name),
      text: 'Required value',
    })),
    ...found,
  ];
}

function junctorProblems(value: Json, schema: JsonObject, path: string): readonly FieldCause[] {
  const holding = (word: string): readonly boolean[] | null => {
    const branches = schema[word];
    if (!isList(branches)) return null;
    return branches.map((branch) => isObject(branch) && fieldProblems(value, branch, path).length === 0);
  };
  const problems: FieldCause[] = [];
  if (holding('allOf')?.includes(false))
    problems.push(invalid(path, value, 'must validate all the schemas (allOf)'));
  if (holding('anyOf')?.includes(true) === false)
    problems.push(invalid(path, value, 'must validate at least one schema (anyOf)'));
  const one = holding('oneOf')?.filter(Boolean).length ?? 1;
  if (one !== 1)
    problems.push(
      invalid(
        path,
        value,
        `must validate one and only one schema (oneOf). Found ${one === 0 ? 'none' : String(one)} valid alternatives`,
      ),
    );
  const { not } = schema;
  if (isObject(not) && fieldProblems(value, not, path).length === 0)
    problems.push(invalid(path, value, 'must not validate the schema (not)'));
  return problems;
}
