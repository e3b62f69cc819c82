import { describe, expect, test } from '@jest/globals';
import {
  joinHistories,
  logFloor,
  NO_CHART_DATA,
  pointAt,
  pointsSince,
  readHistory,
  replicasTop,
} from '../../../src/dashboard/scaler/model/chart-data.js';
import { firstRange, RANGES, secondsAhead, startOf } from '../../../src/dashboard/scaler/model/ranges.js';
import type { ChartData } from '../../../src/dashboard/scaler/model/chart-data.js';
import type { History } from '../../../src/dashboard/scaler/model/answers.js';

type Values = readonly (number | null)[];

function history(at: readonly string[], counts: Values, value: Values = counts): History {
  return {
    namespace: 'shop',
    name: 'web',
    stepSeconds: null,
    keptFrom: null,
    at,
    currentReplicas: counts,
    desiredReplicas: counts,
    recommendedReplicas: counts,
    minReplicas: counts,
    maxReplicas: counts,
    readyPods: counts,
    metrics: [{ type: 'Resource', metric: 'cpu', unit: 'percent', value, target: at.map(() => 60) }],
  };
}

function data(at: readonly number[], counts: Values): ChartData {
  return {
    ...readHistory(
      history(
        at.map((second) => new Date(second * 1000).toISOString()),
        counts,
      ),
    ),
  };
}

describe('readHistory', () => {
  test('null stays a gap, 0 stays 0', () => {
    const read = readHistory(history(['1970-01-01T00:00:10Z', '1970-01-01T00:00:25Z'], [null, 0]));
    expect(read.at).toEqual([10, 25]);
    expect(read.currentReplicas).toEqual([null, 0]);
    expect(read.metrics[0]?.value).toEqual([null, 0]);
  });

  test('points without a time, repeated ones and ones out of order are dropped with all their columns', () => {
    const times = ['1970-01-01T00:00:10Z', 'soon', '1970-01-01T00:00:10Z', '1970-01-01T00:00:05Z'];
    const read = readHistory(history([...times, '1970-01-01T00:00:11Z'], [1, 2, 3, 4, 5]));
    expect(read.at).toEqual([10, 11]);
    expect(read.maxReplicas).toEqual([1, 5]);
    expect(read.metrics[0]?.target).toEqual([60, 60]);
  });

  test('a history of an earlier version, without ready pods, has gaps there', () => {
    const { readyPods, ...earlier } = history(['1970-01-01T00:00:10Z'], [3]);
    expect(readyPods).toHaveLength(1);
    const read = readHistory(earlier as History);
    expect(read.readyPods).toEqual([null]);
    expect(read.currentReplicas).toEqual([3]);
  });

  test('a column that is too short has gaps at its end', () => {
    const read = readHistory(history(['1970-01-01T00:00:10Z', '1970-01-01T00:00:20Z'], [1]));
    expect(read.currentReplicas).toEqual([1, null]);
  });
});

describe('joinHistories', () => {
  const later = data([100, 115], [4, 5]);

  test('points of the later one win, the earlier one ends before its first', () => {
    const joined = joinHistories(data([60, 90, 100, 110], [1, 2, 9, 9]), later, 60);
    expect(joined.at).toEqual([60, 90, 100, 115]);
    expect(joined.currentReplicas).toEqual([1, 2, 4, 5]);
    expect(joined.metrics[0]?.value).toEqual([1, 2, 4, 5]);
  });

  test('a gap of exactly the maximum is a line, one second more is a gap', () => {
    expect(joinHistories(data([40], [1]), later, 60).at).toEqual([40, 100, 115]);
    const apart = joinHistories(data([39], [1]), later, 60);
    expect(apart.at).toEqual([39, 99, 100, 115]);
    expect(apart.currentReplicas).toEqual([1, null, 4, 5]);
    expect(apart.metrics[0]?.target).toEqual([60, null, 60, 60]);
  });

  test('an empty one changes nothing', () => {
    expect(joinHistories(NO_CHART_DATA, later, 60)).toBe(later);
    expect(joinHistories(later, NO_CHART_DATA, 60)).toBe(later);
    expect(joinHistories(data([100, 200], [1, 1]), later, 60)).toBe(later);
  });

  test('a metric that only the earlier one has is dropped; one with another unit is another metric', () => {
    const other = data([40], [1]);
    const [metric] = other.metrics;
    if (metric === undefined) throw new Error('no metric');
    const joined = joinHistories({ ...other, metrics: [{ ...metric, unit: 'average' }] }, later, 60);
    expect(joined.metrics).toHaveLength(1);
    expect(joined.metrics[0]?.value).toEqual([null, 4, 5]);
  });
});

describe('pointsSince', () => {
  const all = data([10, 20, 30], [1, 2, 3]);

  test('keeps the point before the start, from which its line comes', () => {
    expect(pointsSince(all, 21).at).toEqual([20, 30]);
    expect(pointsSince(all, 30).currentReplicas).toEqual([2, 3]);
    expect(pointsSince(all, 31).metrics[0]?.value).toEqual([3]);
  });

  test('a start at or before the second point keeps everything', () => {
    expect(pointsSince(all, 20)).toBe(all);
    expect(pointsSince(all, 5)).toBe(all);
    expect(pointsSince(NO_CHART_DATA, 5)).toBe(NO_CHART_DATA);
  });
});

describe('pointAt', () => {
  const all = data([10, 20, 30], [1, 2, 3]);

  test.each([
    [9.9, null],
    [10, 0],
    [19.9, 0],
    [20, 1],
    [99, 2],
  ])('at %d it is %p', (second, index) => {
    expect(pointAt(all, second)).toBe(index);
  });
});

describe('replicasTop', () => {
  test('a ceiling up to twice the peak is shown, one above is cut off', () => {
    const counts = data([10], [10]);
    expect(replicasTop({ ...counts, maxReplicas: [20] })).toBe(21);
    expect(replicasTop({ ...counts, maxReplicas: [21] })).toBe(16);
  });

  test('without values it is 2', () => {
    expect(replicasTop(NO_CHART_DATA)).toBe(2);
  });
});

describe('ranges', () => {
  test.each([
    [240, {}, 80],
    [86_400, {}, 3600],
    [900, undefined, 0],
  ])('after %i s of the past with the forecast %j, %i s are ahead', (past, forecast, ahead) => {
    expect(secondsAhead(past, { spec: { forecast } })).toBe(ahead);
  });

  test('the first range is 15 minutes, or two hours if there is more', () => {
    expect(firstRange(null, 10_000).name).toBe('15 min');
    expect(firstRange(9100, 10_000).name).toBe('15 min');
    expect(firstRange(9099, 10_000).name).toBe('2 h');
  });

  test('the charts start with the oldest point, and have at least two minutes', () => {
    const [range] = RANGES;
    if (range === undefined) throw new Error('no range');
    const start = (oldest: number | null) => startOf(range, { now: 10_000, oldest });
    expect(start(9500)).toBe(9500);
    expect(start(9881)).toBe(9880);
    expect(start(9000)).toBe(9100);
    expect(start(null)).toBe(9100);
  });
});

test.each([
  ['10 to 999', [10, null, 999], null],
  ['10 to 1,000', [10, null, 1000], 10],
  ['25 to 20,000', [25, 20_000], 10],
  ['0 to 20,000, without others', [0, 20_000], null],
  ['0 and 1 to 20,000', [0, 1, 20_000], 0.1],
  ['0 and 25 to 20,000', [0, 25, 20_000], 10],
  ['0', [0, 0], null],
  ['nothing known', [null, null], null],
])('the bottom of a logarithmic axis for %s', (_what, values, floor) => {
  expect(logFloor(values)).toBe(floor);
});
