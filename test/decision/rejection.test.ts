import { describe, expect, it } from '@jest/globals';
import { describeVersions, rejectionOf } from '../../src/decision/rejection.js';

describe('the cause of a rejection', () => {
  it.each([
    ['spec.maxReplicas', 'spec.maxReplicas is 0', 'spec.maxReplicas is 0'],
    ['spec.target.averageUtilization', 'spec.target is of two types', 'spec.target is of two types'],
    ['spec.metrics[0].query', 'unexpected "x"', 'spec.metrics[0].query: unexpected "x"'],
    ['', 'not YAML', 'not YAML'],
    ['spec', ': is missing', 'spec: : is missing'],
  ])('of %j with %j names the path once', (path, message, cause) => {
    const error = { severity: 'error', code: 'wrong-value', file: 'a.yaml', path, message } as const;

    expect(rejectionOf([error])?.cause).toBe(cause);
  });
});

describe('the version of a decision', () => {
  it.each([
    [4, 5, true, 'this decision uses generation 4, because generation 5 is rejected'],
    [4, 4, true, 'this decision uses generation 4, because the newest version is rejected'],
    [4, null, true, 'this decision uses generation 4, because the newest version is rejected'],
    [null, null, true, 'this decision uses the last valid version, because the newest version is rejected'],
    [4, 5, false, 'generation 4; the newest generation, 5, has no decision yet'],
    [4, 4, false, null],
    [4, null, false, null],
    [null, null, false, null],
  ])(
    'of generation %j with %j as the newest, rejected: %j, is %j',
    (generation, newest, isRejected, text) => {
      expect(describeVersions({ generation, newestGeneration: newest }, isRejected)).toBe(text);
    },
  );
});
