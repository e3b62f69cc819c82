import { describe, expect, it } from '@jest/globals';
import { metricNames } from '../../src/promql/vector-selectors.js';
import { parseQuery } from '../../src/promql/parse.js';
import { findQueryLimit } from '../../src/promql/query-limits.js';
import { largestRangeSeconds } from '../../src/promql/ranges.js';
import { checkSyntax } from '../../src/promql/syntax.js';

const nested = (depth: number): string => `${'('.repeat(depth)}x${')'.repeat(depth)}`;

describe('findQueryLimit', () => {
  it.each([
    [
      '65,536 characters',
      `"${'x'.repeat(65_534)}"`,
      `"${'x'.repeat(65_535)}"`,
      65_536,
      'has 65537 characters',
    ],
    ['500 operators', `x${'+x'.repeat(500)}`, `x${'+x'.repeat(501)}`, 1001, 'has 501 operators'],
    ['500 words', `x${' or x'.repeat(500)}`, `x${' or x'.repeat(502)}`, 2502, 'has 502 operators'],
    ['500 calls', 'f(x)'.repeat(500), 'f(x)'.repeat(501), 2001, 'has 501 calls and parentheses'],
    ['400 ranges', `x${'[5m]'.repeat(400)}`, `x${'[5m]'.repeat(501)}`, 2001, 'has 501 operators'],
    ['100 levels', nested(100), nested(101), 100, 'has 101 levels of nesting'],
    ['2,000 tokens', 'x '.repeat(2000), 'x '.repeat(2001), 4000, 'has 2001 tokens'],
    ['500 variables', `"${'$a'.repeat(500)}"`, `"${'$a'.repeat(501)}"`, 1001, 'has 501 variables'],
  ])('accepts %s and no more', (_, allowed, refused, offset, message) => {
    expect(findQueryLimit(allowed)).toBeNull();
    expect(findQueryLimit(refused)).toMatchObject({ offset });
    expect(findQueryLimit(refused)?.message).toContain(`the query ${message}, must have at most `);
  });

  it('does not count the content of strings and comments', () => {
    expect(findQueryLimit(`x{a="${'+('.repeat(600)}"} # ${'+('.repeat(600)}`)).toBeNull();
  });
});

describe('a query that exceeds a limit', () => {
  const query = `foo(x)${'+foo(x)'.repeat(2600)}[15m]`;

  it('has one error, and no names or ranges', () => {
    expect(checkSyntax(query)).toEqual([
      {
        severity: 'error',
        offset: 500 * 7 + 6,
        message: 'the query has 2601 operators, must have at most 500',
        isLimit: true,
      },
    ]);
    expect(metricNames(query)).toEqual([]);
    expect(largestRangeSeconds(query)).toBe(300);
  });

  it('has the same error for every caller', () => {
    const deep = 'sum by (a) ('.repeat(20_000);

    expect(parseQuery(deep).limit).not.toBeNull();
    expect(parseQuery(deep).errorNode).not.toBeNull();
  });
});

describe('a query within the limits', () => {
  it('has a warning for each call of an unknown function, in order', () => {
    const query = 'foo(x) + abs(bar(foo (y))) + "foo(" # foo(';

    const found = parseQuery(query).unknownFunctions;

    expect(found).toEqual([
      { name: 'foo', offset: 0 },
      { name: 'bar', offset: 13 },
      { name: 'foo', offset: 17 },
    ]);
  });

  it('keeps characters beyond 16 bits in its strings', () => {
    expect(metricNames('{"😀"} + {__name__="a😀b"}')).toEqual(['😀', 'a😀b']);
  });

  it.each([
    ['a name of 60,000 letters that is called', `${'x'.repeat(60_000)}(y)`],
    ['60,000 blanks before a mistake', `x{a="b" or${' '.repeat(60_000)}=}`],
    ['60,000 half characters', `"${'\ud800'.repeat(60_000)}"`],
  ])('is checked in one pass: %s', (_, text) => {
    // A quadratic check would take minutes.
    expect(Array.isArray(checkSyntax(text))).toBe(true);
  });
});
