import { describe, expect, it } from '@jest/globals';
import { analyzeQuery } from '../../src/promql/analyze.js';
import { mayHave } from '../../src/promql/labels.js';

function dropsLabel(query: string, label: string): boolean {
  const facts = analyzeQuery(query);
  return facts !== null && !mayHave(facts.labels, label);
}

describe('inferLabels', () => {
  it.each(['sum(x)', 'sum by (node) (x)', '(max without (pod) (rate(x[1m])))', 'count by () (x)'])(
    'finds that no series of %s has the label pod',
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
  ])('finds that a series of %s may have the label pod, or nothing for a query that is none', (query) => {
    expect(dropsLabel(query, 'pod')).toBe(false);
  });
});
