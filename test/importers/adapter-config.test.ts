import { describe, expect, it } from '@jest/globals';
import { unusualResources } from '../../src/importers/adapter/adapter-queries.js';
import { readAdapterText } from '../../src/importers/adapter/read-adapter.js';

describe('the config of prometheus-adapter', () => {
  it.each([
    ['seriesQuery', 'rules: [{ metricsQuery: x }]'],
    ['metricsQuery', 'rules: [{ seriesQuery: x }]'],
    ['name', 'rules: [{ seriesQuery: x, metricsQuery: x, name: { matches: "(" } }]'],
    ['name', 'rules: [{ seriesQuery: x, metricsQuery: x, name: { matches: "((a+)+)$" } }]'],
    ['seriesFilters', 'rules: [{ seriesQuery: x, metricsQuery: x, seriesFilters: [{ is: "a+b+c+d+" }] }]'],
    ['seriesQuery', `rules: [{ seriesQuery: '{__name__=~"("}', metricsQuery: x }]`],
    ['name', `rules: [{ seriesQuery: x, metricsQuery: x, name: { matches: '^[[:alpha:]]+$' } }]`],
    ['name', `rules: [{ seriesQuery: x, metricsQuery: x, name: { matches: '^x\\z' } }]`],
  ])('has a remark on %s: %s', (field, text) => {
    const { config: read } = readAdapterText(text, 'a.yaml');

    expect(read?.remarks).toMatchObject([{ path: ['rules', 0, field] }]);
  });

  it('has one line per resource query that differs from that of promscaler', () => {
    const { config: read } = readAdapterText(
      `resourceRules:
  cpu: { containerQuery: 'sum(rate(container_cpu_usage_seconds_total{<<.LabelMatchers>>, container!=""}[3m])) by (<<.GroupBy>>)' }
  memory: { containerQuery: 'sum(my_memory{<<.LabelMatchers>>}) by (<<.GroupBy>>)' }
  window: 3m
`,
      'a.yaml',
    );

    expect(read === null ? [] : unusualResources(read)).toEqual([
      'resourceRules.memory: Resource metrics use the field resourceQueries.memory of the data source. Set this field to sum(my_memory{namespace=~"$namespaces"}) by (namespace, pod, container)',
    ]);
  });

  it('with other content is not a config', () => {
    expect(readAdapterText('kind: Deployment', 'a.yaml').config).toBeNull();
  });
});
