import { describe, expect, it } from '@jest/globals';
import { type LoadPoint, seasonOf, seasonTimes } from '../../../src/decision/forecast/seasons.js';
import type { Forecast } from '../../../src/scaler/spec.js';
import { formatInstant, type Instant, instantFromSeconds, parseInstant } from '../../../src/units/time.js';
import { T0, at, scalerOf } from '../../support/builders.js';

function forecastOf(fields: Readonly<Record<string, unknown>> = {}): Forecast {
  const { forecast } = scalerOf({
    scaleTargetRef: { name: 'web' },
    maxReplicas: 50,
    forecast: fields,
  }).spec;
  if (forecast === null) throw new Error('the document has a forecast');
  return forecast;
}

function timesOf(now: string, fields: Readonly<Record<string, unknown>>): readonly string[] {
  return seasonTimes(parseInstant(now) ?? T0, forecastOf(fields)).map(formatInstant);
}

describe('the times of the earlier days', () => {
  it('are those of seven days and of the weekday of three more weeks', () => {
    expect(timesOf('2026-11-25T09:00:07Z', { lookback: '28d' })).toEqual([
      '2026-11-24T09:00:07Z',
      '2026-11-23T09:00:07Z',
      '2026-11-22T09:00:07Z',
      '2026-11-21T09:00:07Z',
      '2026-11-20T09:00:07Z',
      '2026-11-19T09:00:07Z',
      '2026-11-18T09:00:07Z',
      '2026-11-11T09:00:07Z',
      '2026-11-04T09:00:07Z',
      '2026-10-28T09:00:07Z',
    ]);
  });

  it.each([
    ['3d', 3],
    ['7d', 7],
    ['13d', 7],
    ['14d', 8],
    ['15d', 8],
    ['35d', 10],
  ])('are within a lookback of %s: %d', (lookback, count) => {
    expect(timesOf('2026-11-25T09:00:00Z', { lookback })).toHaveLength(count);
  });

  it('have the same wall clock before and after a clock change', () => {
    // On 25 October 2026 clocks in Berlin went back at 03:00.
    expect(timesOf('2026-10-26T08:00:00Z', { lookback: '3d', timeZone: 'Europe/Berlin' })).toEqual([
      '2026-10-25T08:00:00Z',
      '2026-10-24T07:00:00Z',
      '2026-10-23T07:00:00Z',
    ]);
  });
});

/** One point each minute. */
function points(from: number, to: number, load: (seconds: number) => number): readonly LoadPoint[] {
  const list: LoadPoint[] = [];
  for (let seconds = from; seconds <= to; seconds += 60) list.push({ at: at(seconds), load: load(seconds) });
  return list;
}

const LEAD = { leadSeconds: 210, maxGapSeconds: 120 };

describe('what an earlier day shows', () => {
  it('is the mean of the ten minutes before and the highest of two points until 180 s after the lead', () => {
    const seen = points(-600, 600, (seconds) => (seconds <= 0 ? 4 : seconds === 300 ? 30 : 10));

    expect(seasonOf(at(0), seen, LEAD)).toEqual({ at: at(210), load: 20, level: 4 });
  });

  it.each([
    ['at the end of the time that counts', 360, 20],
    ['after it', 420, 10],
  ])('counts a peak %s', (_where, peakAt, load) => {
    const seen = points(-600, 600, (seconds) => (seconds === peakAt ? 30 : 10));

    expect(seasonOf(at(0), seen, LEAD)?.load).toBe(load);
  });

  it.each<[string, number, number]>([
    ['before the ten minutes', -470, 600],
    ['at the end', -600, 120],
  ])('is unknown with a gap %s', (_where, from, to) => {
    expect(
      seasonOf(
        at(0),
        points(from, to, () => 5),
        LEAD,
      ),
    ).toBeNull();
  });

  it('is unknown with a gap in between, and known up to the longest gap', () => {
    const without = (gap: number): readonly LoadPoint[] =>
      points(-600, 600, () => 5).filter((point) => point.at < at(-300) || point.at >= at(-300 + gap));

    expect(seasonOf(at(0), without(60), LEAD)).toEqual({ at: at(210), load: 5, level: 5 });
    expect(seasonOf(at(0), without(120), LEAD)).toBeNull();
  });

  it('is unknown without points', () => {
    const now: Instant = instantFromSeconds(0);
    expect(seasonOf(now, [], LEAD)).toBeNull();
  });
});
