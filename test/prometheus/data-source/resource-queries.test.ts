import { describe, expect, it } from '@jest/globals';
import { resolveServiceConfig } from '../../../src/config/resolve-service-config.js';
import { resourceWindowSeconds, takesWindow } from '../../../src/prometheus/data-source/resource-queries.js';
import type { SourceConfig } from '../../../src/prometheus/data-source/source-config.js';
import type { ServiceInput } from '../../../src/config/service-schema.js';

type SourceInput = NonNullable<ServiceInput['prometheus']>[string];

function sourceOf(input: SourceInput): SourceConfig {
  const source = resolveServiceConfig({ prometheus: { default: input } }, null).prometheus['default'];
  if (source === undefined) throw new Error('there is no data source');
  return source;
}

describe('the window of a resource query', () => {
  it.each([
    ['that of $window for the default query', {}, 120],
    ['that of $window, whatever resourceWindows says', { resourceWindows: { cpu: 300 } }, 120],
    [
      'stated for a recording rule',
      { resourceQueries: { cpu: 'pod:cpu:rate5m' }, resourceWindows: { cpu: 300 } },
      300,
    ],
    [
      'stated, whatever range is written in the query',
      { resourceQueries: { cpu: 'avg_over_time(pod:cpu:rate5m[1m])' }, resourceWindows: { cpu: 360 } },
      360,
    ],
    ['the range that is written in the query', { resourceQueries: { cpu: 'rate(x[4m])' } }, 240],
    ['0 for a query with neither', { resourceQueries: { cpu: 'pod:cpu:rate5m' } }, 0],
  ])('is %s', (_, input, seconds) => {
    expect(resourceWindowSeconds(sourceOf(input), 'cpu')).toBe(seconds);
  });

  it('is 0 for memory, which is a gauge, and for a resource without a query', () => {
    expect(resourceWindowSeconds(sourceOf({}), 'memory')).toBe(0);
    expect(resourceWindowSeconds(sourceOf({ resourceWindows: { memory: 60 } }), 'memory')).toBe(60);
    expect(resourceWindowSeconds(sourceOf({}), 'toString')).toBe(0);
  });

  it('is that of $window for queries that use only $window', () => {
    expect(takesWindow(sourceOf({}), 'cpu')).toBe(true);
    expect(takesWindow(sourceOf({ resourceQueries: { cpu: 'rate(x[5m])' } }), 'cpu')).toBe(false);
  });
});
