import { describe, expect, it } from '@jest/globals';
import { analyzeQuery } from '../../src/promql/analyze.js';
import type { ValueType } from '../../src/promql/signatures.js';

describe('analyzeQuery', () => {
  it.each<[string, ValueType | null]>([
    ['x', 'vector'],
    ['x[5m]', 'range'],
    ['x[5m] offset 1h', 'range'],
    ['sum(x)[1h:]', 'range'],
    ['1 + 2 * 3', 'scalar'],
    ['scalar(x) - time()', 'scalar'],
    ['-(x)', 'vector'],
    ['x > 1', 'vector'],
    ['"a"', 'string'],
    ['nosuch(x)', null],
    ['nosuch(x) + 1', null],
    ['sum(nosuch(x))', 'vector'],
  ])('returns the type of %s: %s', (query, type) => {
    expect(analyzeQuery(query)?.type).toBe(type);
  });

  it.each(['sum(x', '', '# x', 'foo bar', 'WITH (a = b) a'])('returns null for %j', (query) => {
    expect(analyzeQuery(query)).toBeNull();
  });

  it.each([
    ['sum(x) or vector(0)', 'or vector(0)', 0, true],
    ['a + (sum(b) or vector(0))', 'or vector(0)', 0, false],
    ['sum(x) or -vector(2)', 'or -vector(2)', -2, true],
    ['sum(x) default 0', 'default 0', 0, true],
    ['sum(x) or 0 * up', 'or 0 * up', 0, true],
    ['sum(x) or hour()', 'or hour()', null, true],
    ['max(sum(x), 0)', 'max(sum(x), 0)', 0, true],
    ['vector(scalar(x) > bool 1)', '> bool 1', 0, true],
    ['a - fill_right(0) b', 'fill_right(0) b', null, false],
  ])('finds the constant that replaces missing data in %s', (query, part, value, isWhole) => {
    const { filler = null } = analyzeQuery(query) ?? {};

    expect(query.slice(filler?.from, filler?.to)).toBe(part);
    expect(filler).toMatchObject({ value, isWhole });
  });

  it.each([
    ['(sum(x) or on() vector(0)) * 2', ['sum(x)']],
    ['sum(x) or absent(x) * 0', ['sum(x)']],
    ['sum(x) or sum(y) or vector(0)', ['sum(x) or sum(y)']],
    ['(sum(x) or vector(0)) + (sum(y) default 0)', ['sum(x)', 'sum(y)']],
    ['a / (sum(b) or vector(1)) + (c or vector(0))', ['c']],
    ['max(sum(x), 0)', ['sum(x)']],
    ['vector(scalar(x) > bool 1)', ['scalar(x)']],
    ['a - fill_right(0) b', ['a', 'b']],
  ])('returns what the constants of %s replace', (query, parts) => {
    const { replaced = [] } = analyzeQuery(query)?.filler ?? {};

    expect(replaced.map(({ from, to }) => query.slice(from, to))).toEqual(parts);
  });

  it.each([
    'sum(x) or sum(y)',
    'vector(0)',
    'hour() > 8 or vector(1)',
    'sum(x) or vector(NaN)',
    'vector(scalar(sum(x)))',
    'sum(x) or 0 * (up == 1)',
    'sum(x) or (vector(0) and on () up == 1)',
    'sum(x) or (vector(0) unless on () (up == 0 or absent(up)))',
    '(sum(x) or vector(0)) and on () up == 1',
    '(sum(x) or vector(0)) > 0',
    'sum(a) / (sum(b) or vector(1))',
    'sum(a) > (sum(b) or vector(1))',
    'absent(x)',
    'clamp_min(sum(x), 1)',
    'sum(x) default NaN',
  ])('finds no constant in %s', (query) => {
    expect(analyzeQuery(query)?.filler).toBeNull();
  });

  describe('on trees of thousands of levels', () => {
    const DEEP: readonly (readonly [string, (count: number) => string])[] = [
      ['x + x + ...', (count) => Array(count).fill('x').join(' + ')],
      ['x or x or ...', (count) => `${'x or '.repeat(count)}vector(0)`],
      ['((...))', (count) => `${'('.repeat(count)}x${')'.repeat(count)}`],
      ['- - -x', (count) => `${'- '.repeat(count)}x`],
      ['x offset 5m offset 5m ...', (count) => `x${' offset 5m'.repeat(count)}`],
      [
        'sum by (a1) (x) or sum by (a2) (x) ...',
        (count) => Array.from({ length: count }, (_, n) => `sum by (a${n}) (x)`).join(' or '),
      ],
      ['one call of many operands', (count) => `label_join(x, "a", "b"${', "c"'.repeat(count)})`],
    ];

    it.each(DEEP)('never overflows the stack: %s', (_, make) => {
      expect(() => analyzeQuery(make(1000))).not.toThrow();
      expect(() => analyzeQuery(make(2000))).not.toThrow();
    });

    it('returns nothing for a query that exceeds the limits', () => {
      expect(analyzeQuery(`label_join(x, "a", "b"${', "c"'.repeat(900)})`)).not.toBeNull();
      expect(analyzeQuery(`label_join(x, "a", "b"${', "c"'.repeat(1100)})`)).toBeNull();
    });
  });
});
