import { describe, expect, it } from '@jest/globals';
import { pinchWindow } from '../../../src/dashboard/scaler/model/ranges.js';

const WINDOW = { from: 1000, to: 2000 };

describe('pinchWindow', () => {
  it.each([
    ['twice as far: half of the time', [0.25, 0.75], [0, 1], { from: 1250, to: 1750 }],
    ['fingers the other way round', [0.75, 0.25], [1, 0], { from: 1250, to: 1750 }],
    ['only the right finger moves', [0.2, 0.4], [0.2, 0.6], { from: 1100, to: 1600 }],
    ['at the left edge: nothing earlier', [0, 0.2], [0.3, 0.7], { from: 1000, to: 1350 }],
    ['together: no zoom', [0.2, 0.8], [0.3, 0.7], null],
    ['no movement', [0.2, 0.8], [0.2, 0.8], null],
    ['too near at the start', [0.5, 0.549], [0.1, 0.9], null],
    ['just far enough', [0.5, 0.551], [0, 1], { from: 1500, to: 1551 }],
  ] as const)('%s', (_name, start, now, window) => {
    const zoomed = pinchWindow(WINDOW, start, now);
    expect(zoomed === null ? null : { from: Math.round(zoomed.from), to: Math.round(zoomed.to) }).toEqual(
      window,
    );
  });
});
