import { isObject } from './json-object.js';
import { openApiDocument } from '../../src/server/openapi.js';
import { type Parameter, ROUTES, type RouteAnswer } from '../../src/api/routes.js';
import { code, markdownTable } from './markdown.js';

/** Returns the tables of the HTTP API, by the name of their block. */
export function httpTables(): Readonly<Record<string, string>> {
  return {
    'http: paths': pathTable(),
    'http: parameters': parameterTable(),
    'http: schemas': schemaTables(),
  };
}

function pathTable(): string {
  return markdownTable(
    ['path', 'returns', 'responses'],
    ROUTES.map(({ path, summary, answers }) => [
      code(path),
      summary,
      Object.entries(answers)
        .map(([status, answer]) => responseOf(status, answer))
        .join('; '),
    ]),
  );
}

function responseOf(status: string, { mediaType, schema }: RouteAnswer): string {
  return `${status}: ${schema === undefined ? code(mediaType) : linkTo(schema)}`;
}

function parameterTable(): string {
  const rows = ROUTES.flatMap(({ path, parameters }) =>
    parameters
      .filter((parameter) => parameter.in !== 'path')
      .map((parameter) => [code(path), ...parameterCells(parameter)]),
  );
  return markdownTable(['path', 'parameter', 'in', 'type', 'default', 'description'], rows);
}

function parameterCells({ name, in: place, schema, description }: Parameter): readonly string[] {
  const { type, format, minimum, maximum, default: standard } = schema;
  const range = minimum === undefined ? '' : `, ${plainText(minimum)} to ${plainText(maximum)}`;
  const kind = `${plainText(format ?? type)}${range}`;
  return [code(name), place, kind, standard == null ? '' : code(JSON.stringify(standard)), description];
}

/** One section for each schema of the answers, in the order of the OpenAPI document. */
function schemaTables(): string {
  const { components } = openApiDocument('0');
  const schemas = isObject(components) ? components['schemas'] : undefined;
  return Object.entries(isObject(schemas) ? schemas : {})
    .map(([name, schema]) => [`### ${name}`, ...bodyOf(schema)].join('\n\n'))
    .join('\n\n');
}

function bodyOf(schema: unknown): readonly string[] {
  if (!isObject(schema)) return [];
  const { description } = schema;
  const text = typeof description === 'string' ? [description] : [];
  const rows = fieldRows(schema, '');
  return rows.length === 0
    ? [...text, `Type: ${typeOf(schema)}.`]
    : [...text, markdownTable(['field', 'type', 'description'], rows)];
}

function fieldRows(schema: Readonly<Record<string, unknown>>, path: string): readonly (readonly string[])[] {
  const { properties } = schema;
  return Object.entries(isObject(properties) ? properties : {}).flatMap(([name, field]) => {
    if (!isObject(field)) return [];
    const inner = path === '' ? name : `${path}.${name}`;
    const { description } = field;
    const row = [code(inner), typeOf(field), typeof description === 'string' ? description : ''];
    return [row, ...insideOf(field, inner)];
  });
}

function insideOf(field: Readonly<Record<string, unknown>>, path: string): readonly (readonly string[])[] {
  const { items, anyOf } = field;
  if (isObject(items)) return fieldRows(items, `${path}[]`);
  const parts: readonly unknown[] = Array.isArray(anyOf) ? anyOf : [];
  return [field, ...parts].filter(isObject).flatMap((part) => fieldRows(part, path));
}

function typeOf(field: Readonly<Record<string, unknown>>): string {
  const { $ref, anyOf, oneOf, enum: values, const: only, type, items, format } = field;
  if (typeof $ref === 'string') return linkTo($ref.slice($ref.lastIndexOf('/') + 1));
  const several: unknown = anyOf ?? oneOf;
  if (Array.isArray(several)) return several.filter(isObject).map(typeOf).join(' or ');
  if (Array.isArray(values)) return values.map((value) => code(String(value))).join(', ');
  if (only !== undefined) return code(plainText(only));
  if (type === 'array') return `list of ${isObject(items) ? typeOf(items) : 'any'}`;
  if (Array.isArray(type)) return type.join(' or ');
  return plainText(format ?? type ?? 'any');
}

function linkTo(schema: string): string {
  return `[${schema}](#${schema.toLowerCase()})`;
}

/** Returns a string as it is and anything else as JSON. */
function plainText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
