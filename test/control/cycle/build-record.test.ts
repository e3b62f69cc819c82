import { describe, expect, it } from '@jest/globals';
import { uniqueConditions } from '../../../src/control/cycle/build-record.js';

describe('uniqueConditions', () => {
  it('has no condition if no duplicate was ever found', () => {
    expect(uniqueConditions(null)).toEqual([]);
  });

  it('is True if duplicates were found earlier and have disappeared', () => {
    expect(uniqueConditions([])).toEqual([
      {
        type: 'MetricsUnique',
        status: 'True',
        reason: 'NoDuplicates',
        message: 'no series of a metric is duplicated',
      },
    ]);
  });

  it('is False with one sentence for each of 2 metrics', () => {
    expect(uniqueConditions(['metric "cpu": twice', 'metric "rps": three times'])).toEqual([
      {
        type: 'MetricsUnique',
        status: 'False',
        reason: 'DuplicateSeries',
        message: 'metric "cpu": twice; metric "rps": three times',
      },
    ]);
  });
});
