import { describe, expect, it } from '@jest/globals';
import { shownQueries } from '../../../src/prometheus/queries/compile-queries.js';
import type { SourceConfig } from '../../../src/prometheus/data-source/source-config.js';
import { aSource, externalMetric } from '../../support/builders.js';
import { due } from '../round-fixture.js';

const scaler = due(
  [
    externalMetric({ query: 'sum by (pod) (rate(requests_total{pod=~"$pods"}[1m]))' }),
    externalMetric({ query: 'a + "b&c"', source: 'other' }),
  ],
  'shop',
  'web',
);

const sources = (
  main: Partial<SourceConfig>,
  other: Partial<SourceConfig>,
): ReadonlyMap<string, SourceConfig> =>
  new Map([
    ['default', { ...aSource(), ...main }],
    ['other', { ...aSource(), name: 'other', ...other }],
  ]);

describe('the queries of a scaler for a person', () => {
  it('have values for their variables, and a link to the UI of their data source if it has one', () => {
    const [pods, external] = shownQueries(
      scaler,
      sources({}, { externalUrl: 'https://prometheus.example.com/other/' }),
    );

    expect(pods).toEqual({
      path: 'spec.metrics[0]',
      query: expect.stringContaining('{pod=~"web-'),
      graphUrl: null,
    });
    expect(external).toEqual({
      path: 'spec.metrics[1]',
      query: 'a + "b&c"',
      graphUrl:
        'https://prometheus.example.com/other/graph?g0.expr=a+%2B+%22b%26c%22&g0.tab=0&g0.range_input=1h',
    });
    expect(new URL(external?.graphUrl ?? '').searchParams.get('g0.expr')).toBe('a + "b&c"');
  });

  it('are not shown for a data source that is unknown, or that the namespace may not query', () => {
    expect(shownQueries(scaler, sources({ namespaces: ['billing'] }, {})).map(({ path }) => path)).toEqual([
      'spec.metrics[1]',
    ]);
    expect(shownQueries(scaler, new Map())).toEqual([]);
  });
});
