import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type LineKind, topsOf, visibleRange } from '../../../src/dashboard/overview/visible-range.js';

const HEIGHTS = { row: 60, short: 48, heading: 36 };

function rowsOf(count: number): readonly LineKind[] {
  return new Array<LineKind>(count).fill('row');
}

const VIEW = { height: 600, tops: topsOf(rowsOf(5000), HEIGHTS), least: 60 };

describe('visibleRange', () => {
  it.each([
    ['at the top', { ...VIEW, offset: 300 }, { first: 0, end: 25 }],
    ['in the middle', { ...VIEW, offset: -60_000 }, { first: 992, end: 1017 }],
    ['at the end', { ...VIEW, offset: 600 - 5000 * 60 }, { first: 4975, end: 5000 }],
    ['of 3 rows', { ...VIEW, tops: topsOf(rowsOf(3), HEIGHTS), offset: 0 }, { first: 0, end: 3 }],
    ['of no rows', { ...VIEW, tops: [0], offset: 0 }, { first: 0, end: 0 }],
    ['before the height of a row is known', { ...VIEW, least: 0, offset: 0 }, { first: 0, end: 0 }],
  ])('%s', (_name, view, range) => {
    expect(visibleRange(view)).toEqual(range);
  });

  it('contains every row in the window, and always as many rows', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -400_000, max: 2000 }),
        fc.integer({ min: 0, max: 6000 }),
        (offset, rows) => {
          const tops = topsOf(rowsOf(rows), HEIGHTS);
          const { first, end } = visibleRange({ ...VIEW, tops, offset });
          for (let y = 0; y < 600; y += 30) {
            const row = Math.floor((y - offset) / 60);
            if (row >= 0 && row < rows) expect(row >= first && row < end).toBe(true);
          }
          expect(end - first).toBe(Math.min(25, rows));
          expect(first >= 0 && first <= end && end <= rows).toBe(true);
        },
      ),
    );
  });

  it('contains every line in the window if lines have three heights', () => {
    const kind = fc.constantFrom<LineKind>('row', 'short', 'heading');
    fc.assert(
      fc.property(
        fc.integer({ min: -60_000, max: 2000 }),
        fc.array(kind, { minLength: 1, maxLength: 1000 }),
        (offset, kinds) => {
          const tops = topsOf(kinds, HEIGHTS);
          const { first, end } = visibleRange({ tops, least: 36, offset, height: 600 });
          kinds.forEach((one, line) => {
            const top = (tops[line] ?? NaN) + offset;
            if (top + HEIGHTS[one] > 0 && top < 600) expect(line >= first && line < end).toBe(true);
          });
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('topsOf', () => {
  it('adds the heights of the lines above, and ends with the height of all', () => {
    expect(topsOf(['heading', 'row', 'short', 'heading'], HEIGHTS)).toEqual([0, 36, 96, 144, 180]);
  });
});
