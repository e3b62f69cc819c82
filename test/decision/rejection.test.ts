import { describe, expect, it } from '@jest/globals';
import { rejectionOf } from '../../src/decision/rejection.js';

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
