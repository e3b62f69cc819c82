import { describe, expect, it } from '@jest/globals';
import { metricNames } from '../../src/promql/vector-selectors.js';

describe('metricNames', () => {
  it.each([
    ['sum(rate(http_requests_total{a="$name"}[$window]))', ['http_requests_total']],
    ['a / b + a', ['a', 'b']],
    ['{"my.metric", a="b"} + {__name__="foo"}', ['my.metric', 'foo']],
    ['{__name__=~"foo|bar"}', []],
    ['{__name__="$name"}', []],
    ['nosuch(x) + q(y)', ['x', 'y']],
    ['# z\nvector(1)', []],
    ['count(up{job="rabbitmq"} == 1) >= 1', ['up']],
    ['constructor / __proto__', ['constructor', '__proto__']],
    ['', []],
  ])('returns the names in %j: %j', (query, names) => {
    expect(metricNames(query)).toEqual(names);
  });
});
