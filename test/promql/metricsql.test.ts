import { describe, expect, it } from '@jest/globals';
import { firstMetricsql, rewriteMetricsql } from '../../src/promql/metricsql.js';
import { parseQuery } from '../../src/promql/parse.js';

describe('rewriteMetricsql', () => {
  it.each([
    ['sum(x) default 0', 'sum(x) or      0'],
    ['a ifnot b if c', 'a or    b or c'],
    ['median by (pod) (x)', 'sum    by (pod) (x)'],
    ['any(x) by (q)', 'sum(x) by (q)'],
    ['sum(x, )', 'sum(x  )'],
    ['rate(x[5m]) keep_metric_names', 'rate(x[5m])                  '],
    ['sum(x) limit 5', 'sum(x)        '],
    ['x > 8Ki', 'x > 8  '],
    ['x{a="b" or c="d"}', 'x{a="b" ,  c="d"}'],
    ['rate(x[1.5h])', 'rate(x[105h])'],
    ['rate(x[5i])', 'rate(x[5s])'],
  ])('rewrites %s as PromQL of the same length', (query, rewritten) => {
    expect(rewriteMetricsql(query)).toBe(rewritten);
    expect(rewritten).toHaveLength(query.length);
    expect(parseQuery(rewritten).errorNode).toBeNull();
  });

  it.each([
    'sum by (default, if, limit) (x)',
    'default{limit="5"} or if',
    'x{or="a"}',
    'x > 5m',
    'x[5m] # default 0',
    'x{a="sum(x) default 0"}',
    'sum(median)',
    'WITH (a = b) a default 0',
    '',
  ])('does not change %s', (query) => {
    expect(rewriteMetricsql(query)).toBeNull();
  });

  it('returns the position of the first rewrite', () => {
    expect(firstMetricsql('sum(x) default 0 limit 5')).toEqual({ offset: 7, word: 'default' });
    expect(firstMetricsql('sum(x)')).toBeNull();
  });
});
