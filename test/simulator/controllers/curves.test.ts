import { describe, expect, it } from '@jest/globals';
import {
  bursts,
  dailyWave,
  faster,
  flashCrowd,
  parseTrace,
  traceCurve,
} from '../../../src/simulator/controllers/curves.js';

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

describe('a trace', () => {
  it('reads requests per step with a header, comments and empty lines as rates', () => {
    const trace = parseTrace('t_seconds,value\n# recorded\n0,60\n\n60,120\r\n120,0\n');

    expect(trace).toEqual({ stepSeconds: 60, ratesPerSecond: [1, 2, 0] });
    expect([0, 59, 60, 179, 180].map(traceCurve(trace))).toEqual([1, 1, 2, 0, 1]);
  });

  it.each([
    ['0,1\nx,2', 'line 2 is "x,2", must be t_seconds,value with value >= 0'],
    ['0,1\n60,-2', 'line 2 is "60,-2"'],
    ['0,1\n60', 'line 2 is "60"'],
    ['0,1', 'fewer than two lines'],
    ['0,1\n60,1\n100,1', 'times must rise in equal steps of 60 s (value 3)'],
    ['60,1\n0,1', 'times must rise'],
  ])('rejects %j', (text, message) => {
    expect(() => parseTrace(text)).toThrow(message);
  });
});
