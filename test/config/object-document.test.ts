import { describe, expect, it } from '@jest/globals';
import { locateObject } from '../../src/config/document-reader.js';
import type { ReadDocument } from '../../src/scaler/read/read-scalers.js';
import { readLocated } from '../../src/scaler/read/read-scalers.js';

const FILE = 'scalers.promscaler.dev/shop/web';

function read(specText: string): ReadDocument {
  return readLocated(locateObject({ namespace: 'shop', name: 'web', specText }, FILE), FILE, {});
}

function withLabels(count: number): string {
  const matchLabels = Object.fromEntries(Array.from({ length: count }, (_, index) => [`l${index}`, 'x']));
  const metric = { name: 'm', selector: { matchLabels } };
  const external = { metric, query: 'x', target: { value: 1 } };
  return JSON.stringify({ scaleTargetRef: { name: 'web' }, maxReplicas: 3, metrics: [{ external }] });
}

/** Returns a spec whose document has this number of nested objects and lists. */
function nested(levels: number): string {
  return `{"a":${'['.repeat(levels - 2)}1${']'.repeat(levels - 2)}}`;
}

function problemsOf({ problems }: ReadDocument): readonly string[] {
  return problems.map(({ code, path }) => `${code} ${path.slice(0, 60)}`);
}

describe('locateObject', () => {
  it('keeps strings that YAML would read as another type', () => {
    const spec = {
      scaleTargetRef: { name: 'on' },
      maxReplicas: 3,
      metrics: [{ external: { metric: { name: '1e3' }, query: 'up', target: { value: '1k' } } }],
    };

    expect(read(JSON.stringify(spec)).scaler?.document.spec).toEqual(spec);
  });

  it('reports a problem with the path of the field and the object as its file', () => {
    const { scaler, problems, key } = read('{"scaleTargetRef":{"name":"web"},"maxReplicas":0}');

    expect({ scaler, key }).toEqual({ scaler: null, key: 'shop/web' });
    expect(problems).toEqual([
      {
        code: 'out-of-range',
        severity: 'error',
        message: 'spec.maxReplicas is 0, must be at least 1',
        file: FILE,
        place: null,
        path: 'spec.maxReplicas',
        sourceLine: null,
      },
    ]);
  });

  it('accepts 1,000 keys in one object, and rejects 1,001', () => {
    expect(problemsOf(read(withLabels(1000)))).not.toContainEqual(expect.stringContaining('yaml-size'));
    expect(problemsOf(read(withLabels(1001)))).toEqual([
      'yaml-size spec.metrics[0].external.metric.selector.matchLabels',
    ]);
  });

  it('rejects more than 1 MiB, counted in bytes, before parsing', () => {
    const specOf = (bytes: number): string => `{"a":"${'\u00e9'.repeat((bytes - 8) / 2)}"}`;

    expect(problemsOf(read(specOf(1_048_576)))).toContain('unknown-field spec.a');
    expect(problemsOf(read(specOf(1_048_578)))).toEqual(['yaml-size spec']);
  });

  it('accepts 64 levels, and rejects 65 and 50,000', () => {
    const isTooDeep = (levels: number): boolean =>
      problemsOf(read(nested(levels))).some((problem) => problem.startsWith('too-deep'));

    expect([64, 65, 50_000].map(isTooDeep)).toEqual([false, true, true]);
  });

  it('reports the first 100 of more problems', () => {
    const fields = Array.from({ length: 900 }, (_, index) => `"f${index}":1`);

    const { problems } = read(`{${fields.join(',')}}`);

    expect(problems).toHaveLength(101);
    expect(problems.at(-1)?.code).toBe('too-many-problems');
  });
});
