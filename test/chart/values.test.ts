import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parse } from 'yaml';
import { serviceJsonSchema } from '../../src/cli/schema/json-schema.js';
import { CHART, HELM_TIMEOUT_MS, ROOT, at, isMapping, startHelm, template } from './helm.js';
import type { Helm, Rendered, Values } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

function read(path: string): Rendered {
  const value: unknown = parse(readFileSync(path, 'utf8'));
  if (!isMapping(value)) throw new Error(`${path} holds no mapping`);
  return value;
}

describe('a wrong value', () => {
  let helm: Helm;

  beforeAll(async () => {
    helm = await startHelm();
  });

  const SCALER = { apiVersion: 'promscaler.dev/v1', kind: 'Scaler', metadata: {}, spec: {} };
  const source = (fields: Values): Values => ({ config: { prometheus: { default: fields } } });
  const cases: readonly (readonly [string, Values, string])[] = [
    ['an unknown value', { replicas: 2 }, "additional properties 'replicas' not allowed"],
    ['an unknown value of a mapping', { image: { name: 'x' } }, "at '/image'"],
    ['a number for a tag', { image: { tag: 1.1 } }, "at '/image/tag': got number, want string"],
    ['a tag that is none', { image: { tag: 'a b' } }, "at '/image/tag'"],
    ['a text for a boolean', { dryRun: 'true' }, "at '/dryRun': got string, want boolean"],
    ['a URL with a password', { prometheus: { url: 'http://u:p@host' } }, "at '/prometheus/url'"],
    ['a URL that is none', { prometheus: { url: 'host:9090' } }, "at '/prometheus/url'"],
    ['no kinds', { targets: [] }, "at '/targets'"],
    ['pods as a kind', { targets: ['pods'] }, "at '/targets/0'"],
    ['a kind of apps with its group', { targets: ['deployments.apps'] }, "at '/targets/0'"],
    ['a wildcard', { targets: ['*.example.com'] }, "at '/targets/0'"],
    ['one namespace for a list', { namespaces: 'shop' }, "at '/namespaces': got string, want array"],
    ['a namespace that is none', { namespaces: ['Shop'] }, "at '/namespaces/0'"],
    ['a misspelt setting', { config: { promtheus: {} } }, "additional properties 'promtheus' not allowed"],
    ['a misspelt setting of a source', source({ url: 'http://p' }), "'url' not allowed"],
    ['a timeout of 0 s', source({ timeoutSeconds: 0 }), 'minimum: got 0, want 1'],
    ['a header that is a number', source({ headers: { X: 1 } }), 'got number, want string'],
    ['a header of two lines', source({ headers: { X: 'a\nb' } }), '/headers/X'],
    ['what the chart settles', { config: { kubernetes: {} } }, "'kubernetes' not allowed"],
    ['a port', { config: { server: { port: 1 } } }, "'server' not allowed"],
    ['a number for a scaler', { scalers: { web: 3 } }, "at '/scalers/web'"],
    ['a scaler of another kind', { scalers: { web: { ...SCALER, kind: 'ScaledObject' } } }, 'Scaler'],
    ['a scaler whose name is no file name', { scalers: { 'a/b': 'x' } }, "invalid propertyName 'a/b'"],
    ['a secret that is no name', { secrets: ['../x'] }, "at '/secrets/0'"],
    ['an annotation that is a boolean', { podAnnotations: { a: true } }, "at '/podAnnotations/a'"],
    ['nothing where a mapping is needed', { service: null }, "missing property 'service'"],
    [
      'an address in two places',
      { prometheus: { url: 'http://p' }, ...source({ urls: ['http://p'] }) },
      'prometheus.url and config.prometheus.default.urls are both given',
    ],
  ];

  it.each(cases)('is refused in a sentence: %s', (_name, values, sentence) => {
    const { code, stdout, stderr } = template(helm, values);

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(sentence);
  });
});

describe('values.schema.json', () => {
  const schema = read(join(CHART, 'values.schema.json'));

  it('knows every value of values.yaml, and beside them only global', () => {
    const names = Object.keys(read(join(CHART, 'values.yaml')));
    const known = at(schema, 'properties');

    expect(Object.keys(isMapping(known) ? known : {}).sort()).toEqual([...names, 'global'].sort());
  });

  it('has for config what the schema of the service config has, but for what the chart settles', () => {
    const service = withoutTexts(serviceJsonSchema());
    const properties = at(service, 'properties');
    if (!isMapping(service) || !isMapping(properties)) throw new Error('the service config has no fields');
    const settled = ['kubernetes', 'scalers', 'server', 'leaderElection'];
    const own = Object.entries(properties).filter(([name]) => !settled.includes(name));
    const defaults = { type: 'object' };

    expect(at(schema, 'properties', 'config')).toEqual({
      ...service,
      properties: { ...Object.fromEntries(own), defaults },
    });
  });
});

describe('the manual of the chart', () => {
  const readme = readFileSync(join(CHART, 'README.md'), 'utf8');
  const table = readme.slice(readme.indexOf('| value |'));
  const rows = [...table.matchAll(/^\| `([^`]+)` \| `([^`]+)` \|/gm)];

  it('has every value with its default, in the order of values.yaml', () => {
    const documented = rows.map(([, name = '', text = '']) => [name, parse(text) as unknown]);

    // The members of these are those of Kubernetes.
    expect(documented).toEqual(leaves(read(join(CHART, 'values.yaml')), ['resources']));
  });
});

describe('Chart.yaml', () => {
  it('has the version of package.json as its appVersion', () => {
    expect(read(join(CHART, 'Chart.yaml'))['appVersion']).toBe(read(join(ROOT, 'package.json'))['version']);
  });
});

/** All values but mappings, by their path; what is empty or named in `whole` is one value. */
function leaves(values: Rendered, whole: readonly string[], path = ''): readonly (readonly unknown[])[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const name = `${path}${key}`;
    const isOne = !isMapping(value) || Object.keys(value).length === 0 || whole.includes(name);
    return isOne ? [[name, value]] : leaves(value, whole, `${name}.`);
  });
}

/** A JSON Schema without what is there for readers. */
function withoutTexts(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutTexts);
  if (!isMapping(schema)) return schema;
  const { properties, ...rest } = schema;
  const kept = Object.entries(rest).filter(
    ([key]) => !['$schema', 'title', 'description', 'default'].includes(key),
  );
  const inside = isMapping(properties)
    ? { properties: Object.fromEntries(Object.entries(properties).map(([k, v]) => [k, withoutTexts(v)])) }
    : {};
  return { ...Object.fromEntries(kept.map(([key, value]) => [key, withoutTexts(value)])), ...inside };
}
