import { describe, expect, it } from '@jest/globals';
import { vectorSelectors, withoutMatcher } from '../../src/promql/vector-selectors.js';

describe('vectorSelectors', () => {
  it('returns metric, matchers and range of each selector, in order', () => {
    const query =
      'sum(rate(a_total{x="1", y=~"b|c"}[5m] offset 1h)) / on () b > bool {__name__="c", z!~\'q\'}';

    expect(vectorSelectors(query)).toEqual([
      {
        text: 'a_total{x="1", y=~"b|c"}',
        metric: 'a_total',
        matchers: [
          { label: 'x', operator: '=', value: '1', text: 'x="1"' },
          { label: 'y', operator: '=~', value: 'b|c', text: 'y=~"b|c"' },
        ],
        range: '5m',
      },
      { text: 'b', metric: 'b', matchers: [], range: null },
      {
        text: '{__name__="c", z!~\'q\'}',
        metric: null,
        matchers: [
          { label: '__name__', operator: '=', value: 'c', text: '__name__="c"' },
          { label: 'z', operator: '!~', value: 'q', text: "z!~'q'" },
        ],
        range: null,
      },
    ]);
  });

  it('returns a selector once for each range', () => {
    const ranges = vectorSelectors('rate(a[5m]) + rate(a[5m]) + rate(a[1h]) + a').map(({ range }) => range);

    expect(ranges).toEqual(['5m', '1h', null]);
  });

  it('finds the range of a selector with an offset or @ modifier', () => {
    expect(vectorSelectors('rate(a[7m] @ end() offset 5m)').map(({ range }) => range)).toEqual(['7m']);
  });

  it('returns none for a query that selects nothing or does not parse', () => {
    expect([vectorSelectors('time()'), vectorSelectors(')')]).toEqual([[], []]);
  });
});

describe('withoutMatcher', () => {
  it('keeps the other matchers as written', () => {
    const [selector] = vectorSelectors('a{x="1", y=~"b\\\\d", z=""}');
    if (selector === undefined) throw new Error('no selector');

    const left = selector.matchers.map((matcher) => withoutMatcher(selector, matcher));

    expect(left).toEqual(['a{y=~"b\\\\d", z=""}', 'a{x="1", z=""}', 'a{x="1", y=~"b\\\\d"}']);
  });
});
