import { describe, expect, it } from '@jest/globals';
import { nextOccurrences, recurringAround } from '../../src/schedules/occurrences.js';
import type { Occurrence } from '../../src/schedules/schedule.js';
import { formatInstant } from '../../src/units/time.js';
import { at, schedule } from './builders.js';

const show = (occurrence: Occurrence | null): string | null =>
  occurrence === null ? null : `${formatInstant(occurrence.start)} to ${formatInstant(occurrence.end)}`;

describe('recurringAround', () => {
  it('has the one that runs as the last, and the one after it', () => {
    const around = recurringAround(schedule(), at('2026-11-20T12:00:00Z'));

    expect([around.last, around.next].map(show)).toEqual([
      '2026-11-20T08:00:00Z to 2026-11-20T20:00:00Z',
      '2026-11-23T08:00:00Z to 2026-11-23T20:00:00Z',
    ]);
  });

  it('goes over midnight where the end comes earlier in the day than the start', () => {
    const night = schedule({ recurring: { start: '0 22 * * *', end: '0 6 * * *' } });

    expect(show(recurringAround(night, at('2026-11-21T03:00:00Z')).last)).toBe(
      '2026-11-20T22:00:00Z to 2026-11-21T06:00:00Z',
    );
  });

  it('leaves out a start on an exception, by the date of its own zone', () => {
    const tokyo = schedule({
      recurring: { start: '0 1 * * *', end: '0 5 * * *' },
      timeZone: 'Asia/Tokyo',
      exceptions: ['2026-12-25'],
    });

    expect(show(recurringAround(tokyo, at('2026-12-24T17:00:00Z')).last)).toBe(
      '2026-12-23T16:00:00Z to 2026-12-23T20:00:00Z',
    );
    expect(show(recurringAround(tokyo, at('2026-12-24T12:00:00Z')).next)).toBe(
      '2026-12-25T16:00:00Z to 2026-12-25T20:00:00Z',
    );
  });

  it('says the same whether time goes forward or back', () => {
    const one = schedule();
    const times = [
      '2026-11-20T12:00:00Z',
      '2026-11-25T12:00:00Z',
      '2026-11-18T07:00:00Z',
      '2026-11-18T08:00:00Z',
    ];

    expect(times.map((time) => recurringAround(one, at(time)))).toEqual(
      times.map((time) => recurringAround(schedule(), at(time))),
    );
  });
});

describe('nextOccurrences', () => {
  it('are the next three, dates among the recurring ones in the order of their starts', () => {
    const withDate = schedule({
      dates: [{ start: at('2026-11-22T00:00:00Z'), end: at('2026-11-23T00:00:00Z') }],
    });

    expect(nextOccurrences(withDate, at('2026-11-20T12:00:00Z'), 3).map(show)).toEqual([
      '2026-11-22T00:00:00Z to 2026-11-23T00:00:00Z',
      '2026-11-23T08:00:00Z to 2026-11-23T20:00:00Z',
      '2026-11-24T08:00:00Z to 2026-11-24T20:00:00Z',
    ]);
  });
});
