import { isObject } from './json-object.js';

/** One field of a JSON Schema, as the reference shows it. */
export interface SchemaRow {
  readonly path: string;
  readonly type: string;
  /** `required`, the default as a string or JSON, or empty. */
  readonly default: string;
  readonly values: string;
  readonly description: string;
}

/** Returns one row for each field, all the way down; `[]` is each item of a list, `NAME` a key chosen by the user. */
export function schemaRows(schema: unknown, path = ''): readonly SchemaRow[] {
  if (!isObject(schema)) return [];
  const { properties, items, additionalProperties, required } = schema;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const fields = Object.entries(isObject(properties) ? properties : {});
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
  return isObject(schema) && schema['type'] === 'object';
}

function rowOf(schema: unknown, path: string, isRequired: boolean): SchemaRow {
  const field = isObject(schema) ? schema : {};
  const { description } = field;
  return {
    path,
    type: typeOf(field),
    default: isRequired ? 'required' : defaultOf(field['default']),
    values: valuesOf(field),
    // Editors show a description as it is: a link in it leads nowhere.
    description: typeof description === 'string' ? description.replace(/\[([^\]]*)\]\(#[^)]*\)/g, '$1') : '',
  };
}

function defaultOf(value: unknown): string {
  if (value === undefined) return '';
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

const TYPES: Readonly<Record<string, string>> = { array: 'list' };

function typeOf({ type }: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(type) && type.includes('boolean')) return 'boolean or string';
  return Array.isArray(type) ? 'quantity' : (TYPES[String(type)] ?? String(type));
}

function valuesOf(field: Readonly<Record<string, unknown>>): string {
  const { enum: values, const: only, minimum, maximum, minItems } = field;
  if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``).join(', ');
  if (typeof only === 'string') return `\`${only}\``;
  if (minimum !== undefined || maximum !== undefined) return `${String(minimum)} to ${String(maximum)}`;
  return minItems === 1 ? 'not empty' : '';
}
