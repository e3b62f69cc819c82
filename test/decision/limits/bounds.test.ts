import { describe, expect, it } from '@jest/globals';
import { boundsInForce, highestMax, widestBounds } from '../../../src/decision/limits/bounds.js';
import type { Schedule } from '../../../src/schedules/schedule.js';
import { at, schedule } from '../../schedules/builders.js';

const bounds = (time: string, ...schedules: Schedule[]): ReturnType<typeof boundsInForce> =>
  boundsInForce({ minReplicas: 2, maxReplicas: 60, schedules }, at(time));

const range = (time: string, ...schedules: Schedule[]): [number, number] => {
  const { minReplicas, maxReplicas } = bounds(time, ...schedules);
  return [minReplicas, maxReplicas];
};

describe('widestBounds', () => {
  it.each([
    [[], [2, 60]],
    [[schedule({ minReplicas: 10, maxReplicas: null })], [2, 60]],
    [[schedule({ minReplicas: 1, maxReplicas: 80 })], [1, 80]],
    // A ceiling of 0 lowers the floor of the document to 0.
    [[schedule({ minReplicas: null, maxReplicas: 0 })], [0, 60]],
  ])('of 2 to 60 and the schedules %# are %j', (schedules, [min, max]) => {
    expect(widestBounds({ minReplicas: 2, maxReplicas: 60, schedules })).toEqual({
      minReplicas: min,
      maxReplicas: max,
    });
  });
});

describe('boundsInForce', () => {
  it('are the bounds of the document without a schedule', () => {
    expect(bounds('2026-11-20T12:00:00Z')).toEqual({
      minReplicas: 2,
      maxReplicas: 60,
      floor: null,
      ceiling: null,
      clippedFloor: null,
    });
  });

  it('include the floor of a schedule from its start until just before its end', () => {
    const times = ['07:59:59.999', '08:00:00', '19:59:59.999', '20:00:00'];

    expect(times.map((time) => range(`2026-11-20T${time}Z`, schedule())[0])).toEqual([2, 10, 10, 2]);
  });

  it('name the schedule and its end', () => {
    expect(bounds('2026-11-20T12:00:00Z', schedule()).floor).toEqual({
      schedule: 'day',
      replicas: 10,
      phase: 'during',
      until: at('2026-11-20T20:00:00Z'),
    });
  });

  it('can have a lower floor and a higher ceiling than the document', () => {
    expect(range('2026-11-20T12:00:00Z', schedule({ minReplicas: 1, maxReplicas: 100 }))).toEqual([1, 100]);
  });

  it('use the highest floor and the lowest ceiling of the active schedules', () => {
    const a = schedule({ minReplicas: 10, maxReplicas: 50 });
    const b = schedule({ name: 'b', minReplicas: 20, maxReplicas: 40 });

    expect(range('2026-11-20T12:00:00Z', a, b)).toEqual([20, 40]);
    expect(range('2026-11-20T12:00:00Z', b, a)).toEqual([20, 40]);
  });

  it('clip a floor of 20 to a ceiling of 15, and report that', () => {
    const a = schedule({ minReplicas: 20 });
    const b = schedule({ name: 'b', minReplicas: null, maxReplicas: 15 });

    expect(bounds('2026-11-20T12:00:00Z', a, b)).toMatchObject({
      minReplicas: 15,
      maxReplicas: 15,
      clippedFloor: 20,
    });
  });

  it('ramp up from 2 to a floor of 10 within 800 s: 6 at 400 s before the start', () => {
    const ramped = schedule({ rampSeconds: 800 });
    const times = ['07:46:40', '07:46:41', '07:53:20', '07:59:59', '08:00:00'];

    expect(times.map((time) => range(`2026-11-20T${time}Z`, ramped)[0])).toEqual([2, 3, 6, 10, 10]);
  });

  it('ramp down from a floor of 10 after the end', () => {
    const ramped = schedule({ rampSeconds: 800 });
    const times = ['19:59:59', '20:00:00', '20:01:40', '20:06:40', '20:13:19', '20:13:20'];

    expect(times.map((time) => range(`2026-11-20T${time}Z`, ramped)[0])).toEqual([10, 10, 9, 6, 3, 2]);
  });

  it('never drop between two occurrences that are closer than their ramps', () => {
    const dense = schedule({ recurring: { start: '0 * * * *', end: '50 * * * *' }, rampSeconds: 1200 });
    const times = ['12:50:00', '12:55:00', '13:00:00'];

    expect(times.map((time) => range(`2026-11-20T${time}Z`, dense)[0])).toEqual([10, 8, 10]);
  });

  it('apply on one-off dates', () => {
    const sale = schedule({
      recurring: null,
      minReplicas: 40,
      dates: [{ start: at('2026-11-27T00:00:00Z'), end: at('2026-12-01T00:00:00Z') }],
    });
    const times = [
      '2026-11-26T23:59:59Z',
      '2026-11-27T00:00:00Z',
      '2026-11-30T23:59:59Z',
      '2026-12-01T00:00:00Z',
    ];

    expect(times.map((time) => range(time, sale)[0])).toEqual([2, 40, 40, 2]);
  });
});

describe('highestMax', () => {
  /** Active from 08:00 to 20:00; 100 replicas at most. */
  const sale = schedule({ maxReplicas: 100 });
  const ceiling = (time: string, lastScaleUp: string | null, ...schedules: Schedule[]): number =>
    highestMax({ maxReplicas: 60, schedules }, at(time), lastScaleUp === null ? null : at(lastScaleUp));

  it('is the largest ceiling of the document and all active schedules', () => {
    expect(ceiling('2026-11-20T12:00:00Z', null, sale, schedule({ maxReplicas: 5 }))).toBe(100);
    expect(ceiling('2026-11-20T12:00:00Z', null)).toBe(60);
  });

  it('includes a schedule that ended after the last scale-up, but not one that ended before', () => {
    const times = ['2026-11-20T19:59:59Z', '2026-11-20T20:00:00Z', '2026-11-20T21:00:00Z'];

    expect(times.map((time) => ceiling('2026-11-20T22:00:00Z', time, sale))).toEqual([100, 60, 60]);
  });

  it('includes a schedule that ramps up, and one whose ramp-down has not ended', () => {
    const ramped = schedule({ maxReplicas: 100, rampSeconds: 600 });

    expect(ceiling('2026-11-20T07:49:59Z', '2026-11-20T07:00:00Z', ramped)).toBe(60);
    expect(ceiling('2026-11-20T07:50:00Z', '2026-11-20T07:00:00Z', ramped)).toBe(100);
    expect(ceiling('2026-11-20T22:00:00Z', '2026-11-20T20:09:59Z', ramped)).toBe(100);
    expect(ceiling('2026-11-20T22:00:00Z', '2026-11-20T20:10:00Z', ramped)).toBe(60);
  });

  it('includes every schedule that has been active if no scale-up is known', () => {
    const dates = [{ start: at('2026-11-27T00:00:00Z'), end: at('2026-12-01T00:00:00Z') }];
    const once = schedule({ recurring: null, maxReplicas: 100, dates });

    expect(ceiling('2026-11-20T22:00:00Z', null, sale)).toBe(100);
    expect(ceiling('2026-11-26T23:59:59Z', null, once)).toBe(60);
    expect(ceiling('2026-12-05T00:00:00Z', null, once)).toBe(100);
  });
});
