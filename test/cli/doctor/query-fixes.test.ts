import { describe, expect, it } from '@jest/globals';
import { fixForFailure } from '../../../src/cli/checks/query-fixes.js';

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
      `${fix}Prometheus before 2.54 rejects the present query`,
    );
  });

  it.each(['HTTP 422 "execution": unknown function', 'HTTP 503 no healthy upstream', ''])(
    'has no advice for %j',
    (message) => {
      expect(fixForFailure('execution', message, 'rate(x[30])')).toBeNull();
    },
  );
});
