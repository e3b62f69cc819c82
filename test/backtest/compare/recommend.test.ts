import { describe, expect, it } from '@jest/globals';
import { describeCost } from '../../../src/backtest/compare/recommend.js';
import { figuresWith } from './figures-of.js';

describe('describeCost', () => {
  it.each([
    [95, '5.0 % fewer pod-hours'],
    [99, '1.0 % fewer pod-hours'],
    [99.01, 'hardly fewer pod-hours (0.99 %): on its own no reason to change the document'],
    [99.94, 'hardly fewer pod-hours (0.06 %): on its own no reason to change the document'],
    [110, '10.0 % more pod-hours, and meets the condition, which the document misses'],
  ])('says what %s instead of 100 pod-hours are', (podHours, expected) => {
    expect(describeCost(figuresWith({ podHours }), figuresWith({ podHours: 100 }))).toBe(expected);
  });
});
