import { describe, expect, it } from '@jest/globals';

import { parseTrace } from '../../support/backtests.js';
import { traceCurve } from '../../../src/cli/demo/workloads.js';

function curveOf(...lines: readonly string[]): readonly number[] {
  const { load } = parseTrace(['t_seconds,value', ...lines].join('\n'), null);
  if (load === null) throw new Error('the trace is invalid');
  return [0, 59, 60, 179, 180, 239, 240].map(traceCurve(load));
}

describe('traceCurve', () => {
  it('is the requests per second of each step of 60 s, and repeats after 240 s', () => {
    expect(curveOf('0,1', '60,2', '120,0', '180,4')).toEqual([1, 1, 2, 0, 4, 4, 1]);
  });

  it('has the value before a gap, and the first value before any', () => {
    expect(curveOf('0,', '60,2', '120,', '180,4')).toEqual([2, 2, 2, 2, 4, 4, 2]);
  });
});
