import { describe, expect, it } from '@jest/globals';
import {
  fixForCopies,
  fixForFailure,
  fixForSelector,
  fixForSeveral,
} from '../../../src/cli/checks/query-fixes.js';

describe('fixForFailure', () => {
  it.each([
    ['query processing would load too many samples into memory in query execution', '--query.max-samples'],
    [
      'the number of matching timeseries exceeds 300000; either narrow down the search or increase -search.max* command-line flag values',
      'add matchers such as namespace="$namespace"',
    ],
    [
      'the query exceeded the maximum number of chunks (limit: 2000000 chunks) (err-mimir-max-chunks-per-query)',
      'limits.max_fetched_series_per_query of Mimir',
    ],
    ['expanding series: exceeded series limit: limit 1000 violated (got 1001)', 'shorten the range'],
    [
      'found duplicate series for the match group {} on the right hand-side of the operation;many-to-many matching not allowed',
      'group_left ()',
    ],
    ['multiple matches for labels: grouping labels must ensure unique matches', 'aggregate the side'],
  ])('explains how to fix a 422: %s', (text, fix) => {
    expect(fixForFailure('execution', `HTTP 422 "execution": ${text}`, 'x / y')).toContain(fix);
  });

  it.each([
    ['rate(x[30])', '1:8: parse error: missing unit character in duration', 'write [30s]: '],
    ['x offset 30', '1:10: parse error: unexpected number "30" in offset, expected duration', 'write 30s: '],
    ['x > 5m', '1:5: parse error: unexpected duration "5m"', 'write 300: '],
  ])('names the unit that Prometheus 2.42 misses or rejects in %s', (query, text, fix) => {
    const message = `HTTP 400 "bad_data": invalid parameter "query": ${text}`;

    expect(fixForFailure('bad_query', message, query)).toBe(
      `${fix}Prometheus before 2.54 rejects the current query`,
    );
  });

  it.each(['HTTP 422 "execution": unknown function', 'HTTP 503 no healthy upstream', ''])(
    'has no advice for %j',
    (message) => {
      expect(fixForFailure('execution', message, 'rate(x[30])')).toBeNull();
    },
  );
});

describe('fixForSeveral', () => {
  const SUM = 'wrap the query in sum(...)';
  const of = (...labels: readonly Readonly<Record<string, string>>[]): string =>
    fixForSeveral(
      labels.map((one) => ({ labels: { job: 'web', ...one }, value: 1 })),
      ['web-0', 'web-1'],
    );

  it('names a matcher for the only label in which the series differ, with its values', () => {
    expect(of({ code: '200' }, { code: '500' })).toBe(`${SUM}, or add a matcher for code (200, 500)`);
    expect(of({ code: '200' }, {})).toBe(`${SUM}, or add a matcher for code ("", 200)`);
  });

  it('names as many matchers as are needed to leave one series', () => {
    expect(
      of(
        { code: '200', method: 'GET', x: 'a' },
        { code: '200', method: 'PUT', x: 'a' },
        { code: '500', method: 'GET', x: 'b' },
      ),
    ).toBe(`${SUM}, or add matchers for code (200, 500) and method (GET, PUT)`);
    expect(of({ code: '200', text: 'OK' }, { code: '500', text: 'Error' })).toBe(
      `${SUM}, or add a matcher for code (200, 500)`,
    );
  });

  it.each([
    ['the address', [{ instance: 'a:80' }, { instance: 'b:80' }]],
    [
      'the pod and the code',
      [
        { pod: 'a', code: '200' },
        { pod: 'b', code: '200' },
        { pod: 'a', code: '500' },
      ],
    ],
    [
      'the code, of one pod of the workload',
      [
        { pod: 'web-0', code: '200' },
        { pod: 'web-0', code: '500' },
      ],
    ],
  ])('names no matcher for series that differ in %s, which would select one pod', (_, labels) => {
    expect(of(...labels)).toBe(SUM);
  });
});

describe('fixForCopies', () => {
  it('names no matcher for the address of a target, because it would remove all other targets', () => {
    const copies = (values: readonly string[]): string =>
      fixForCopies({ times: 2, labels: [{ name: 'instance', values }], namespaces: [], isAdded: true });

    expect(copies(['a:1', 'a:2'])).toBe('aggregate the duplicates with max by (...) before the sum');
    expect(copies(['', 'a:2'])).toContain('add instance!="" to the matchers');
  });
});

describe('fixForSelector', () => {
  const of = (query: string, key: string, operator: 'In' | 'Exists' | 'NotIn' = 'In'): string =>
    fixForSelector(query, [{ labels: { queue: 'mail' }, value: 1 }], [{ key, operator, values: ['x'] }]);

  it('keeps a label that the query drops, uses a label of the series, or a value of the label', () => {
    expect(of('sum by (queue) (mails)', 'vhost')).toBe(
      'keep the label vhost in the result of the query, as in by (vhost)',
    );
    expect(of('mails', 'vhost', 'Exists')).toBe(
      'use labels of the series in metric.selector; the series have the labels queue',
    );
    expect(of('mails', 'queue')).toBe(
      'use existing values in metric.selector; the series have the labels queue',
    );
    expect(of('mails', 'queue', 'NotIn')).toBe(
      'use existing values in metric.selector; the series have the labels queue',
    );
  });
});
