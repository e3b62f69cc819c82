import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { adapterQueries, unusualResources } from '../../src/importers/adapter/adapter-queries.js';
import { readAdapter } from '../../src/importers/adapter/read-adapter.js';
import { importObjects } from '../../src/importers/import-objects.js';
import { NO_QUERIES } from '../../src/importers/manifest/named-metric.js';
import { readManifests } from '../../src/importers/read-manifests.js';
import { randomRuns } from '../support/random-runs.js';
import { check } from './importing.js';
import { pathsOf, replaceAt } from '../support/value-paths.js';

const SEED = 20_261_122;

const RULES = {
  rules: [
    {
      seriesQuery: '{__name__=~"^http_.*",pod!=""}',
      seriesFilters: [{ isNot: '_bucket$' }],
      resources: { overrides: { namespace: { resource: 'namespace' }, pod: { resource: 'pod' } } },
      name: { matches: '^(.*)_total$', as: '${1}' },
      metricsQuery: 'sum(rate(<<.Series>>{<<.LabelMatchers>>}[1m])) by (<<.GroupBy>>)',
    },
  ],
  externalRules: [
    { seriesQuery: 'depth', resources: { namespaced: false }, metricsQuery: 'sum(<<.Series>>)' },
  ],
  resourceRules: { cpu: { containerQuery: 'sum(x{<<.LabelMatchers>>})' } },
};

const TARGET = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const META = { name: 'web', namespace: 'shop', labels: { app: 'web' }, annotations: { x: 'y' } };

/** One valid manifest of each kind, with most of its fields. */
const MANIFESTS: readonly unknown[] = [
  {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: META,
    spec: {
      scaleTargetRef: TARGET,
      minReplicas: 2,
      maxReplicas: 9,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
        },
        {
          type: 'Pods',
          pods: {
            metric: { name: 'http_requests', selector: { matchLabels: { a: 'b' } } },
            target: { averageValue: '5' },
          },
        },
        {
          type: 'External',
          external: {
            metric: {
              name: 'depth',
              selector: { matchExpressions: [{ key: 'q', operator: 'In', values: ['a'] }] },
            },
            target: { value: '5' },
          },
        },
      ],
      behavior: {
        scaleUp: { stabilizationWindowSeconds: 5, policies: [{ type: 'Pods', value: 1, periodSeconds: 9 }] },
      },
    },
    status: {},
  },
  {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata: {
      ...META,
      annotations: {
        'autoscaling.alpha.kubernetes.io/metrics':
          '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]',
      },
    },
    spec: { scaleTargetRef: TARGET, maxReplicas: 9, targetCPUUtilizationPercentage: 50 },
  },
  {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    metadata: META,
    spec: {
      scaleTargetRef: { name: 'web' },
      minReplicaCount: 0,
      maxReplicaCount: 7,
      cooldownPeriod: 60,
      pollingInterval: 10,
      fallback: { failureThreshold: 3, replicas: 4 },
      advanced: {
        horizontalPodAutoscalerConfig: { behavior: { scaleDown: { stabilizationWindowSeconds: 5 } } },
      },
      triggers: [
        {
          type: 'prometheus',
          name: 'depth',
          metadata: {
            serverAddress: 'http://p:9090',
            query: 'sum(depth)',
            threshold: '5',
            activationThreshold: '1',
          },
        },
        {
          type: 'cron',
          metadata: { timezone: 'UTC', start: '0 8 * * *', end: '0 9 * * *', desiredReplicas: '3' },
        },
        { type: 'kafka', metadata: { lagThreshold: '5', topic: 'a' } },
      ],
    },
  },
  {
    apiVersion: 'autoscalers.postmates.com/v1beta1',
    kind: 'CHPA',
    metadata: META,
    spec: {
      scaleTargetRef: TARGET,
      maxReplicas: 9,
      scaleUpLimitFactor: 3,
      tolerance: 0.2,
      upscaleForbiddenWindowSeconds: 5,
      targetCPUUtilizationPercentage: 50,
    },
  },
  {
    apiVersion: 'datadoghq.com/v1alpha1',
    kind: 'WatermarkPodAutoscaler',
    metadata: META,
    spec: {
      scaleTargetRef: TARGET,
      maxReplicas: 9,
      tolerance: '0.01',
      scaleUpLimitFactor: '50',
      metrics: [
        {
          type: 'External',
          external: { metricName: 'depth', metricSelector: {}, highWatermark: '3', lowWatermark: '2' },
        },
      ],
    },
  },
];

const HOSTILE_TEXT = fc.constantFrom(
  '',
  ' ',
  '\n',
  'a\nspec:\n  maxReplicas: 99',
  '# x',
  '- a',
  '---\nkind: Scaler',
  'a: b',
  "'",
  '"',
  '\\',
  '\u0000',
  '\u2028',
  '\ud800',
  'null',
  'true',
  'no',
  '012',
  '1e999',
  '-5',
  '0',
  '1',
  '99999999999999999999',
  '1Gi',
  '500m',
  '{{ .Values.x }}',
  '$pods',
  '${1}',
  '__proto__',
  'constructor',
  'x'.repeat(3000),
  'sum(',
  'vector(1)',
  'a or b',
  '* * * * *',
  '(.*)(.*)(.*)',
  '((a+)+)+$',
  'FILL IN',
  '<<.Series>>',
);
const HOSTILE = fc.oneof(
  { weight: 3, arbitrary: HOSTILE_TEXT },
  fc.constantFrom<unknown>(null, true, 0, -1, 1, 0.5, 3601, 2 ** 31, 2 ** 53, 1e308, [], {}, [null], [[]], {
    a: { b: 1 },
  }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** A value with up to four of its parts, or new members, replaced by hostile values. */
function mutated(base: unknown) {
  const paths = pathsOf(base);
  const place = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...paths) },
    fc.tuple(fc.constantFrom(...paths), HOSTILE_TEXT).map(([path, key]) => [...path, key]),
  );
  return fc
    .array(fc.tuple(place, HOSTILE), { minLength: 1, maxLength: 4 })
    .map((changes) => changes.reduce((value, [path, by]) => replaceAt(value, path, by), base));
}

const CONTEXT = { namespace: 'default', isNamespaceGiven: false, isDryRun: false };

describe('a hostile manifest', () => {
  it.each(
    MANIFESTS.map(
      (manifest) =>
        [
          (manifest as { kind: string; apiVersion: string }).kind +
            ' ' +
            (manifest as { apiVersion: string }).apiVersion,
          manifest,
        ] as const,
    ),
  )('of %s becomes a valid document or none, and never throws', (_, base) => {
    const queries = adapterQueries(readAdapter(RULES));
    fc.assert(
      fc.property(mutated(base), fc.boolean(), (manifest, hasRules) => {
        const { objects } = importObjects([{ file: 'x', value: manifest }], {
          ...CONTEXT,
          queries: hasRules ? queries : NO_QUERIES,
        });
        for (const object of objects) check(object);
      }),
      randomRuns(SEED, 400),
    );
  });

  it('is any JSON value, also in lists', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const list = {
          kind: 'List',
          items: [
            value,
            { kind: 'HorizontalPodAutoscalerList', apiVersion: 'autoscaling/v2', items: [value, {}] },
          ],
        };
        const { objects } = importObjects([{ file: 'x', value: list }], { ...CONTEXT, queries: NO_QUERIES });
        for (const object of objects) check(object);
      }),
      randomRuns(SEED, 200),
    );
  });

  it('uses values of the file only as YAML values, whatever their characters', () => {
    const manifest = (query: string) =>
      replaceAt(MANIFESTS[2], ['spec', 'triggers', '0', 'metadata', 'query'], query);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        const query = `sum(depth) # ${text}`;
        const { objects } = importObjects([{ file: 'x', value: manifest(query) }], {
          ...CONTEXT,
          queries: NO_QUERIES,
        });
        const [object] = objects;
        const { scaler } = check(object!);
        const [metric] = scaler?.spec.metrics ?? [];
        // A commented-out metric is replaced by vector(0) in `check`.
        if (metric !== undefined && 'query' in metric && metric.query !== 'vector(0)')
          expect(metric.query).toBe(query.trim());
      }),
      randomRuns(SEED, 300),
    );
  });
});

describe('a hostile config of prometheus-adapter', () => {
  it('never throws, and its queries are valid or commented out', () => {
    fc.assert(
      fc.property(mutated(RULES), (rules) => {
        const config = readAdapter(rules);
        unusualResources(config);
        const { objects } = importObjects([{ file: 'x', value: MANIFESTS[0] }], {
          ...CONTEXT,
          queries: adapterQueries(config),
        });
        for (const object of objects) check(object);
      }),
      randomRuns(SEED, 400),
    );
  });
});

describe('a hostile text', () => {
  it.each([
    ['braces', '{'.repeat(200_000)],
    ['an open string', `{"a":"${'x'.repeat(200_000)}`],
    ['backslashes', `{"a":"${'\\'.repeat(200_000)}`],
    ['documents', '---\n'.repeat(20_000)],
    ['JSON values', '{}'.repeat(50_000)],
    ['levels', `a: ${'['.repeat(100_000)}`],
  ])('of many %s is read in bounded time', (_, text) => {
    expect(() => readManifests(text, 'x')).not.toThrow();
  });

  it('never throws', () => {
    const parts = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ':',
      ',',
      '---',
      '\n',
      ' ',
      'a',
      '- ',
      '{{',
      '&x',
      '*x',
      '!t',
      '|',
      '#',
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 40 }), (pieces) => {
        const { values } = readManifests(pieces.join(''), 'x');
        importObjects(values, { ...CONTEXT, queries: NO_QUERIES });
      }),
      randomRuns(SEED, 500),
    );
  });
});
