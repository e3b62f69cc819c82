import { describe, expect, it } from '@jest/globals';
import { dropsLabel } from '../../src/promql/analyze.js';

describe('dropsLabel', () => {
  it.each(['sum(x)', 'sum by (node) (x)', '(max without (pod) (rate(x[1m])))', 'count by () (x)'])(
    'returns true if no series of %s has the label pod',
    (query) => {
      expect(dropsLabel(query, 'pod')).toBe(true);
    },
  );

  it.each([
    'x',
    'sum by (pod) (x)',
    'sum by (node, pod) (x)',
    'sum without (node) (x)',
    'topk(3, x)',
    'bottomk by (node) (1, x)',
    'x * on (node) group_left () count by (node) (x)',
    'label_replace(sum by (p) (x), "pod", "$1", "p", "(.*)")',
    'sum(x',
    '',
  ])('returns false for %s', (query) => {
    expect(dropsLabel(query, 'pod')).toBe(false);
  });
});
