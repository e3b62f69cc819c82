import { describe, expect, it } from '@jest/globals';
import type { Problem } from '../../src/scaler/problems/problem.js';
import { viewProblems } from '../../src/server/pages/views.js';

function problem(overrides: Partial<Problem> = {}): Problem {
  return {
    code: 'unreadable',
    severity: 'error',
    message: 'no',
    file: 'a.yaml',
    place: null,
    path: '',
    sourceLine: 'the source line',
    ...overrides,
  };
}

describe('viewProblems', () => {
  it('lists errors before warnings, with their line, without the source line', () => {
    const warning = problem({ severity: 'warning', place: { line: 7, column: 2 } });

    expect(viewProblems([warning, problem()])).toEqual([
      {
        severity: 'error',
        code: 'unreadable',
        message: 'no',
        file: 'a.yaml',
        line: null,
        path: '',
        scaler: null,
        since: null,
      },
      {
        severity: 'warning',
        code: 'unreadable',
        message: 'no',
        file: 'a.yaml',
        line: 7,
        path: '',
        scaler: null,
        since: null,
      },
    ]);
  });

  it.each([
    [100, 100],
    [101, 100],
  ])('returns, of %d problems, the first %d', (count, shown) => {
    expect(viewProblems(Array.from({ length: count }, () => problem()))).toHaveLength(shown);
  });

  it.each([
    [1000, 1000],
    [1001, 1000],
  ])('truncates a message of %d characters to %d', (length, shown) => {
    const [view] = viewProblems([problem({ message: 'x'.repeat(length) })]);

    expect(view?.message).toHaveLength(shown);
  });
});
