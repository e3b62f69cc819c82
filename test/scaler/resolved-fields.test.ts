import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { documentJsonSchema } from '../../src/cli/schema/json-schema.js';
import { parseScaler } from '../../src/scaler/read/parse-scaler.js';
import { schemaRows, type SchemaRow } from '../docs/schema-rows.js';
import { pathsOf, replaceAt } from '../support/value-paths.js';

const EXAMPLES = join(import.meta.dirname, '../../config/scalers');

function documentOf(spec: object): object {
  return {
    apiVersion: 'promscaler.dev/v1',
    kind: 'Scaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { scaleTargetRef: { name: 'web' }, maxReplicas: 10, ...spec },
  };
}

const SELECTOR = { selector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] } };
const LOAD = { query: 'sum(load)', source: 'other', maxSampleAgeSeconds: 90, metric: SELECTOR };
const WHOLE = {
  ...LOAD,
  onMissing: 'zero',
  onNaN: 'zero',
  guard: 'count(up)',
  freshness: { query: 'max(timestamp(load))', maxAgeSeconds: 60 },
  activation: { above: 3 },
  target: { averageValue: 5 },
};
const BACKLOG = { backlog: { query: 'sum(backlog)', drainSeconds: 300 } };
const INGRESS = { kind: 'Ingress', name: 'shop' };
const SERVED = { query: 'sum(rate(done_total[2m]))' };
const AUTO = { auto: { mode: 'Use', served: SERVED, errors: { query: 'sum(rate(failed_total[2m]))' } } };

/** Valid documents that have, together with the examples, each field of the schema that a document may have. */
const DOCUMENTS: readonly object[] = [
  ...readdirSync(EXAMPLES).map((file) => parse(readFileSync(join(EXAMPLES, file), 'utf8')) as object),
  documentOf({
    maxReplicasFrom: { query: 'sum(gpus)', source: 'other' },
    metrics: [{ resource: { name: 'cpu', target: { averageValue: '500m' } } }],
    behavior: {
      scaleUp: { stabilizationWindowSeconds: 30, selectPolicy: 'Min', tolerance: '50m' },
      scaleDown: { selectPolicy: 'Min', tolerance: '50m' },
    },
    maxScaleDownPercentPerWindow: 50,
    podStart: { seconds: 60 },
    fallback: { afterSeconds: 300, replicas: 3, mode: 'exact' },
    podDeletionCost: { query: 'sum by (pod) (busy{pod=~"$pods"})', source: 'other' },
  }),
  documentOf({
    downscaleConfirmation: { seconds: 90, decisions: 4 },
    podStart: { seconds: 60 },
    metrics: [
      { external: WHOLE },
      { object: { ...WHOLE, describedObject: INGRESS } },
      {
        external: {
          query: 'sum(a)',
          target: { averageValue: 5 },
          capacity: { query: 'sum(capacity)' },
          ...BACKLOG,
        },
      },
      {
        object: {
          query: 'sum(b)',
          describedObject: INGRESS,
          target: { averageValue: 5 },
          capacity: { query: 'sum(capacity)' },
          ...BACKLOG,
        },
      },
      { external: { query: 'sum(c)', target: { averageValue: 5 }, capacity: AUTO } },
      {
        object: {
          query: 'sum(d)',
          describedObject: INGRESS,
          target: { averageValue: 5 },
          capacity: AUTO,
        },
      },
      { external: { query: 'sum(e)', target: { value: 5 } } },
      { object: { query: 'sum(f)', describedObject: INGRESS, target: { value: 5 } } },
      {
        pods: {
          ...LOAD,
          query: 'sum by (pod) (load)',
          metric: { name: 'load', ...SELECTOR },
          target: { averageValue: 5 },
        },
      },
      {
        resource: {
          name: 'cpu',
          target: { averageUtilization: 60 },
          saturation: { served: SERVED, factor: 1.5 },
        },
      },
      { resource: { name: 'memory', targetAverageValue: '1Gi' } },
      { containerResource: { name: 'cpu', container: 'app', targetAverageUtilization: 60 } },
      { containerResource: { name: 'cpu', container: 'db', target: { averageUtilization: 60 } } },
      { containerResource: { name: 'memory', container: 'app', targetAverageValue: '1Gi' } },
    ],
    forecast: {
      metric: 'cpu',
      mode: 'Raise',
      lookback: '10d',
      quantile: 0.9,
      fillPercent: 90,
      lead: '10m',
      timeZone: 'Europe/Warsaw',
      budgetPercent: 5,
    },
  }),
];

function nameOf(path: readonly string[]): string {
  return path
    .map((step) => (/^\d+$/.test(step) ? '[]' : `.${step}`))
    .join('')
    .slice(1);
}

/** Returns the resolved spec as text; null: the document is invalid. */
function resolved(document: unknown): string | null {
  const { scaler } = parseScaler(document);
  return scaler === null
    ? null
    : JSON.stringify(scaler.spec, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

const FIELDS: readonly SchemaRow[] = schemaRows(documentJsonSchema()).filter(
  ({ path, type }) => path.startsWith('spec.') && !['object', 'list'].includes(type),
);

/**
 * Fields that cannot change a spec: a type that must agree with the members next to it, and members of a target for
 * other types of metric, with which a document is rejected.
 */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'spec.metrics[].type',
  ...['resource', 'containerResource', 'pods', 'object', 'external'].map(
    (member) => `spec.metrics[].${member}.target.type`,
  ),
  'spec.metrics[].resource.target.value',
  'spec.metrics[].containerResource.target.value',
  'spec.metrics[].pods.target.averageUtilization',
  'spec.metrics[].pods.target.value',
  'spec.metrics[].object.target.averageUtilization',
  'spec.metrics[].external.target.averageUtilization',
]);

/** Returns values that a field may have instead of `value`. */
function otherValues({ values }: SchemaRow, value: unknown): readonly unknown[] {
  if (typeof value === 'number') return [value + 1, value - 1, value * 0.9, value * 1.1];
  if (typeof value === 'boolean') return [!value];
  const listed = Array.from(values.matchAll(/`([^`]+)`/g), ([, one]) => one);
  return [
    ...listed,
    'sum(else)',
    'sum by (pod) (else)',
    'else',
    '7',
    '7m',
    'Asia/Tokyo',
    '0 7 * * *',
    '2026-11-28',
    '2027-12-28',
    'example.com/v1',
  ];
}

function at(document: unknown, path: readonly string[]): unknown {
  return path.reduce((value, step) => (value as Readonly<Record<string, unknown>>)[step], document);
}

/** Returns whether another value of a field, or its absence, makes another spec. */
function changesSpec(field: SchemaRow): boolean {
  return DOCUMENTS.some((document) =>
    pathsOf(document)
      .filter((path) => nameOf(path) === field.path)
      .some((path) =>
        [undefined, ...otherValues(field, at(document, path))].some((value) => {
          const spec = resolved(JSON.parse(JSON.stringify(replaceAt(document, path, value))));
          return spec !== null && spec !== resolved(document);
        }),
      ),
  );
}

describe('the resolved spec', () => {
  it('exists for each of the documents', () => {
    const errors = DOCUMENTS.flatMap((document) => parseScaler(document).problems)
      .filter(({ severity }) => severity === 'error')
      .map(({ message }) => message);

    expect(errors).toEqual([]);
  });

  it.each(
    FIELDS.filter(({ path }) => !WITHOUT_EFFECT.has(path)).map((field) => [field.path, field] as const),
  )('depends on %s', (_, field) => {
    expect(changesSpec(field)).toBe(true);
  });
});
