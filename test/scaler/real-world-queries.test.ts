import { describe, expect, it } from '@jest/globals';
import { readScalers } from '../../src/scaler/read/read-scalers.js';
import { FAULTY_QUERIES } from './faulty-queries.js';
import { type Member, VALID_QUERIES } from './valid-queries.js';

interface ReportedProblem {
  readonly code: string;
  readonly message: string;
}

function problemsOf(
  member: Member,
  query: string,
  { flavor, more = {} }: { flavor?: string; more?: object } = {},
): readonly ReportedProblem[] {
  const body = {
    metric: { name: 'load' },
    query,
    target: { averageValue: 10 },
    ...(member === 'object' ? { describedObject: { name: 'shop' } } : {}),
    ...more,
  };
  const document = {
    apiVersion: 'promscaler.dev/v1',
    kind: 'Scaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      scaleTargetRef: { name: 'web' },
      maxReplicas: 10,
      // As long as the longest range of the queries.
      downscaleStabilizationSeconds: 3600,
      metrics: [{ [member]: body }],
    },
  };
  const sources = [{ name: 'default', namespaces: [], ...(flavor === undefined ? {} : { flavor }) }];
  return readScalers(JSON.stringify(document), 'web.json', { service: { sources, namespaces: [] } }).problems;
}

/**
 * Many queries are parts of those of their source, without its selectors or with raw counters. The target is the same
 * for all of them.
 */
const OF_SELECTION = [
  'no-pod-selector',
  'counter-without-rate',
  'average-as-total',
  'never-scales-up',
  'total-as-value',
  'latency-target',
];

const exceptSelection = (problems: readonly ReportedProblem[]): readonly ReportedProblem[] =>
  problems.filter(({ code }) => !OF_SELECTION.includes(code));

describe('offline validation', () => {
  it.each(VALID_QUERIES)('reports nothing for a metric of %s with %s', (member, query) => {
    expect(exceptSelection(problemsOf(member, query))).toEqual([]);
  });

  it.each(VALID_QUERIES)(
    'reports nothing with flavor victoriametrics for a metric of %s with %s',
    (member, query) => {
      expect(exceptSelection(problemsOf(member, query, { flavor: 'victoriametrics' }))).toEqual([]);
    },
  );

  const faulty = FAULTY_QUERIES.map(([member, query, code, part, more = {}]) => ({
    member,
    query,
    code,
    part,
    more,
  }));

  it.each(faulty)(
    'of a metric of $member with $query reports $code',
    ({ member, query, code, part, more }) => {
      const problems = exceptSelection(problemsOf(member, query, { more }));

      expect(problems.map((problem) => problem.code)).toEqual([code]);
      expect(problems[0]?.message).toContain(part);
    },
  );

  it('is tested with at least 60 queries of each kind', () => {
    expect(Math.min(VALID_QUERIES.length, FAULTY_QUERIES.length)).toBeGreaterThanOrEqual(60);
  });
});

describe('MetricsQL', () => {
  const errors = [
    'median by (pod) (x)',
    'any(x) by (q)',
    'sum by (pod) (x,)',
    'rate(rps)',
    'sum(rate(rps))',
    'max(sum(x), sum(y))',
    'sum(x)[5m]',
    'sum(x) offset 5m',
    'label_replace(x, "a" + "b", "$1", "c", ".*")',
    'quantiles("phi", 0.5, 0.9, x) by (q)',
  ];
  const warnings = [
    'keep_last_value(x)',
    'sum(x) if sum(y)',
    'sum(x) limit 5',
    'rate(x[5m]) keep_metric_names',
    'WITH (f = x) sum(f)',
    'rate(x[5i])',
    'x{a="b" or c="d"}',
    'sum(x) / 8Ki',
  ];

  it.each(errors)('is an error that names the flavor if none is configured: %s', (query) => {
    const problems = problemsOf('external', query);

    expect(problems.map(({ code }) => code)).toEqual([expect.stringMatching(/^query-(?:syntax|type)$/)]);
    expect(problems[0]?.message).toMatch(
      /MetricsQL.*the query needs a data source with flavor: victoriametrics/,
    );
  });

  it.each([...errors, ...warnings])('is a warning with flavor: victoriametrics: %s', (query) => {
    const problems = problemsOf('external', query, { flavor: 'victoriametrics' });

    expect(problems.map(({ code }) => code)).toEqual(['query-unknown']);
    expect(problems[0]?.message).toMatch(/MetricsQL.*promscaler cannot check/);
  });

  it('is checked for zeros instead of missing data, too', () => {
    const codes = (flavor: string): readonly string[] =>
      problemsOf('external', 'sum(x) default 0', { flavor }).map(({ code }) => code);

    expect(codes('victoriametrics')).toEqual(['query-unknown', 'vector-zero']);
    expect(codes('prometheus')).toEqual(['query-unknown', 'vector-zero']);
  });

  it('can have a scalar where Prometheus needs a vector, which is a zero as well', () => {
    const codes = problemsOf('external', 'sum(x) or 0', { flavor: 'victoriametrics' }).map(
      ({ code }) => code,
    );

    expect(codes.toSorted()).toEqual(['query-unknown', 'vector-zero']);
  });

  it('is checked against the data source that the metric names', () => {
    const query = 'rate(rps)';
    const more = { source: 'default' };

    expect(problemsOf('external', query, { flavor: 'victoriametrics', more })[0]?.code).toBe('query-unknown');
    expect(problemsOf('external', query, { flavor: 'mimir', more })[0]?.code).toBe('query-type');
  });

  it.each(['sum(x', 'sum(x))', '', 'sum(x) / / y', 'sum(x) +', 'x[]', 'x{a="b'])(
    'does not excuse a query that no server accepts: %s',
    (query) => {
      const [problem] = problemsOf('external', query, { flavor: 'victoriametrics' });

      expect(problem?.code).toMatch(query === '' ? /^out-of-range$/ : /^query-syntax$/);
    },
  );
});
