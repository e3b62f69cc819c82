import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { documentJsonSchema, serviceJsonSchema } from '../../../src/cli/schema/json-schema.js';
import { resolveServiceConfig } from '../../../src/config/resolve-service-config.js';
import { isPlainObject } from '../../../src/scaler/plain-json.js';
import { runCli } from '../fake-io.js';

const EXAMPLES = join(import.meta.dirname, '../../../config/scalers');

/** Returns the paths that a draft-7 schema with our few keywords rejects. */
function breaches(schema: unknown, value: unknown, path = '$'): readonly string[] {
  if (!isPlainObject(schema)) return [];
  const { type, enum: values, const: only, required, properties, additionalProperties, items } = schema;
  const { minimum, maximum, minItems, maxItems, pattern, maxLength, minLength } = schema;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const found: string[] = [];
  const claim = (isTrue: boolean, what: string): void => {
    if (!isTrue) found.push(`${path}: ${what}`);
  };
  claim(types.includes(typeOf(value)) || (typeOf(value) === 'integer' && types.includes('number')), 'type');
  if (Array.isArray(values)) claim(values.includes(value), 'enum');
  if (only !== undefined) claim(value === only, 'const');
  if (typeof value === 'number') {
    claim(value >= Number(minimum ?? -Infinity) && value <= Number(maximum ?? Infinity), 'range');
  }
  if (typeof value === 'string') {
    claim(typeof pattern !== 'string' || new RegExp(pattern).test(value), 'pattern');
    claim(value.length >= Number(minLength ?? 0) && value.length <= Number(maxLength ?? Infinity), 'length');
  }
  if (Array.isArray(value)) {
    claim(value.length >= Number(minItems ?? 0) && value.length <= Number(maxItems ?? Infinity), 'items');
    value.forEach((item: unknown, index) => found.push(...breaches(items, item, `${path}[${index}]`)));
  }
  if (!isPlainObject(value)) return found;
  for (const name of Array.isArray(required) ? required : [])
    claim(Object.hasOwn(value, String(name)), `no ${String(name)}`);
  for (const [name, member] of Object.entries(value)) {
    const known = isPlainObject(properties) ? properties[name] : undefined;
    claim(known !== undefined || additionalProperties !== false, `unknown ${name}`);
    found.push(...breaches(known ?? additionalProperties, member, `${path}.${name}`));
  }
  return found;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

/** Returns every field of a schema with its path, nested ones included. */
function fieldsOf(
  schema: unknown,
  path = '',
): readonly (readonly [string, Readonly<Record<string, unknown>>])[] {
  if (!isPlainObject(schema)) return [];
  const { properties, items, additionalProperties } = schema;
  const own = Object.entries(isPlainObject(properties) ? properties : {}).flatMap(([name, field]) => {
    const inner = path === '' ? name : `${path}.${name}`;
    return [[inner, isPlainObject(field) ? field : {}] as const, ...fieldsOf(field, inner)];
  });
  return [...own, ...fieldsOf(items, `${path}[]`), ...fieldsOf(additionalProperties, `${path}.NAME`)];
}

describe('schema', () => {
  it('prints draft 7 of the document, and of the service config with --service', async () => {
    const document = await runCli(['schema']);
    const service = await runCli(['schema', '--service']);

    expect(JSON.parse(document.stdout)).toEqual(documentJsonSchema());
    expect(JSON.parse(service.stdout)).toEqual(serviceJsonSchema());
    expect(documentJsonSchema()['$schema']).toBe('http://json-schema.org/draft-07/schema#');
  });

  it.each([
    ['document', documentJsonSchema()],
    ['service config', serviceJsonSchema()],
  ])('describes every field of the %s', (_, schema) => {
    const fields = fieldsOf(schema);

    expect(fields.length).toBeGreaterThan(50);
    expect(fields.filter(([, { description }]) => typeof description !== 'string')).toEqual([]);
  });

  it.each(readdirSync(EXAMPLES))('accepts %s', (file) => {
    const value: unknown = parse(readFileSync(join(EXAMPLES, file), 'utf8'));

    expect(breaches(documentJsonSchema(), value)).toEqual([]);
  });

  it('rejects what validate rejects: unknown fields, types, ranges, enums, missing fields', () => {
    const value = {
      apiVersion: 'promscaler.dev/v1',
      kind: 'Scaler',
      metadata: { name: 'web' },
      spec: { scaleTargetRef: { name: 'web' }, maxReplicas: 0, minReplica: 1, preset: 'hpa2', dryRun: 'no' },
    };

    expect([...breaches(documentJsonSchema(), value)].sort()).toEqual([
      '$.metadata: no namespace',
      '$.spec.dryRun: type',
      '$.spec.maxReplicas: range',
      '$.spec.preset: enum',
      '$.spec: unknown minReplica',
    ]);
  });

  it('has the document defaults that full.yaml lists', () => {
    const full: unknown = parse(readFileSync(join(EXAMPLES, 'full.yaml'), 'utf8'));
    const spec = isPlainObject(full) && isPlainObject(full['spec']) ? full['spec'] : {};
    const defaults = fieldsOf(documentJsonSchema()).filter(([path]) => /^spec\.[^.[]+$/.test(path));

    const shown = defaults.filter(
      ([, field]) => field['default'] !== undefined && !isEmpty(field['default']),
    );
    expect(shown.length).toBeGreaterThan(12);
    for (const [path, field] of shown) {
      expect([path, field['default']]).toEqual([path, spec[path.replace('spec.', '')]]);
    }
  });

  it('has the service config defaults that it resolves to', () => {
    const config = resolveServiceConfig(
      {
        notifications: { default: { url: 'http://receiver' } },
        record: { path: '/record' },
        recommendations: { enabled: true },
      },
      null,
    );
    const shown = fieldsOf(serviceJsonSchema()).filter(
      // Without it, the service has no recommendations.
      ([path, field]) => field['default'] !== undefined && path !== 'recommendations.enabled',
    );

    const resolved = shown
      .filter(([path]) => !/\.(tls|oauth2|sigv4|azure)\./.test(path) && !path.startsWith('defaults.'))
      .map(([path]) => [path, valueAt(config, path.replace('NAME', 'default').split('.'))]);
    expect(resolved.length).toBeGreaterThan(12);
    expect(resolved).toEqual(
      shown
        .filter(([path]) => !/\.(tls|oauth2|sigv4|azure)\./.test(path))
        .map(([path, field]) => [path, field['default']]),
    );
  });
});

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function valueAt(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((inner, step) => (isPlainObject(inner) ? inner[step] : undefined), value);
}
