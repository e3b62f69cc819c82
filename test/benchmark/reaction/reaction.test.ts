import { describe, expect, it } from '@jest/globals';
import type { ReactionFigures } from './measure.js';
import { createSteppingCounter } from './stepping-counter.js';
import { tableOf } from './write-section.js';

const figures: ReactionFigures = {
  syncPeriodSeconds: 15,
  steps: [9, 1, 4].map((seconds) => ({ firstSeconds: seconds, fullSeconds: seconds + 2 })),
  queriesPerSecond: 0.7,
  serviceCpuMs: 12,
  prometheusCpuMs: 8,
};

describe('the load of the benchmark', () => {
  it('goes on from its value when its rate steps', () => {
    const counter = createSteppingCounter(10, 0);
    const before = counter.valueAt(1000);

    counter.setRate(20, 2000);

    expect([before, counter.valueAt(2000), counter.valueAt(3000)]).toEqual([10, 20, 40]);
  });
});

describe('the table', () => {
  it('has minimum, median and maximum next to the sum of interval, window and period', () => {
    expect(tableOf([figures]).slice(2, 5)).toEqual([
      '| first PATCH: minimum, median, maximum | 1.0 s, 4.0 s, 9.0 s |',
      '| PATCH for the whole step: minimum, median, maximum | 3.0 s, 6.0 s, 11.0 s |',
      '| scrape interval + rate window + sync period | 20 s |',
    ]);
  });
});
