import { describe, expect, it } from '@jest/globals';
import { readCron } from '../../src/schedules/cron.js';
import {
  instantOfLocal,
  isTimeZone,
  localDate,
  parseLocalTime,
  parseRange,
} from '../../src/schedules/local-time.js';
import { formatInstant, instantFromMs } from '../../src/units/time.js';

const utc = (text: string): number => Date.parse(`${text}Z`);
const inWarsaw = (text: string): string => formatInstant(instantOfLocal(utc(text), 'Europe/Warsaw'));

describe('parseLocalTime', () => {
  it('reads a date, and a date with a time to the minute or second', () => {
    expect(parseLocalTime('2026-11-27')).toEqual({ ms: utc('2026-11-27T00:00:00'), hasTime: false });
    expect(parseLocalTime('2026-11-27T06:30')).toEqual({ ms: utc('2026-11-27T06:30:00'), hasTime: true });
    expect(parseLocalTime('2026-11-27 06:30:15')).toEqual({ ms: utc('2026-11-27T06:30:15'), hasTime: true });
  });

  it.each(['2026-02-30', '2026-13-01', '27.11.2026', '2026-11-27T24:00', '2026-11-27T06:30Z', ''])(
    'rejects %j',
    (text) => {
      expect(parseLocalTime(text)).toBeNull();
    },
  );
});

describe('instantOfLocal', () => {
  it('is an hour earlier in UTC in winter, two in summer', () => {
    expect(inWarsaw('2026-01-15T08:00:00')).toBe('2026-01-15T07:00:00Z');
    expect(inWarsaw('2026-07-15T08:00:00')).toBe('2026-07-15T06:00:00Z');
  });

  it('returns the first of the two 02:30 of the autumn day', () => {
    expect(inWarsaw('2026-10-25T02:30:00')).toBe('2026-10-25T00:30:00Z');
  });

  it.each([
    ['01:59:59', '00:59:59'],
    ['02:00:00', '01:00:00'],
    ['02:30:00', '01:00:00'],
    ['02:59:59', '01:00:00'],
    ['03:00:00', '01:00:00'],
    ['03:00:01', '01:00:01'],
  ])(
    'converts %s of the spring day without a 02:30 to %s UTC, with the change of clocks at 01:00',
    (local, time) => {
      expect(inWarsaw(`2026-03-29T${local}`)).toBe(`2026-03-29T${time}Z`);
    },
  );

  it.each([
    ['01:59:59', '2026-10-24T23:59:59'],
    ['02:00:00', '2026-10-25T00:00:00'],
    ['02:59:59', '2026-10-25T00:59:59'],
    ['03:00:00', '2026-10-25T02:00:00'],
  ])('converts %s of the autumn day with two 02:30 to %s UTC, the first one', (local, time) => {
    expect(inWarsaw(`2026-10-25T${local}`)).toBe(`${time}Z`);
  });

  it.each([
    ['Australia/Lord_Howe', '2026-10-04T02:15:00', '2026-10-03T15:30:00Z'],
    ['America/New_York', '2026-03-08T02:30:00', '2026-03-08T07:00:00Z'],
    ['Pacific/Apia', '2011-12-30T12:00:00', '2011-12-30T10:00:00Z'],
    ['America/Sao_Paulo', '2018-11-04T00:30:00', '2018-11-04T03:00:00Z'],
  ])('in %s converts %s, which no clock showed, to %s', (timeZone, local, instant) => {
    expect(formatInstant(instantOfLocal(utc(local), timeZone))).toBe(instant);
  });

  it.each(['Europe/Warsaw', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Tehran', 'UTC'])(
    'in %s is the instant at which cron fires, every 10 minutes of the days with a change of clocks',
    (timeZone) => {
      for (const day of [
        '2026-03-08',
        '2026-03-29',
        '2026-04-05',
        '2026-10-04',
        '2026-10-25',
        '2026-11-01',
      ]) {
        for (let minutes = 0; minutes < 1440; minutes += 10) {
          const local = utc(`${day}T00:00:00`) + minutes * 60_000;
          const [, month, date] = day.split('-').map(Number);
          const cron = readCron(`${minutes % 60} ${Math.floor(minutes / 60)} ${date} ${month} *`, timeZone);
          expect(formatInstant(instantOfLocal(local, timeZone))).toBe(
            formatInstant(cron.after(instantFromMs(utc(`${day}T00:00:00`) - 90_000_000)) ?? instantFromMs(0)),
          );
        }
      }
    },
  );

  it('supports zones of half an hour and those far ahead', () => {
    expect(formatInstant(instantOfLocal(utc('2026-01-01T05:30:00'), 'Asia/Kolkata'))).toBe(
      '2026-01-01T00:00:00Z',
    );
    expect(formatInstant(instantOfLocal(utc('2026-01-01T00:00:00'), 'Pacific/Kiritimati'))).toBe(
      '2025-12-31T10:00:00Z',
    );
  });
});

describe('parseRange', () => {
  const hours = (from: string, to: string): number | null => {
    const range = parseRange(from, to, 'Europe/Warsaw');
    return range === null ? null : (range.end - range.start) / 3_600_000;
  };

  it('includes the whole last day if that has no time: 23 hours in spring, 25 in autumn', () => {
    expect([
      hours('2026-03-29', '2026-03-29'),
      hours('2026-10-25', '2026-10-25'),
      hours('2026-11-27', '2026-11-30'),
    ]).toEqual([23, 25, 96]);
  });

  it('ends at the given time', () => {
    expect(hours('2026-11-27T06:00', '2026-11-27T18:30')).toBe(12.5);
  });

  it.each([
    ['02:30', '03:30', '01:00', '01:30'],
    ['02:30', '03:00', '01:00', '01:00'],
    ['02:00', '03:00', '01:00', '01:00'],
    ['02:15', '02:45', '01:00', '01:00'],
    ['01:30', '02:30', '00:30', '01:00'],
    ['01:30', '03:30', '00:30', '01:30'],
  ])('from %s to %s of the spring day without a 02:30 is from %s to %s UTC', (from, to, start, end) => {
    const day = '2026-03-29T';

    expect(parseRange(`${day}${from}`, `${day}${to}`, 'Europe/Warsaw')).toEqual({
      start: utc(`${day}${start}:00`),
      end: utc(`${day}${end}:00`),
    });
  });

  it.each([
    ['01:30', '02:30', 1],
    ['02:15', '02:45', 0.5],
    ['02:30', '03:30', 2],
    ['01:30', '03:30', 3],
  ])('from %s to %s of the autumn day with two 02:30 lasts %s h', (from, to, length) => {
    expect(hours(`2026-10-25T${from}`, `2026-10-25T${to}`)).toBe(length);
  });

  it('is null if the end is not after the start or is not a date', () => {
    expect(hours('2026-03-29T02:30', '2026-03-29T02:30')).toBeNull();
    expect(hours('2026-03-29T02:45', '2026-03-29T02:15')).toBeNull();
    expect(hours('2026-10-25T02:45', '2026-10-25T02:15')).toBeNull();
    expect(hours('2026-11-27T06:00', '2026-11-27T06:00')).toBeNull();
    expect(hours('2026-11-28', '2026-11-27')).toBeNull();
    expect(hours('2026-11-27', 'soon')).toBeNull();
  });
});

describe('localDate', () => {
  it('is tomorrow in Tokyo and yesterday in New York', () => {
    const instant = instantFromMs(utc('2026-12-25T02:00:00'));

    expect(localDate(instant, 'Asia/Tokyo')).toBe('2026-12-25');
    expect(localDate(instant, 'America/New_York')).toBe('2026-12-24');
  });
});

describe('isTimeZone', () => {
  it('accepts Europe/Warsaw and UTC, and rejects Europe/Warsw', () => {
    expect(['Europe/Warsaw', 'UTC', 'Europe/Warsw', ''].map(isTimeZone)).toEqual([true, true, false, false]);
  });
});
