import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { topOf, visibleRange } from '../../../src/dashboard/overview/visible-range.js';

const VIEW = { height: 600, rowHeight: 60, rows: 5000, headings: [], headingHeight: 36 };

describe('visibleRange', () => {
  it.each([
    ['at the top', { ...VIEW, offset: 300 }, { first: 0, end: 25 }],
    ['in the middle', { ...VIEW, offset: -60_000 }, { first: 992, end: 1017 }],
    ['at the end', { ...VIEW, offset: 600 - 5000 * 60 }, { first: 4975, end: 5000 }],
    ['of 3 rows', { ...VIEW, rows: 3, offset: 0 }, { first: 0, end: 3 }],
    ['of no rows', { ...VIEW, rows: 0, offset: 0 }, { first: 0, end: 0 }],
    ['before the height of a row is known', { ...VIEW, rowHeight: 0, offset: 0 }, { first: 0, end: 0 }],
  ])('%s', (_name, view, range) => {
    expect(visibleRange(view)).toEqual(range);
  });

  it('contains every row in the window, and always as many rows', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -400_000, max: 2000 }),
        fc.integer({ min: 0, max: 6000 }),
        (offset, rows) => {
          const { first, end } = visibleRange({ ...VIEW, offset, rows });
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

  it('contains every line in the window if some are headings of 36 px, which are at the end of the lines above', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -200_000, max: 2000 }),
        fc.uniqueArray(fc.integer({ min: 0, max: 2999 }), { maxLength: 300 }),
        (offset, indexes) => {
          const headings = indexes.toSorted((a, b) => a - b);
          const layout = { rows: 3000, rowHeight: 60, headings, headingHeight: 36 };
          const { first, end } = visibleRange({ ...layout, offset, height: 600 });
          for (let line = 0; line < 3000; line += 1) {
            const top = topOf(line, layout) + offset;
            const height = headings.includes(line) ? 36 : 60;
            if (top + height > 0 && top < 600) expect(line >= first && line < end).toBe(true);
          }
        },
      ),
      { numRuns: 30 },
    );
    const layout = { rowHeight: 60, headings: [0, 3], headingHeight: 36 };
    expect([0, 1, 2, 3, 4, 5].map((line) => topOf(line, layout))).toEqual([0, 36, 96, 156, 192, 252]);
  });
});
