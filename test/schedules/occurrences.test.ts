import { describe, expect, it } from '@jest/globals';
import { nextOccurrences, recurringAround } from '../../src/schedules/occurrences.js';
import type { Occurrence } from '../../src/schedules/schedule.js';
import { formatInstant } from '../../src/units/time.js';
import { at, schedule } from './builders.js';

const show = (occurrence: Occurrence | null): string | null =>
  occurrence === null ? null : `${formatInstant(occurrence.start)} to ${formatInstant(occurrence.end)}`;

describe('recurringAround', () => {
  it('has the running occurrence as the last, and the one after it', () => {
    const around = recurringAround(schedule(), at('2026-11-20T12:00:00Z'));

    expect([around.last, around.next].map(show)).toEqual([
      '2026-11-20T08:00:00Z to 2026-11-20T20:00:00Z',
      '2026-11-23T08:00:00Z to 2026-11-23T20:00:00Z',
    ]);
  });

  it('spans midnight if the end is earlier in the day than the start', () => {
    const night = schedule({ recurring: { start: '0 22 * * *', end: '0 6 * * *' } });

    expect(show(recurringAround(night, at('2026-11-21T03:00:00Z')).last)).toBe(
      '2026-11-20T22:00:00Z to 2026-11-21T06:00:00Z',
    );
  });

  it('omits a start on an exception, by the date in its time zone', () => {
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

  it.each([
    ['15 2 * * *', '45 2 * * *', '2026-03-29T01:00:00Z to 2026-03-29T01:00:00Z'],
    ['15 2 * * *', '0 3 * * *', '2026-03-29T01:00:00Z to 2026-03-29T01:00:00Z'],
    ['15 2 * * *', '15 3 * * *', '2026-03-29T01:00:00Z to 2026-03-29T01:15:00Z'],
    ['45 2 * * *', '15 2 * * *', '2026-03-29T01:00:00Z to 2026-03-30T00:15:00Z'],
    ['30 1 * * *', '30 2 * * *', '2026-03-29T00:30:00Z to 2026-03-29T01:00:00Z'],
    ['0 3 * * *', '0 3 * * 0', '2026-03-29T01:00:00Z to 2026-04-05T01:00:00Z'],
  ])('on the spring day without a 02:30, from "%s" to "%s" is %s', (start, end, expected) => {
    const one = schedule({ recurring: { start, end }, timeZone: 'Europe/Warsaw' });

    expect(show(recurringAround(one, at('2026-03-29T12:00:00Z')).last)).toBe(expected);
    expect(show(recurringAround(one, at('2026-03-29T00:29:59Z')).next)).toBe(expected);
  });

  it.each([
    ['15 2 * * *', '45 2 * * *', '2026-10-25T00:15:00Z to 2026-10-25T00:45:00Z'],
    ['30 2 * * *', '30 3 * * *', '2026-10-25T00:30:00Z to 2026-10-25T02:30:00Z'],
  ])('on the autumn day with two 02:30, from "%s" to "%s" is %s', (start, end, expected) => {
    const one = schedule({ recurring: { start, end }, timeZone: 'Europe/Warsaw' });

    expect(show(recurringAround(one, at('2026-10-25T12:00:00Z')).last)).toBe(expected);
  });

  it('is the same whether time goes forward or back', () => {
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

    expect(nextOccurrences(withDate, at('2026-11-20T20:00:00Z'), 3).map(show)).toEqual([
      '2026-11-22T00:00:00Z to 2026-11-23T00:00:00Z',
      '2026-11-23T08:00:00Z to 2026-11-23T20:00:00Z',
      '2026-11-24T08:00:00Z to 2026-11-24T20:00:00Z',
    ]);
  });

  it('begin with the recurring one and the date that are active, until the instant of their end', () => {
    const withDate = schedule({
      dates: [{ start: at('2026-11-23T00:00:00Z'), end: at('2026-11-24T00:00:00Z') }],
    });
    const startsAt = (now: string): readonly string[] =>
      nextOccurrences(withDate, at(now), 3).map(({ start }) => formatInstant(start));
    const [date, ...recurring] = [23, 23, 24, 25].map(
      (day, index) => `2026-11-${day}T${index === 0 ? '00' : '08'}:00:00Z`,
    );

    expect(startsAt('2026-11-23T08:00:00Z')).toEqual([date, ...recurring.slice(0, 2)]);
    expect(startsAt('2026-11-23T19:59:59Z')).toEqual([date, ...recurring.slice(0, 2)]);
    expect(startsAt('2026-11-23T20:00:00Z')).toEqual([date, ...recurring.slice(1)]);
    expect(startsAt('2026-11-24T00:00:00Z')).toEqual([...recurring.slice(1), '2026-11-26T08:00:00Z']);
  });
});
