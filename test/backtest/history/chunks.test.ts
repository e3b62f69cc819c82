import { describe, expect, it } from '@jest/globals';
import { chunksOf, halvesOf } from '../../../src/backtest/history/fetch-series.js';
import { columnOf, loadOfColumn } from '../../../src/backtest/history/columns.js';
import { totalQuery } from '../../../src/backtest/history/history-queries.js';
import { instantFromSeconds, secondsBetween } from '../../../src/units/time.js';
import { scalerOf } from '../../support/builders.js';

const at = instantFromSeconds;

describe('chunksOf', () => {
  it('covers 30 days at 15 s without a hole, below 11,000 points each', () => {
    const [from, to] = [at(1_700_000_007), at(1_702_592_007)];
    const chunks = chunksOf(from, to, 15);

    expect(chunks[0]?.start).toBe(at(1_700_000_010));
    expect(chunks.at(-1)?.end).toBe(at(1_702_591_995));
    chunks.slice(1).forEach(({ start }, index) => {
      expect(secondsBetween(chunks[index]?.end ?? start, start)).toBe(15);
    });
    expect(Math.max(...chunks.map(({ start, end }) => secondsBetween(start, end) / 15 + 1))).toBeLessThan(
      11_000,
    );
  });

  it('is the same in the middle for another range, so that the cache has it', () => {
    const one = chunksOf(at(1_700_000_000), at(1_702_000_000), 15);
    const other = chunksOf(at(1_700_001_000), at(1_702_003_000), 15);

    expect(other.slice(1, -1)).toEqual(one.slice(1, -1));
  });
});

describe('halvesOf', () => {
  it('divides into two parts one step apart, and not below 60 points', () => {
    const halves = halvesOf({ start: at(0), end: at(15 * 120) }, 15);

    expect(halves).toEqual([
      { start: at(0), end: at(15 * 59) },
      { start: at(15 * 60), end: at(15 * 120) },
    ]);
    expect(halvesOf({ start: at(0), end: at(15 * 118) }, 15)).toBeNull();
  });
});

describe('a column', () => {
  const range = { start: at(600), end: at(660), stepSeconds: 15 };

  it('is the sum of the series, unknown where none has a value or one is NaN', () => {
    const { values } = columnOf(
      [
        {
          points: [
            [600_000, 1],
            [615_000, 2],
            [645_000, NaN],
          ],
        },
        {
          points: [
            [600_000, 5],
            [645_000, 3],
          ],
        },
      ],
      range,
    );

    expect([...values]).toEqual([6, 2, NaN, NaN, NaN]);
  });

  it('moves back by half of the window and half a step: a mean over 60 s at 660 s is of 600 to 660 s', () => {
    const load = loadOfColumn(columnOf([{ points: [[660_000, 9]] }], range), 60);

    expect(load.at(at(630))).toBe(9);
    expect([load.at(at(622)), load.at(at(638))]).toEqual([null, null]);
  });
});

describe('totalQuery', () => {
  const spec = (metric: Readonly<Record<string, unknown>>) =>
    scalerOf({ scaleTargetRef: { name: 'web' }, maxReplicas: 9, metrics: [metric] });

  it('sums an External metric on the server, a scalar as a vector', () => {
    const scaler = spec({
      type: 'External',
      external: { query: 'scalar(x) # why', target: { type: 'AverageValue', averageValue: 1 } },
    });
    const [metric] = scaler.spec.metrics;

    expect(metric && totalQuery(metric, scaler, 'scalar(x) # why').query).toBe(
      'sum(vector(scalar(x) # why\n)\n)',
    );
  });

  it('sums the pods of the target by the pattern of their names', () => {
    const scaler = spec({ resource: { name: 'cpu', target: { averageUtilization: 60 } } });
    const [metric] = scaler.spec.metrics;

    expect(metric && totalQuery(metric, scaler, 'x').query).toBe(
      'sum by (promscaler_target) (label_replace(x\n, "promscaler_target", "yes", "pod", "web-[a-z0-9]+-[a-z0-9]{5}"))',
    );
  });
});
