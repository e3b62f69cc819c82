import { describe, expect, it } from '@jest/globals';
import { bursts, dailyWave, faster, flashCrowd } from '../../../src/simulator/controllers/load.js';

describe('load curves', () => {
  it('waves from 10 to 50 and back in a day', () => {
    const wave = dailyWave({ low: 10, high: 50 });

    expect([0, 21_600, 43_200, 86_400].map((t) => Math.round(wave(t)))).toEqual([10, 30, 50, 10]);
  });

  it('shortens a day to 24 minutes with speed 60', () => {
    expect(faster(dailyWave({ low: 10, high: 50 }), 60)(720)).toBeCloseTo(50);
  });

  it('rises to a flash crowd within 10 s, holds 20 s and falls within 40 s', () => {
    const crowd = flashCrowd({
      base: 10,
      peak: 110,
      atSeconds: 60,
      riseSeconds: 10,
      holdSeconds: 20,
      fallSeconds: 40,
    });

    expect([59, 65, 70, 89.9, 110, 130, 200].map(crowd)).toEqual([10, 60, 110, 110, 60, 10, 10]);
  });

  it('bursts for 5 s of every 60 s', () => {
    const curve = bursts({ base: 1, peak: 9, everySeconds: 60, burstSeconds: 5 });

    expect([0, 4.9, 5, 59, 60].map(curve)).toEqual([9, 9, 1, 1, 9]);
  });
});
