import { describe, expect, it } from '@jest/globals';
import { importObjects } from '../../src/importers/import-objects.js';
import { NO_QUERIES } from '../../src/importers/manifest/named-metric.js';
import { readManifests } from '../../src/importers/read-manifests.js';

function hpa(name: string): object {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, namespace: 'shop', annotations: { note: '"items": [{,]} \\"' } },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name }, maxReplicas: 3 },
  };
}

const NAMES = ['a', 'b', 'c'];

function list(names: readonly string[], indent?: number): string {
  return JSON.stringify(
    { apiVersion: 'v1', items: names.map(hpa), kind: 'List', metadata: { resourceVersion: '' } },
    null,
    indent,
  );
}

function imported(text: string) {
  const { values, problems } = readManifests(text, 'x.json');
  const { objects } = importObjects(values, {
    namespace: 'default',
    isNamespaceGiven: true,
    queries: NO_QUERIES,
    isDryRun: false,
  });
  return {
    names: objects.flatMap(({ key }) => key ?? []),
    failed: objects.filter(({ key }) => key === null).map(({ label }) => label),
    problems: problems.map(({ message }) => message),
  };
}

describe('a list in JSON', () => {
  it.each([undefined, 4])('has all its items (indent %s)', (indent) => {
    expect(imported(list(NAMES, indent))).toEqual({
      names: ['shop/a', 'shop/b', 'shop/c'],
      failed: [],
      problems: [],
    });
  });

  it.each([undefined, 4])('that is truncated in its third item has the two before (indent %s)', (indent) => {
    const text = list(NAMES, indent);
    const { names, problems } = imported(text.slice(0, text.lastIndexOf('maxReplicas')));

    expect(names).toEqual(['shop/a', 'shop/b']);
    expect(problems).toEqual([
      expect.stringMatching(/^items\[2\]: not JSON: /),
      'the list is truncated after items[2]',
    ]);
  });

  it('that is truncated between two items has those before', () => {
    const text = list(NAMES);
    const { names, problems } = imported(text.slice(0, text.indexOf(JSON.stringify(hpa('c')))));

    expect(names).toEqual(['shop/a', 'shop/b']);
    expect(problems).toEqual(['the list is truncated after items[1]']);
  });

  it('has the others if an item is not JSON', () => {
    const { names, problems } = imported(list(NAMES).replace('"name":"b"', '"name":b'));

    expect(names).toEqual(['shop/a', 'shop/c']);
    expect(problems).toEqual([expect.stringMatching(/^items\[1\]: not JSON: /)]);
  });

  it('of one kind gives it to its items, also if one is broken', () => {
    const items = NAMES.map((name) => ({ ...hpa(name), apiVersion: undefined, kind: undefined }));
    const typed = { kind: 'HorizontalPodAutoscalerList', apiVersion: 'autoscaling/v2', items };
    const text = JSON.stringify(typed);

    expect(imported(text).names).toEqual(['shop/a', 'shop/b', 'shop/c']);
    expect(imported(text.replace('"name":"b"', '"name":b')).names).toEqual(['shop/a', 'shop/c']);
  });

  it.each([
    ['a number', 5],
    ['null', null],
    ['an object without a kind', { metadata: { name: 'x' } }],
  ])('names an item that is %s', (_, bad) => {
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [hpa('a'), bad, hpa('b')] });

    expect(imported(text)).toEqual({ names: ['shop/a', 'shop/b'], failed: ['items[1]'], problems: [] });
  });

  it('may have items of other kinds', () => {
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' } };
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [service, hpa('a')] });

    expect(imported(text)).toEqual({ names: ['shop/a'], failed: [], problems: [] });
  });
});

describe('a list in YAML', () => {
  it('names a broken item by its position', () => {
    const items = [hpa('a'), 5, hpa('b')].map((item) => `- ${JSON.stringify(item)}\n`);

    expect(imported(`apiVersion: v1\nitems:\n${items.join('')}kind: List\n`)).toEqual({
      names: ['shop/a', 'shop/b'],
      failed: ['items[1]'],
      problems: [],
    });
  });
});

describe('concatenated JSON values', () => {
  it('may have brackets in strings, and a broken one between them', () => {
    const [a, b] = [hpa('a'), hpa('b')].map((value) => JSON.stringify(value));

    expect(imported(`${a ?? ''}\n${b ?? ''}`).names).toEqual(['shop/a', 'shop/b']);
    expect(imported(`${a ?? ''}\n{"x":}\n${b ?? ''}`)).toMatchObject({
      names: ['shop/a', 'shop/b'],
      problems: [expect.stringMatching(/^not JSON/)],
    });
  });
});
