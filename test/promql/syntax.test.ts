import { describe, expect, it } from '@jest/globals';
import { checkSyntax } from '../../src/promql/syntax.js';

const places = (query: string): readonly string[] =>
  checkSyntax(query).map(({ severity, offset }) => `${severity}@${offset}`);

describe('checkSyntax', () => {
  it.each([
    'up',
    'sum by (pod) (rate(http_requests_total{namespace="shop", pod=~"web-.*"}[1m]))',
    'sum(x) by (a) / ignoring(b) group_left() y',
    'max_over_time(rate(x[5m])[1h:1m])',
    'max_over_time(x[1h:])',
    'x offset 5m > bool 3',
    'histogram_quantile(0.9, sum by (le) (rate(x_bucket[5m])))',
    '{"my.metric", a="b"}',
    'label_replace(x, "pod", "$1", "instance", "(.*):.*")',
    '# a comment with ( and "\nup',
    'x{a="it\'s (", b=\'"\', c=`\\`}',
    '-x + 1e3 * Inf',
  ])('reports nothing for %j', (query) => {
    expect(checkSyntax(query)).toEqual([]);
  });

  it.each([
    'rate(x{namespace="$namespace", pod=~"$pods"}[$window])',
    'max_over_time(x[$window:30s])',
    'x{pod=~$pods}',
    'x offset $window',
    'x{a="$n"}',
  ])('accepts the variables of %j', (query) => {
    expect(checkSyntax(query)).toEqual([]);
  });

  it.each([
    ['', 'error@0'],
    ['  \n', 'error@0'],
    ['# only a comment', 'error@0'],
    ['sum(rate(x[5m])', 'error@3'],
    ['x)', 'error@1'],
    ['x[5m)', 'error@4'],
    ['x{a="b', 'error@4'],
    ["x{a='b}", 'error@4'],
    ['foo{a=b}', 'error@6'],
    ['x{a=="b"}', 'error@4'],
    ['x{a="b" c="d"}', 'error@8'],
    ['1 + ', 'error@4'],
    ['1 + # more', 'error@10'],
    ['foo bar', 'error@4'],
    ['a + * b', 'error@4'],
    ['x[]', 'error@2'],
    ['sum(rate(x[5m])) by (', 'error@20'],
    ['rate(x[10x])', 'error@7'],
    ['rate(x[5min])', 'error@7'],
    ['max_over_time(x[1h:30sec])', 'error@19'],
  ])('reports one error for %j: %s', (query, place) => {
    expect(places(query)).toEqual([place]);
  });

  it.each([
    ['nosuch(x)', 'warning@0'],
    ['sum(range_median(x[5m], 3))', 'warning@4'],
    ['q(x)', 'warning@0'],
    ['x keep_metric_names', 'warning@2'],
    ['sum(x) limit 5', 'warning@7'],
    ['x{a="b" or c="d"}', 'warning@8'],
    ['x[5i]', 'warning@3'],
    ['x > 8Ki', 'warning@5'],
    ['WITH (a = 1) a', 'warning@0'],
  ])('warns about syntax of another server in %j: %s', (query, place) => {
    expect(places(query)).toEqual([place]);
  });

  it.each([
    ['rate(x[30])', 7, '[30] has no unit: Prometheus before 2.54 rejects this. Write [30s]'],
    ['rate(x[ 1.5 ])', 8, '1.5 has no unit: Prometheus before 2.54 rejects this. Write 1500ms'],
    ['x offset 30', 9, '30 has no unit: Prometheus before 2.54 rejects this. Write 30s'],
    ['x offset -30', 10, '30 has no unit: Prometheus before 2.54 rejects this. Write 30s'],
    ['max_over_time(x[1h:30])', 19, '30 has no unit: Prometheus before 2.54 rejects this. Write 30s'],
    ['x > 5m', 4, '5m is a duration used as a number: Prometheus before 2.54 rejects this. Write 300'],
  ])('warns about a unit in %j that Prometheus requires or rejects before 2.54', (query, offset, message) => {
    expect(checkSyntax(query)).toEqual([{ severity: 'warning', offset, message }]);
    expect(checkSyntax(query, { isMetricsql: true })).toEqual([]);
  });

  it.each(['rate(x[$window])', 'x @ 1700000000', 'x > 300', 'rate(x[2 * 30s])', 'x{a="[30]"}'])(
    'reports no missing unit in %j',
    (query) => {
      expect(checkSyntax(query)).toEqual([]);
    },
  );

  it('reports the error after unknown functions, each of which is a warning', () => {
    expect(places('nosuch(x) / other(y) +')).toEqual(['warning@0', 'warning@12', 'error@22']);
  });

  it.each(['constructor', 'Constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'accepts %s as a name like any other',
    (name) => {
      expect(checkSyntax(`${name}(x)`)).toMatchObject([
        { severity: 'warning', offset: 0, message: `unknown function "${name}"` },
      ]);
      expect(checkSyntax(`sum by (${name}) (${name}{${name}="${name}"})`)).toEqual([]);
    },
  );

  it('never suggests the configured flavor', () => {
    for (const query of ['x default default', 'keep_last_value(x)', 'WITH (a = 1) a', 'x > 8Ki limit'])
      for (const { severity, message } of checkSyntax(query, { isMetricsql: true })) {
        expect(severity).toBe('warning');
        expect(message).toMatch(/ is MetricsQL: promscaler cannot check this query$/);
      }
  });

  it('locates the error', () => {
    expect(checkSyntax('nosuch(x)')[0]?.message).toBe('unknown function "nosuch"');
    expect(checkSyntax('foo{a=b}')[0]?.message).toBe(
      'unexpected "b": the value of a label matcher is a string in quotes',
    );
    expect(checkSyntax('sum(rate(x[5m])')[0]?.message).toBe('"(" is never closed');
    expect(checkSyntax('')[0]?.message).toBe('the query is empty');
    expect(checkSyntax('foo bar')[0]?.message).toBe('unexpected "bar"');
  });
});
