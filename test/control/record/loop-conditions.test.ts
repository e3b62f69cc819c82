import { describe, expect, it } from '@jest/globals';
import { uniqueConditions } from '../../../src/control/record/loop-conditions.js';

describe('uniqueConditions', () => {
  it('has no condition where no duplicate was ever found', () => {
    expect(uniqueConditions(null)).toEqual([]);
  });

  it('is True where duplicates were found earlier and are gone', () => {
    expect(uniqueConditions([])).toEqual([
      {
        type: 'MetricsUnique',
        status: 'True',
        reason: 'NoDuplicates',
        message: 'each series exists once',
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
