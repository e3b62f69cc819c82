import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eachWholeDocument, readYaml } from '../../../src/scaler/yaml/read-yaml.js';
import { readSimpleYaml } from '../../../src/scaler/yaml/simple-yaml.js';

const EXAMPLES = readdirSync('config/scalers').map((name) =>
  readFileSync(join('config/scalers', name), 'utf8'),
);
const WITH_BRACKETS = `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { name: web }
  maxReplicas: 50
  metrics:
    - pods:
        metric: { selector: { matchLabels: { service: web } } }
        query: sum by (pod) (rate(http_requests_total{namespace="$namespace", pod=~"$pods"}[2m]))
        target: { averageValue: 10 }
`;

type Place = readonly [line: number, column: number] | null;

interface Reading {
  readonly json: string;
  readonly problems: readonly string[];
  readonly placeOf: (path: readonly (string | number)[]) => Place;
}

/** What the whole parser reads; null: not one document. */
function readWhole(text: string): Reading | null {
  const [document, second] = eachWholeDocument(text, null);
  if (document === undefined || second !== undefined) return null;
  return {
    json: JSON.stringify(document.value),
    problems: document.problems.map(({ message }) => message),
    placeOf: (path) => {
      const { place } = document.place({ code: 'wrong-type', message: '', path, at: 'value', offset: null });
      return place === null ? null : [place.line, place.column];
    },
  };
}

function* pathsIn(
  value: unknown,
  at: readonly (string | number)[] = [],
): Generator<readonly (string | number)[]> {
  if (at.length > 0) yield at;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value))
    yield* pathsIn(member, [...at, Array.isArray(value) ? Number(key) : key]);
}

/** Fails unless the text is left to the whole parser, or both read the same values at the same places. */
function expectSame(text: string): void {
  const simple = readSimpleYaml(text);
  if (simple === null) return;
  const whole = readWhole(text);
  expect(whole).not.toBeNull();
  expect(whole?.problems).toEqual([]);
  expect(JSON.stringify(simple.value)).toBe(whole?.json);
  for (const path of pathsIn(simple.value)) {
    const offset = simple.offsetOf(path);
    if (offset === null) continue;
    const before = text.slice(0, offset).split('\n');
    expect([before.length, (before.at(-1)?.length ?? 0) + 1]).toEqual(whole?.placeOf(path));
  }
}

describe('readSimpleYaml', () => {
  it.each<[string, unknown]>([
    ['a: b', { a: 'b' }],
    ['---\na: b # c\n\n# d\n', { a: 'b' }],
    ['a: b#c\nd: http://e:80/f', { a: 'b#c', d: 'http://e:80/f' }],
    ['a:\n  b: 1\n  c:\n  - x\n  - y: 2\n    z: 3\nd:', { a: { b: 1, c: ['x', { y: 2, z: 3 }] }, d: null }],
    ['a: { b: [1, -2.5, "c", \'d\'], e: {}, f: [] }', { a: { b: [1, -2.5, 'c', 'd'], e: {}, f: [] } }],
    ['a: [500m, 1.5Gi, 80%, true, null, "1"]', { a: ['500m', '1.5Gi', '80%', true, null, '1'] }],
    ['a: "b: # c"\nd: \'e: f\'', { a: 'b: # c', d: 'e: f' }],
    ['a: |\n  b\n    c # d\ne: |-\n  f\n', { a: 'b\n  c # d\n', e: 'f' }],
    ['a:\n  - |\n    b\n  - c', { a: ['b\n', 'c'] }],
    ['constructor: 1\ntoString: x', { constructor: 1, toString: 'x' }],
    ['a: 999999999999999', { a: 999999999999999 }],
  ])('reads %j', (text, value) => {
    expect(readSimpleYaml(text)?.value).toEqual(value);
    expectSame(text);
  });

  it.each([
    ['nothing', '# a\n'],
    ['a scalar', 'a'],
    ['a list', '- a'],
    ['two documents', 'a: b\n---\nc: d'],
    ['a continued string', 'a: b\n  c'],
    ['a key twice', 'a: 1\na: 2'],
    ['a key twice in brackets', 'a: { b: 1, b: 2 }'],
    ['__proto__', '__proto__: 1'],
    ['an anchor', 'a: &b c'],
    ['an alias', 'a: *b'],
    ['a tag', 'a: !!str 1'],
    ['a tab', 'a:\tb'],
    ['a carriage return', 'a: b\r\n'],
    ['a byte order mark', '\ufeffa: b'],
    ['an escape', 'a: "\\n"'],
    ['a doubled quote', "a: 'b''c'"],
    ['a folded block', 'a: >\n  b'],
    ['an empty line in a block', 'a: |\n  b\n\n  c'],
    ['two keys on a line', 'a: b: c'],
    ['brackets over two lines', 'a: [\n  b]'],
    ['a trailing comma', 'a: [b,]'],
    ['a hexadecimal number', 'a: 0xf'],
    ['an exponent', 'a: 1e3'],
    ['a leading zero', 'a: 007'],
    ['negative zero', 'a: -0'],
    ['16 digits', 'a: 9999999999999999'],
    ['wrong indentation', 'a:\n    b: 1\n  c: 2'],
    ['9 brackets', `a: ${'['.repeat(9)}${']'.repeat(9)}`],
    ['18 levels', Array.from({ length: 18 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')],
  ])('leaves %s to the whole parser', (_, text) => {
    expect(readSimpleYaml(text)).toBeNull();
  });

  it('reads up to 8 brackets and 17 levels', () => {
    const brackets = `a: ${'['.repeat(8)}${']'.repeat(8)}`;
    const levels = Array.from({ length: 17 }, (_, level) => `${' '.repeat(level)}a:`).join('\n');
    for (const text of [brackets, levels]) {
      expect(readSimpleYaml(text)).not.toBeNull();
      expectSame(text);
    }
  });

  it('reads the documents that promscaler has as examples', () => {
    const isRead = [...EXAMPLES, WITH_BRACKETS].map((text) => readSimpleYaml(text) !== null);
    expect(isRead.filter(Boolean).length).toBe(isRead.length);
    for (const text of [...EXAMPLES, WITH_BRACKETS]) expectSame(text);
  });

  it('never reads another value, or another place, than the whole parser', () => {
    const parts = fc.constantFrom(
      ...[' ', '\n', '\n  ', ':', ': ', '- ', '#', ' #', '{', '}', '[', ']', ', ', '"', "'", '|\n', '|-\n'],
      ...['a', 'a: b', 'null', '~', '0', '-1', '1.5', '1e3', '0x1f', '500m', '.5', '&a ', '*a', '!t ', '? '],
      ...['---\n', '...\n', '%', '\\', 'é', '{ a: b }', '[a, b]', '<<', '\t', '\r\n', '-0', '::', '- - '],
    );
    const lines = [...EXAMPLES, WITH_BRACKETS].join('\n').split('\n');
    const mixed = fc.array(fc.tuple(fc.nat(4), fc.constantFrom(...lines)), { maxLength: 8 });
    const text = fc.oneof(
      fc.array(parts, { maxLength: 10 }).map((all) => all.join('')),
      mixed.map((all) => all.map(([indent, line]) => ' '.repeat(2 * indent) + line.trimStart()).join('\n')),
      fc
        .tuple(fc.constantFrom(...EXAMPLES, WITH_BRACKETS), fc.nat(), fc.nat(3), parts)
        .map(([example, number, removed, part]) => {
          const at = number % example.length;
          return example.slice(0, at) + part + example.slice(at + removed);
        }),
    );
    fc.assert(fc.property(text, expectSame), { numRuns: 1500 });
  });
});

describe('readYaml', () => {
  const DOCUMENT = 'metadata:\n  name: web # x\n';
  const NAME = { code: 'wrong-type', message: 'm', path: ['metadata', 'name'] } as const;

  it('places a finding in a simple document', () => {
    const [document] = readYaml(DOCUMENT, 'f.yaml');
    const value = document?.place({ ...NAME, at: 'value', offset: null });
    expect([value?.place, value?.sourceLine]).toEqual([{ line: 2, column: 9 }, '  name: web # x']);
    const key = document?.place({ ...NAME, at: 'key', offset: null });
    expect(key?.place).toEqual({ line: 2, column: 3 });
    const character = document?.place({ ...NAME, at: 'value', offset: 2 });
    expect(character?.place).toEqual({ line: 2, column: 11 });
  });
});
