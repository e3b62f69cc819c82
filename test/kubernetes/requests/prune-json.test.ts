import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pruneJson, type JsonFields } from '../../../src/kubernetes/requests/prune-json.js';

const BOUNDS = { depth: 64, items: 100_000 };

function prune(text: string, fields: JsonFields, bounds = BOUNDS): unknown {
  const pruned = pruneJson(Buffer.from(text), fields, bounds);
  if (pruned === null) return 'not JSON';
  return 'excess' in pruned ? pruned.excess : JSON.parse(pruned.text);
}

/** The plain path: parse everything, then drop members. */
function drop(value: unknown, fields: JsonFields): unknown {
  if (fields === true || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element: unknown) => drop(element, fields));
  const isKept = (name: string): boolean =>
    Object.hasOwn(fields, name) || JSON.stringify(name).includes('\\');
  const kept = Object.entries(value).filter(([name]) => isKept(name));
  return Object.fromEntries(
    kept.map(([name, member]) => [
      name,
      drop(member, Object.hasOwn(fields, name) ? (fields[name] ?? true) : true),
    ]),
  );
}

const FIELDS: JsonFields = { kind: true, metadata: { name: true }, items: { a: { b: true }, status: true } };

describe('pruneJson', () => {
  it('keeps the fields of an object, of each element of an array, and everything below `true`', () => {
    const text = `{ "kind": "List", "x": [1, {"kind": 2}], "metadata": {"uid": "1", "name": "a\\"b"},
      "items": [{"a": {"b": [{"c": 1}], "c": 2}}, {}, {"status": {"x": {}}, "spec": "{"}] }`;

    expect(prune(text, FIELDS)).toEqual({
      kind: 'List',
      metadata: { name: 'a"b' },
      items: [{ a: { b: [{ c: 1 }] } }, {}, { status: { x: {} } }],
    });
  });

  it('keeps a member whose name has an escape, because it may be any name', () => {
    expect(prune('{"\\u006bind":"List","other":1}', FIELDS)).toEqual({ kind: 'List' });
  });

  it('keeps what is not an object where one is expected', () => {
    expect(prune('{"metadata":null,"items":7,"kind":[1,"x"]}', FIELDS)).toEqual({
      metadata: null,
      items: 7,
      kind: [1, 'x'],
    });
    expect(prune(' "text" ', FIELDS)).toBe('text');
  });

  it('returns the same as parsing everything, for any JSON', () => {
    const names = fc.constantFrom('kind', 'metadata', 'name', 'items', 'a', 'b', 'status', 'spec', '"\\');
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        fc.jsonValue({ maxDepth: 1 }),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(names, tie('tree'), { maxKeys: 6 }),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.constantFrom(0, 1), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const parsed: unknown = JSON.parse(text);
        expect(prune(text, FIELDS)).toEqual(drop(parsed, FIELDS));
      }),
      { numRuns: 2000 },
    );
  });

  it('counts levels and items of what it drops: 64 levels and 100 items pass, 65 and 101 do not', () => {
    const nested = (levels: number): string => `{"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    const wide = (items: number): string => `{"x":[${Array.from({ length: items - 1 }, () => 1).join(',')}]}`;
    const bounds = { depth: 64, items: 100 };

    expect(prune(nested(64), FIELDS, bounds)).toEqual({});
    expect(prune(nested(65), FIELDS, bounds)).toBe('more than 64 levels of arrays and objects');
    expect(prune(wide(100), FIELDS, bounds)).toEqual({});
    expect(prune(wide(101), FIELDS, bounds)).toBe('more than 100 array elements and object members');
  });

  it('rejects JSON that ends early anywhere, and text after it', () => {
    const text = '{"kind":"L","x":{"y":["]}"]},"items":[{"a":{"b":1}}]}';
    for (let end = 0; end < text.length; end += 1)
      expect([end, isRejected(text.slice(0, end))]).toEqual([end, true]);
    for (const more of ['}', ',', ' {}', '"']) expect(isRejected(text + more)).toBe(true);
    expect(isRejected(`${text}\n`)).toBe(false);
  });

  it('never fails in another way, for any bytes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', ' ', 'a', '1') }),
        (text) => {
          prune0(text);
        },
      ),
      { numRuns: 5000 },
    );
  });
});

function isRejected(text: string): boolean {
  return prune0(text) === 'not JSON';
}

/** The text may still be rejected by the parser. */
function prune0(text: string): unknown {
  try {
    return prune(text, FIELDS);
  } catch (error) {
    if (error instanceof SyntaxError) return 'not JSON';
    throw error;
  }
}
