import { describe, expect, it } from '@jest/globals';
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
    'refuses %j',
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

  it('takes the first of the two 02:30 of the autumn day', () => {
    expect(inWarsaw('2026-10-25T02:30:00')).toBe('2026-10-25T00:30:00Z');
  });

  it('takes 03:30 for the 02:30 that the spring day leaves out', () => {
    expect(inWarsaw('2026-03-29T02:30:00')).toBe('2026-03-29T01:30:00Z');
    expect(inWarsaw('2026-03-29T01:59:59')).toBe('2026-03-29T00:59:59Z');
    expect(inWarsaw('2026-03-29T03:00:00')).toBe('2026-03-29T01:00:00Z');
  });

  it('knows zones of half an hour and those far ahead', () => {
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

  it('means the whole of a last day without a time: 23 hours in spring, 25 in autumn', () => {
    expect([
      hours('2026-03-29', '2026-03-29'),
      hours('2026-10-25', '2026-10-25'),
      hours('2026-11-27', '2026-11-30'),
    ]).toEqual([23, 25, 96]);
  });

  it('ends at the time that is written', () => {
    expect(hours('2026-11-27T06:00', '2026-11-27T18:30')).toBe(12.5);
  });

  it('is none where the end is not after the start or is no date', () => {
    expect(hours('2026-11-27T06:00', '2026-11-27T06:00')).toBeNull();
    expect(hours('2026-11-28', '2026-11-27')).toBeNull();
    expect(hours('2026-11-27', 'soon')).toBeNull();
  });
});

describe('localDate', () => {
  it('is already tomorrow in Tokyo and still yesterday in New York', () => {
    const instant = instantFromMs(utc('2026-12-25T02:00:00'));

    expect(localDate(instant, 'Asia/Tokyo')).toBe('2026-12-25');
    expect(localDate(instant, 'America/New_York')).toBe('2026-12-24');
  });
});

describe('isTimeZone', () => {
  it('knows Europe/Warsaw and UTC, but no Europe/Warsw', () => {
    expect(['Europe/Warsaw', 'UTC', 'Europe/Warsw', ''].map(isTimeZone)).toEqual([true, true, false, false]);
  });
});
