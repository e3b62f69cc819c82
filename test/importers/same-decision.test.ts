import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { MetricQueries } from '../../src/importers/manifest/named-metric.js';
import { parseScaler } from '../../src/scaler/read/parse-scaler.js';
import { importOne } from './importing.js';

const FOLDER = join(import.meta.dirname, '../vectors');

interface Body {
  readonly metric?: { readonly name?: string; readonly selector?: unknown };
  readonly query?: string;
}

type Metric = Readonly<Record<string, Body | undefined>>;

interface Spec {
  readonly scaleTargetRef: object;
  readonly minReplicas?: number;
  readonly maxReplicas: number;
  readonly metrics?: readonly Metric[];
  readonly behavior?: object;
}

interface Vector {
  readonly name: string;
  readonly snapshot: { readonly scaler: { readonly spec: Spec } };
}

/** The vectors from the tests of the HPA controller and of CHPA. */
const VECTORS = [
  'replica-calculation.json',
  'reconcile.json',
  'normalization.json',
  'pod-grouping.json',
  'derived.json',
  'chpa.json',
].flatMap((file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as readonly Vector[]);

const MEMBERS = ['pods', 'object', 'external'] as const;
const FIELDS = new Set(['describedObject', 'metric', 'query', 'target']);
const CHPA_FIELDS = [
  'scaleUpLimitFactor',
  'scaleUpLimitMinimum',
  'upscaleForbiddenWindowSeconds',
  'downscaleForbiddenWindowSeconds',
];

function bodyOf(metric: Metric): Body | undefined {
  return MEMBERS.map((member) => metric[member]).find((body) => body !== undefined);
}

/** Whether each metric could be one of an HPA, whose selector promscaler writes into the query. */
function isPortable({ metrics = [] }: Spec): boolean {
  return metrics.every((metric) => {
    const body = bodyOf(metric);
    const isNamed = body?.metric?.name !== undefined && body.metric.selector === undefined;
    return body === undefined || (isNamed && Object.keys(body).every((key) => FIELDS.has(key)));
  });
}

/** The manifest of which the document of a vector is the import. */
function manifestOf(spec: Spec, kind: 'HPA' | 'CHPA'): object {
  const { scaleTargetRef, minReplicas, maxReplicas, metrics = [], behavior } = spec;
  const written = metrics.map((metric) =>
    Object.fromEntries(
      Object.entries(metric).map(([key, body]) => [
        key,
        typeof body === 'object' ? { ...body, query: undefined } : body,
      ]),
    ),
  );
  const limits = Object.fromEntries(Object.entries(spec).filter(([key]) => CHPA_FIELDS.includes(key)));
  return {
    apiVersion: kind === 'HPA' ? 'autoscaling/v2' : 'autoscalers.postmates.com/v1beta1',
    kind: kind === 'HPA' ? 'HorizontalPodAutoscaler' : 'CHPA',
    metadata: { name: 'web', namespace: 'test' },
    spec: {
      scaleTargetRef,
      minReplicas,
      maxReplicas,
      ...(metrics.length === 0 ? {} : { metrics: written }),
      behavior,
      ...(kind === 'CHPA' ? limits : {}),
    },
  };
}

function queriesOf({ metrics = [] }: Spec): MetricQueries {
  return ({ name, member }) => {
    const query = metrics.map((metric) => metric[member]).find((body) => body?.metric?.name === name)?.query;
    if (query === undefined) throw new Error(`${member} ${name}`);
    return { query, notes: [] };
  };
}

/** The spec with its defaults. What a flag of the controller sets, and no manifest has, is added. */
function resolved(imported: object, vector: Spec): unknown {
  const own = new Set([
    'scaleTargetRef',
    'minReplicas',
    'maxReplicas',
    'metrics',
    'behavior',
    'preset',
    ...CHPA_FIELDS,
  ]);
  const flags = Object.fromEntries(Object.entries(vector).filter(([key]) => !own.has(key)));
  const { scaler } = parseScaler({
    apiVersion: 'promscaler.dev/v1',
    kind: 'Scaler',
    metadata: { name: 'web', namespace: 'test' },
    spec: { ...flags, ...imported },
  });
  if (scaler === null) throw new Error('invalid');
  return scaler.spec;
}

function cases(kind: 'HPA' | 'CHPA'): readonly (readonly [string, Spec])[] {
  return VECTORS.map(({ name, snapshot }) => [name, snapshot.scaler.spec] as const).filter(([, spec]) => {
    const hasPreset = 'preset' in spec;
    const hasLimits = Object.keys(spec).some((key) => CHPA_FIELDS.includes(key));
    if (!isPortable(spec) || hasPreset || hasHugeTolerance(spec)) return false;
    return kind === 'HPA' ? !hasLimits : hasLimits && spec.behavior === undefined;
  });
}

/** The HPA accepts a tolerance above 1, promscaler does not: it is lost, with a remark. */
function hasHugeTolerance({ behavior }: Spec): boolean {
  return /"tolerance":"?[2-9]/.test(JSON.stringify(behavior ?? {}));
}

describe.each(['HPA', 'CHPA'] as const)('an imported %s has the decision of the original', (kind) => {
  it.each(cases(kind))('%s', (_, spec) => {
    const { spec: imported, lost } = importOne(JSON.stringify(manifestOf(spec, kind)), {
      queries: queriesOf(spec),
    });

    expect(lost).toEqual([]);
    const original = kind === 'HPA' ? spec : { preset: 'chpa', ...spec };
    expect(resolved(imported as object, spec)).toEqual(resolved(original, spec));
  });
});

it('most vectors can be imported', () => {
  expect(cases('HPA').length).toBeGreaterThan(100);
  expect(cases('CHPA').length).toBeGreaterThan(5);
});
