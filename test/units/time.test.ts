import { describe, expect, it } from '@jest/globals';
import {
  addSeconds,
  formatInstant,
  laterOf,
  latest,
  parseInstant,
  secondsBetween,
  YEAR_ONE,
} from '../../src/units/time.js';

describe('parseInstant', () => {
  it.each([
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    ['2026-01-01t00:00:00z', '2026-01-01T00:00:00Z'],
    ['2026-01-01T02:00:00+02:00', '2026-01-01T00:00:00Z'],
    ['2025-12-31T19:30:00-04:30', '2026-01-01T00:00:00Z'],
    ['2026-01-01T00:00:00.25Z', '2026-01-01T00:00:00.250Z'],
    ['2026-01-01T00:00:00.123999999Z', '2026-01-01T00:00:00.123Z'],
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
  ])('reads %s as %s', (text, written) => {
    const instant = parseInstant(text);

    expect(instant === null ? null : formatInstant(instant)).toBe(written);
  });

  it.each([
    '',
    'now',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:61Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+01:60',
    '0000-01-01T00:00:00Z',
    '12026-01-01T00:00:00Z',
    '2026-01-01T00:00:00.Z',
  ])('rejects %j', (text) => {
    expect(parseInstant(text)).toBeNull();
  });

  it('accepts the year 1, the zero time of Kubernetes', () => {
    expect(parseInstant('0001-01-01T00:00:00Z')).toBe(YEAR_ONE);
  });
});

describe('instants', () => {
  const noon = parseInstant('2026-01-01T12:00:00Z') ?? YEAR_ONE;

  it('are moved and compared in seconds, with fractions and in both directions', () => {
    expect(formatInstant(addSeconds(noon, 90.5))).toBe('2026-01-01T12:01:30.500Z');
    expect(formatInstant(addSeconds(noon, -1))).toBe('2026-01-01T11:59:59Z');
    expect(secondsBetween(noon, addSeconds(noon, 0.25))).toBe(0.25);
    expect(secondsBetween(noon, addSeconds(noon, -15))).toBe(-15);
  });

  it('are compared by latest()', () => {
    const later = addSeconds(noon, 0.001);

    expect(latest(noon, later)).toBe(later);
    expect(latest(later, noon)).toBe(later);
  });

  it('are compared by laterOf(), which ignores an absent one', () => {
    const later = addSeconds(noon, 0.001);

    expect([laterOf(noon, later), laterOf(later, noon)]).toEqual([later, later]);
    expect([laterOf(noon, null), laterOf(null, noon), laterOf(null, null)]).toEqual([noon, noon, null]);
  });
});
