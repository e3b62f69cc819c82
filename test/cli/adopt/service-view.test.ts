import { describe, expect, it } from '@jest/globals';
import { whyLacking, whyNoValue, whyUnable } from '../../../src/cli/adopt/confirm-service.js';
import type { ScalerView } from '../../../src/api/answers.js';

const METRIC = { type: 'External', metric: 'load', proposal: 4, error: null, partial: null };

describe('what a switch requires of the last decision', () => {
  it.each([
    ['a full value', METRIC, null, null],
    ['no value', { ...METRIC, proposal: null, error: 'no series' }, /has no value: no series$/, /no series$/],
    ['a partial value', { ...METRIC, partial: 'a warning' }, /partial value: a warning$/, /a warning$/],
    ['no metric, such as at a bound', { ...METRIC, proposal: null }, null, /^no metric was used: above max$/],
  ])('with and without --force: %s', (_, metric, forced, unforced) => {
    const row = { metrics: [metric], reason: 'above max' } as unknown as ScalerView;

    for (const [why, expected] of [
      [whyLacking(row), forced],
      [whyNoValue(row), unforced],
    ] as const)
      expect(why).toEqual(expected === null ? null : expect.stringMatching(expected));
  });

  it.each([
    ['ValidMetricFound', 'True', null],
    ['FailedGetExternalMetric', 'False', 'FailedGetExternalMetric: why'],
    ['ScalingDisabled', 'False', 'ScalingDisabled: why'],
    ['NotEvaluated', 'Unknown', null],
  ])('with and without --force, ScalingActive with the reason %s (%s): %s', (reason, status, expected) => {
    const condition = { type: 'ScalingActive', status, reason, message: 'why' };
    const row = { conditions: [condition] } as unknown as ScalerView;

    expect(whyUnable(row)).toBe(expected);
  });
});
