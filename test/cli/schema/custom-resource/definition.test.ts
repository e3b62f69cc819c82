import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { customResourceDefinition } from '../../../../src/cli/schema/definition.js';
import { documentJsonSchema } from '../../../../src/cli/schema/json-schema.js';
import { isPlainObject } from '../../../../src/scaler/plain-json.js';
import { readScalers } from '../../../../src/scaler/read/read-scalers.js';
import { loadCel, ruleProblems } from '../../../../src/simulator/validation/cel-rules.js';
import { fieldProblems } from '../../../../src/simulator/validation/admit.js';
import { structuralProblems } from '../../../../src/simulator/validation/definition.js';
import type { Json, JsonObject } from '../../../../src/simulator/kinds/json.js';
import { manifestProblems } from '../../../chart/manifest-problems.js';
import { runCli } from '../../fake-io.js';

const EXAMPLES = join(import.meta.dirname, '../../../../config/scalers');
const SCHEMA = at(customResourceDefinition(), 'spec', 'versions', 0, 'schema', 'openAPIV3Schema');
const FORMATS = { int32: true, int64: true, 'date-time': true } as const;
/** A second, independent validator must agree with the API server. */
const admits = new Ajv({ strict: false, allErrors: true, formats: FORMATS }).compile(SCHEMA);

function at(value: unknown, ...path: readonly (string | number)[]): JsonObject {
  let found = value;
  for (const step of path) found = (found as Record<string | number, unknown>)[step];
  return found as JsonObject;
}

function problemsOf(document: unknown): readonly string[] {
  return fieldProblems(document as Json, SCHEMA, '').map(({ field }) => field);
}

function read(file: string): unknown {
  return parse(readFileSync(join(EXAMPLES, file), 'utf8'));
}

/** Returns the paths of all values of a document's spec, except lists and maps. */
function leavesOf(value: unknown, path: readonly (string | number)[]): readonly (string | number)[][] {
  if (Array.isArray(value)) return value.flatMap((item, i) => leavesOf(item, [...path, i]));
  if (isPlainObject(value))
    return Object.entries(value).flatMap(([name, member]) => leavesOf(member, [...path, name]));
  return [[...path]];
}

function withValue(document: unknown, path: readonly (string | number)[], value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (Array.isArray(document))
    return document.map((item: unknown, i) => (i === step ? withValue(item, rest, value) : item));
  const object = isPlainObject(document) ? document : {};
  return { ...object, [step]: withValue(object[step], rest, value) };
}

/** Builds a document with these fields of the spec and the two required ones. */
function documentOf(spec: Readonly<Record<string, unknown>>): unknown {
  const metadata = { name: 'web', namespace: 'shop' };
  const needed = { scaleTargetRef: { name: 'web' }, maxReplicas: 5 };
  return { apiVersion: 'promscaler.dev/v1', kind: 'Scaler', metadata, spec: { ...needed, ...spec } };
}

/** Returns the paths of all fields below a schema; an item as `[]`, a free key as `.NAME`. */
function fieldsOf(schema: unknown, path: string): readonly string[] {
  if (!isPlainObject(schema)) return [];
  const { properties, items, additionalProperties } = schema;
  const inner = Object.entries(isPlainObject(properties) ? properties : {}).flatMap(([name, field]) => [
    `${path}.${name}`,
    ...fieldsOf(field, `${path}.${name}`),
  ]);
  return [...inner, ...fieldsOf(items, `${path}[]`), ...fieldsOf(additionalProperties, `${path}.NAME`)];
}

/** Returns all nodes of a schema with their paths, except branches of junctors. */
function nodesOf(schema: unknown, path = ''): readonly (readonly [string, JsonObject])[] {
  if (!isPlainObject(schema)) return [];
  const { properties, items, additionalProperties } = schema;
  const members = Object.entries(isPlainObject(properties) ? properties : {});
  return [
    [path, schema as JsonObject],
    ...members.flatMap(([name, field]) => nodesOf(field, `${path}.${name}`)),
    ...nodesOf(items, `${path}[]`),
    ...nodesOf(additionalProperties, `${path}.NAME`),
  ];
}

describe('the CustomResourceDefinition', () => {
  it('is what schema --crd prints, as YAML that a cluster reads the same way', async () => {
    const { exitCode, stdout } = await runCli(['schema', '--crd']);

    expect(exitCode).toBe(0);
    expect(parse(stdout, { version: '1.1' })).toEqual(customResourceDefinition());
    expect(parse(stdout)).toEqual(customResourceDefinition());
  });

  it('is accepted by the API server: its form, and a structural schema without defaults', () => {
    expect(manifestProblems(customResourceDefinition())).toEqual([]);
    expect(structuralProblems(SCHEMA)).toEqual([]);
    expect(nodesOf(SCHEMA).filter(([, node]) => 'default' in node)).toEqual([]);
  });

  it('has each field of the document with its description, and no other', () => {
    const spec = at(documentJsonSchema(), 'properties', 'spec');
    const own = at(SCHEMA, 'properties', 'spec');

    expect(fieldsOf(own, 'spec')).toEqual(fieldsOf(spec, 'spec'));
    expect(fieldsOf(own, 'spec').length).toBeGreaterThan(100);
    // Only metadata and the items of lists have none.
    const silent = nodesOf(SCHEMA).filter(
      ([path, node]) => !/\[\]$|\.NAME$|^\.metadata$/.test(path) && !node['description'],
    );
    expect(silent).toEqual([]);
  });

  it('has no field for another namespace', () => {
    const fields = fieldsOf(at(SCHEMA, 'properties', 'spec'), 'spec');

    expect(fields.filter((path) => /namespace/i.test(path))).toEqual([]);
    expect(fields).toContain('spec.scaleTargetRef.name');
  });

  it('reports defaults in the descriptions', () => {
    const field = (name: string): unknown =>
      at(SCHEMA, 'properties', 'spec', 'properties', name)['description'];

    expect(field('tolerance')).toMatch(/without scaling\. Default: 0\.1\.$/);
    expect(field('preset')).toMatch(/ Default: hpa\.$/);
    expect(field('maxReplicas')).not.toContain('Default');
  });

  it('has CEL rules for at most 100 items, which limits their cost', () => {
    const places = nodesOf(SCHEMA).filter(([, node]) => 'x-kubernetes-validations' in node);
    const most = (list: string): unknown => at(SCHEMA, 'properties', 'spec', 'properties', list)['maxItems'];

    expect(places.map(([path]) => path)).toEqual(['.spec', '.spec.metrics[]', '.spec.schedules[]']);
    expect([most('metrics'), most('schedules')]).toEqual([100, 50]);
  });

  it('has no alternatives, which the API server reports as missing fields of the first one', () => {
    const words = nodesOf(SCHEMA).flatMap(([path, node]) =>
      ['oneOf', 'anyOf', 'allOf'].filter((word) => word in node).map((word) => `${path} ${word}`),
    );

    expect(words).toEqual([]);
  });

  it('fits in the annotation of kubectl apply, which ends at 262144 bytes', () => {
    expect(JSON.stringify(customResourceDefinition()).length).toBeLessThan(131_072);
  });
});

describe('the schema of the CustomResourceDefinition', () => {
  it.each(readdirSync(EXAMPLES))('accepts %s', (file) => {
    const document = read(file);

    expect(problemsOf(document)).toEqual([]);
    expect([admits(document), admits.errors]).toEqual([true, null]);
  });

  const leaves = readdirSync(EXAMPLES).flatMap((file) =>
    leavesOf(read(file), [])
      .filter(([first]) => first === 'spec')
      .map((path) => ({ file, path })),
  );

  it('rejects an object and a list in place of each of the more than 100 values of the examples', () => {
    const admitted = leaves.flatMap(({ file, path }) =>
      [{ wrong: 1 }, [1]]
        .map((wrong) => withValue(read(file), path, wrong))
        .filter((document) => admits(document) || problemsOf(document).length === 0)
        .map(() => `${file}: ${path.join('.')}`),
    );

    expect(leaves.length).toBeGreaterThan(100);
    expect(admitted).toEqual([]);
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['a share as a number', { tolerance: 0.1 }],
    ['a percentage as a string', { tolerance: '100m' }],
    ['paused: true', { paused: true }],
    ['one direction', { paused: 'scale-up' }],
    ['replicas of 2^31-1', { maxReplicas: 2_147_483_647 }],
    ['no metrics at all', { metrics: [] }],
    ['a fraction as a quantity', { metrics: [{ pods: { query: 'a', target: { averageValue: 0.5 } } }] }],
    ['a quantity as a string', { metrics: [{ pods: { query: 'a', target: { averageValue: '500m' } } }] }],
  ])('accepts %s', (_, spec) => {
    const document = documentOf(spec);

    expect(problemsOf(document)).toEqual([]);
    expect(admits(document)).toBe(true);
  });

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['a boolean for a share', { tolerance: true }, 'spec.tolerance'],
    ['an invalid direction', { paused: 'scale-sideways' }, 'spec.paused'],
    ['a number for paused', { paused: 1 }, 'spec.paused'],
    ['no ceiling', { maxReplicas: undefined }, 'spec.maxReplicas'],
    ['a ceiling of 0', { maxReplicas: 0 }, 'spec.maxReplicas'],
    ['a ceiling of 2^31', { maxReplicas: 2_147_483_648 }, 'spec.maxReplicas'],
    ['a string for a number', { minReplicas: '2' }, 'spec.minReplicas'],
    ['an unknown preset', { preset: 'hpa2' }, 'spec.preset'],
    ['a window of 86,401 s', { upscaleForbiddenWindowSeconds: 86_401 }, 'spec.upscaleForbiddenWindowSeconds'],
    ['a target without a name', { scaleTargetRef: {} }, 'spec.scaleTargetRef.name'],
    ['a name in capitals', { scaleTargetRef: { name: 'Web' } }, 'spec.scaleTargetRef.name'],
    [
      'a label that is a number',
      { metrics: [{ external: { target: {}, metric: { selector: { matchLabels: { a: 1 } } } } }] },
      'spec.metrics[0].external.metric.selector.matchLabels.a',
    ],
    ['policies of none', { behavior: { scaleUp: { policies: [] } } }, 'spec.behavior.scaleUp.policies'],
  ])('rejects %s', (_, spec, field) => {
    const document = JSON.parse(JSON.stringify(documentOf(spec))) as unknown;

    expect(problemsOf(document)).toEqual([field]);
    expect(admits(document)).toBe(false);
  });

  it('accepts an empty status and a complete one', () => {
    const now = '2026-01-01T00:00:00Z';
    const condition = {
      type: 'Ready',
      status: 'Unknown',
      reason: 'NotYet',
      message: '',
      lastTransitionTime: now,
      observedGeneration: 1,
    };
    const status = {
      observedGeneration: 3,
      currentReplicas: 2,
      desiredReplicas: 4,
      lastScaleTime: now,
      conditions: [condition],
      currentMetrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', current: { averageUtilization: 60, averageValue: '600m' } },
        },
        { type: 'External', external: { metric: { name: 'queue' }, current: { value: '12' } } },
      ],
    };
    const wrong = { ...status, conditions: [{ ...condition, status: 'Maybe' }] };
    const withStatus = (value: unknown): unknown => ({ ...(documentOf({}) as object), status: value });

    expect([{}, status].flatMap((value) => problemsOf(withStatus(value)))).toEqual([]);
    expect(problemsOf(withStatus(wrong))).toEqual(['status.conditions[0].status']);
  });
});

describe('the CEL rules of the CustomResourceDefinition', () => {
  const KINDS = 'resource, containerResource, pods, object, external';
  const cpu = { name: 'cpu', target: { averageUtilization: 60 } };
  const external = { query: 'a', target: { value: 1 } };
  const violations = (metric: unknown): Promise<readonly string[]> =>
    violationsOf({ metrics: [{ resource: cpu }, metric] });
  const violationsOf = async (spec: Readonly<Record<string, unknown>>): Promise<readonly string[]> => {
    const cel = await loadCel();
    if (cel === null) throw new Error('the library for CEL is not installed');
    const value = documentOf(spec) as Json;
    expect(fieldProblems(value, SCHEMA, '')).toEqual([]);
    return ruleProblems(cel, SCHEMA, { value, before: undefined, path: '' }).map(
      ({ field, text }) => `${field}: ${text}`,
    );
  };

  it.each<[string, unknown]>([
    ['one kind', { external }],
    ['one kind and its type', { type: 'External', external }],
  ])('accept a metric of %s', async (_, metric) => {
    expect(await violations(metric)).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['no kind', {}, `a metric must have one of ${KINDS}`],
    [
      'two kinds',
      { resource: cpu, external },
      `a metric can have only one of ${KINDS}: write one metric for each`,
    ],
    [
      'two kinds and the type of one',
      { type: 'External', resource: cpu, external },
      `a metric can have only one of ${KINDS}: write one metric for each`,
    ],
    ['a type alone', { type: 'Pods' }, 'a metric of type Pods must have the field pods'],
    [
      'a type and another kind',
      { type: 'External', resource: cpu },
      'a metric of type External must have the field external',
    ],
    [
      'the type ContainerResource and resource',
      { type: 'ContainerResource', resource: cpu },
      'a metric of type ContainerResource must have the field containerResource',
    ],
  ])('reject a metric of %s with one message that names the kinds', async (_, metric, message) => {
    expect(await violations(metric)).toEqual([`spec.metrics[1]: Invalid value: "object": ${message}`]);
  });

  const night = { name: 'night', start: '0 22 * * *', end: '0 6 * * *' };
  const FLOOR = 'minReplicas of a schedule without maxReplicas must be at most spec.maxReplicas';
  const CEILING =
    'maxReplicas of a schedule without minReplicas must be at least spec.minReplicas (default 1)';
  it.each<[Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>, readonly string[]]>([
    [{ maxReplicas: 10 }, { minReplicas: 10 }, []],
    [{ maxReplicas: 10 }, { minReplicas: 11 }, [FLOOR]],
    [{ maxReplicas: 10 }, { minReplicas: 11, maxReplicas: 12 }, []],
    [{ minReplicas: 2, maxReplicas: 10 }, { maxReplicas: 2 }, []],
    [{ minReplicas: 2, maxReplicas: 10 }, { maxReplicas: 1 }, [CEILING]],
    [{ maxReplicas: 10 }, { maxReplicas: 1 }, []],
  ])(
    'compare the bounds of %j with those of a schedule with %j as promscaler does: %j',
    async (spec, bounds, found) => {
      const document = { ...spec, schedules: [{ ...night, ...bounds }] };

      expect(await violationsOf(document)).toEqual(
        found.map((message) => `spec: Invalid value: "object": ${message}`),
      );
      const { problems } = readScalers(JSON.stringify(documentOf(document)), 'web.yaml');
      expect(problems.filter(({ code }) => code === 'replica-bounds')).toHaveLength(found.length);
    },
  );
});
