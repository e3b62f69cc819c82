import { describe, expect, it } from '@jest/globals';
import { readPauseOptions } from '../../../src/cli/commands/pause-options.js';
import type { PauseRequest, PauseOptions } from '../../../src/cli/commands/pause-options.js';
import { formatInstant, instantFromMs } from '../../../src/units/time.js';

const NOW = instantFromMs(Date.UTC(2026, 0, 1, 12, 0, 0, 0));

/** Noon in the time zone of the process, on a day without a change of the offset in most zones. */
const LOCAL_NOON = instantFromMs(new Date(2026, 0, 1, 12, 0, 0, 0).getTime());

function read(options: Partial<PauseOptions>, now = NOW): PauseRequest {
  return readPauseOptions({ scaler: 'shop/checkout', output: 'text', ...options }, now);
}

function untilOf(options: Partial<PauseOptions>, now = NOW): string | null {
  const { until } = read(options, now);
  return until === null ? null : formatInstant(until);
}

describe('readPauseOptions', () => {
  it('pauses both directions until resumed by default', () => {
    expect(read({})).toEqual({ direction: 'both', until: null, replicas: null, reason: null });
  });

  it.each([
    ['90s', '2026-01-01T12:01:30Z'],
    ['15m', '2026-01-01T12:15:00Z'],
    ['2h', '2026-01-01T14:00:00Z'],
    ['1d', '2026-01-02T12:00:00Z'],
    ['1h30m', '2026-01-01T13:30:00Z'],
    ['9999d', '2053-05-18T12:00:00Z'],
  ])('reads --for %s as %s', (duration, until) => {
    expect(untilOf({ for: duration })).toBe(until);
  });

  it('ends at a whole second, not before the requested time', () => {
    expect(untilOf({ for: '1s' }, instantFromMs(NOW + 1))).toBe('2026-01-01T12:00:02Z');
    expect(untilOf({ for: '1s' })).toBe('2026-01-01T12:00:01Z');
  });

  it('accepts --until in any zone, from a second after now', () => {
    expect(untilOf({ until: '2026-01-01T14:00:00+01:00' })).toBe('2026-01-01T13:00:00Z');
    expect(untilOf({ until: '2026-01-01T12:00:01Z' })).toBe('2026-01-01T12:00:01Z');
    expect(() => read({ until: '2026-01-01T12:00:00Z' })).toThrow(
      '--until 2026-01-01T12:00:00Z is in the past: the current time is 2026-01-01T12:00:00Z',
    );
  });

  it('accepts a local time of day, which is the next one: today after 12:00:00, tomorrow up to it', () => {
    const local = (text: string): number => {
      const until = read({ until: text }, LOCAL_NOON).until ?? LOCAL_NOON;
      return (until - LOCAL_NOON) / 60_000;
    };

    expect([local('Jan 1, 12:01:00'), local('Jan 2, 11:00'), local('Jan 1, 12:00')]).toEqual([
      1, 1380, 525_600,
    ]);
    expect([local('12:01'), local('12:00:30'), local('12:00'), local('9:30')]).toEqual([1, 0.5, 1440, 1290]);
  });

  it('accepts a direction, a count from 0 to 2147483647, and a reason', () => {
    expect(read({ direction: 'scale-down' })).toMatchObject({ direction: 'scale-down' });
    expect(read({ replicas: '0' })).toMatchObject({ direction: 'both', replicas: 0 });
    expect(read({ replicas: '2147483647' })).toMatchObject({ replicas: 2147483647 });
    expect(read({ reason: ' incident 4711 ' })).toMatchObject({ reason: 'incident 4711' });
    expect(read({ reason: 'x'.repeat(200) }).reason).toHaveLength(200);
  });

  it.each([
    [{ for: '2' }, '--for is "2", must be a duration such as 30s, 5m, 1h30m or 7d'],
    [{ for: '-2h' }, '--for is "-2h", must be a duration'],
    [{ for: '' }, '--for is "", must be a duration'],
    [{ for: '10001d' }, '--for 10001d is longer than 10000d. Omit --for for a pause that lasts until resume'],
    [{ for: `${'9'.repeat(400)}h` }, 'must be a duration'],
    [{ for: '0s' }, '--for 0s is zero, must be at least 1s'],
    [{ for: '2h', until: '2027-01-01T00:00:00Z' }, '--for and --until cannot be combined'],
    [
      { until: 'tomorrow' },
      '--until is "tomorrow", must be a time such as 2026-01-01T12:00:00Z, or a local time such as 10:42:30 or "Nov 23, 10:42:30"',
    ],
    [{ until: '24:00' }, '--until is "24:00", must be a time'],
    [{ direction: 'up' }, '--direction is "up", must be scale-up or scale-down'],
    [{ replicas: '-1' }, '--replicas is "-1", must be an integer from 0 to 2147483647'],
    [{ replicas: '2147483648' }, '--replicas is "2147483648"'],
    [{ replicas: '3', direction: 'scale-up' }, '--replicas cannot be combined with --direction'],
    [{ reason: ' ' }, '--reason is empty'],
    [{ reason: 'x'.repeat(201) }, '--reason has 201 characters, must have at most 200'],
  ])('rejects %j as wrong usage', (options, message) => {
    expect(() => read(options)).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringContaining(message) }),
    );
  });
});
