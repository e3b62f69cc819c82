import { describe, expect, it } from '@jest/globals';
import { CronError, readCron } from '../../src/schedules/cron.js';
import { formatInstant, type Instant, parseInstant } from '../../src/units/time.js';

const at = (text: string): Instant => {
  const instant = parseInstant(text);
  if (instant === null) throw new Error(`no instant: ${text}`);
  return instant;
};

const firings = (expression: string, timeZone: string, from: string, count: number): string[] => {
  const cron = readCron(expression, timeZone);
  const found: string[] = [];
  let instant: Instant | null = at(from);
  for (let index = 0; index < count; index += 1) {
    instant = instant === null ? null : cron.after(instant);
    if (instant !== null) found.push(formatInstant(instant));
  }
  return found;
};

describe('readCron', () => {
  it('fires at 08:00 in Warsaw on weekdays: 07:00 UTC in winter, Monday after Friday', () => {
    expect(firings('0 8 * * 1-5', 'Europe/Warsaw', '2026-11-20T00:00:00Z', 2)).toEqual([
      '2026-11-20T07:00:00Z',
      '2026-11-23T07:00:00Z',
    ]);
  });

  it('is strictly after, and at or before, to the millisecond', () => {
    const cron = readCron('0 8 * * *', 'UTC');

    expect(cron.after(at('2026-11-20T08:00:00Z'))).toBe(at('2026-11-21T08:00:00Z'));
    expect(cron.after(at('2026-11-20T07:59:59.999Z'))).toBe(at('2026-11-20T08:00:00Z'));
    expect(cron.atOrBefore(at('2026-11-20T08:00:00Z'))).toBe(at('2026-11-20T08:00:00Z'));
    expect(cron.atOrBefore(at('2026-11-20T07:59:59.999Z'))).toBe(at('2026-11-19T08:00:00Z'));
  });

  it('fires at 03:00 on the spring day without a 02:30, and once on the autumn day with two', () => {
    expect(firings('30 2 * * *', 'Europe/Warsaw', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00Z',
      '2026-03-30T00:30:00Z',
    ]);
    expect(firings('30 2 * * *', 'Europe/Warsaw', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00Z',
      '2026-10-26T01:30:00Z',
    ]);
  });

  it('accepts names, steps, lists and 7 for Sunday', () => {
    expect(firings('*/30 9-10 * jan,feb SUN', 'UTC', '2026-01-01T00:00:00Z', 3)).toEqual(
      firings('0,30 9,10 * 1,2 7', 'UTC', '2026-01-01T00:00:00Z', 3),
    );
  });

  it.each([
    ['* * *', 'must have five fields'],
    ['0 0 8 * * 1', 'must have five fields'],
    ['@daily', 'must have five fields'],
    ['', 'must have five fields'],
    ['61 * * * *', 'Invalid value for minute: 61'],
    ['0 22-6 * * *', 'From value is larger than to value'],
    ['0 0 31 2 *', 'never matches a time'],
    [`${'0,'.repeat(120)}0 * * * *`, 'is longer than 200 characters'],
  ])('rejects %j', (expression, message) => {
    expect(() => readCron(expression, 'UTC')).toThrow(CronError);
    expect(() => readCron(expression, 'UTC')).toThrow(message);
  });

  it('accepts 29 February, which fires only in leap years', () => {
    expect(firings('0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', 1)).toEqual(['2028-02-29T00:00:00Z']);
  });
});
