import { isPlainObject } from '../../src/scaler/plain-json.js';

/** What a table of the manual must say of one field of a JSON Schema. */
export interface SchemaRow {
  readonly path: string;
  readonly type: string;
  readonly range: string;
  /** `required`, the value as text or JSON, or nothing. */
  readonly default: string;
}

/** One row for each field, all the way down; `[]` stands for each item of a list, `NAME` for a free key. */
export function schemaRows(schema: unknown, path = ''): readonly SchemaRow[] {
  if (!isPlainObject(schema)) return [];
  const { properties, items, additionalProperties, required } = schema;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const fields = Object.entries(isPlainObject(properties) ? properties : {});
  return [
    ...fields.flatMap(([name, field]) => {
      const inner = path === '' ? name : `${path}.${name}`;
      return [rowOf(field, inner, needed.includes(name)), ...schemaRows(field, inner)];
    }),
    ...schemaRows(items, `${path}[]`),
    ...(isObjectSchema(additionalProperties)
      ? [
          rowOf(additionalProperties, `${path}.NAME`, false),
          ...schemaRows(additionalProperties, `${path}.NAME`),
        ]
      : []),
  ];
}

function isObjectSchema(schema: unknown): boolean {
  return isPlainObject(schema) && schema['type'] === 'object';
}

function rowOf(schema: unknown, path: string, isRequired: boolean): SchemaRow {
  const field = isPlainObject(schema) ? schema : {};
  return {
    path,
    type: typeOf(field),
    range: rangeOf(field),
    default: isRequired ? 'required' : defaultOf(field['default']),
  };
}

function defaultOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const TYPES: Readonly<Record<string, string>> = {
  integer: 'integer',
  number: 'number',
  string: 'text',
  boolean: 'boolean',
  object: 'mapping',
  array: 'list',
};

function typeOf({ type }: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(type) && type.includes('boolean')) return 'boolean or text';
  return Array.isArray(type) ? 'quantity' : (TYPES[String(type)] ?? String(type));
}

function rangeOf(field: Readonly<Record<string, unknown>>): string {
  const { enum: values, const: only, minimum, maximum, maxItems, minItems } = field;
  if (Array.isArray(values)) return values.map(String).join(', ');
  if (typeof only === 'string') return only;
  if (minimum !== undefined || maximum !== undefined) return `${String(minimum)} to ${String(maximum)}`;
  if (maxItems === 0) return 'empty';
  return minItems === 1 ? 'not empty' : '';
}

/** Returns `a.b.d` and `a.c.d` for `a.{b,c}.d`; for several braces all combinations. */
export function expandBraces(path: string): readonly string[] {
  const match = /\{([^{}]*)\}/.exec(path);
  if (match === null) return [path];
  const [braces, inner = ''] = match;
  return inner.split(',').flatMap((part) => expandBraces(path.replace(braces, () => part)));
}
