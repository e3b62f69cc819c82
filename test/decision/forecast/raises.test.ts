import { describe, expect, it } from '@jest/globals';
import { addToRaises, whyNotWorth } from '../../../src/decision/forecast/raises.js';
import type { Raise } from '../../../src/decision/snapshot/snapshot.js';
import { addSeconds, type Instant, parseInstant } from '../../../src/units/time.js';
import { at, scalerOf, T0 } from '../../support/builders.js';

function forecastOf(timeZone: string) {
  const { forecast } = scalerOf({
    scaleTargetRef: { name: 'web' },
    maxReplicas: 20,
    forecast: { timeZone },
  }).spec;
  if (forecast === null) throw new Error('the document has a forecast');
  return forecast;
}

const UTC = forecastOf('UTC');

function time(text: string): Instant {
  return parseInstant(text) ?? T0;
}

/** Returns raises at `clock`, `daysAgo` days ago, each with what it has added and prevented. */
function raisesOf(
  clock: string,
  ...days: readonly (readonly [daysAgo: number, added: number, prevented: number])[]
) {
  return days
    .map(([daysAgo, added, prevented]): Raise => {
      const from = time(new Date(time(`2026-11-28T${clock}:00Z`) - daysAgo * 86_400_000).toISOString());
      return { from, until: from, added, prevented };
    })
    .toSorted((a, b) => a.from - b.from);
}

/** A Saturday. */
const NOW = time('2026-11-28T08:55:00Z');

describe('a raise', () => {
  const raised = { isRaised: true, timeZone: 'UTC' };
  const ended = { isRaised: false, timeZone: 'UTC' };
  const step = { added: 100, prevented: 10 };

  it('begins with the decision that raises, and has what the next ones cost and prevent', () => {
    const first = addToRaises([], { now: at(0), ...raised }, step);
    expect(first).toEqual([{ from: at(0), until: at(0), added: 0, prevented: 0 }]);

    const second = addToRaises(first, { now: at(15), ...raised }, step);
    // The forecast has ended, and its pods are still there.
    const third = addToRaises(second, { now: at(30), ...ended }, step);
    expect(third).toEqual([{ from: at(0), until: at(30), added: 200, prevented: 20 }]);
  });

  it.each([
    ['300 s after the last one is the same', 1800, 2100, 1],
    ['301 s after it is another', 1800, 2101, 2],
    ['less than half an hour after its start is the same', 15, 1799, 1],
    ['half an hour after it is another', 15, 1800, 2],
  ])('%s', (_, until, seconds, count) => {
    const one = addToRaises(
      [{ from: at(0), until: at(until), added: 1, prevented: 0 }],
      { now: at(seconds), ...raised },
      step,
    );

    expect(one).toHaveLength(count);
  });

  it.each([
    ['has what its pods cost for an hour', 3600, 105],
    ['does not have what they cost later', 3601, 5],
  ])('%s', (_, seconds, added) => {
    const long = [{ from: at(0), until: at(3599), added: 5, prevented: 0 }];

    expect(addToRaises(long, { now: at(seconds), ...ended }, step)).toMatchObject([{ added }]);
  });

  it('of more than an hour counts as several', () => {
    const long = [{ from: at(0), until: at(3599), added: 5, prevented: 0 }];

    expect(addToRaises(long, { now: at(3601), ...raised }, step)).toEqual([
      ...long,
      { from: at(3601), until: at(3601), added: 0, prevented: 0 },
    ]);
  });

  it('is not begun by pods that no forecast has raised', () => {
    expect(addToRaises([], { now: at(0), ...ended }, step)).toEqual([]);
  });

  it('of a clock that was ahead is forgotten', () => {
    const ahead = [{ from: at(15), until: at(15), added: 1, prevented: 0 }];

    expect(addToRaises(ahead, { now: at(0), ...raised }, step)).toMatchObject([{ from: at(0) }]);
  });

  it('is remembered for 28 days, and the last 336 of them', () => {
    const old = [{ from: at(-28 * 86_400 - 1), until: at(0), added: 1, prevented: 0 }];
    expect(addToRaises(old, { now: at(0), ...raised }, step)).toHaveLength(1);
    const many = Array.from({ length: 336 }, (_, index) => {
      const from = at((index - 336) * 2400 - 60);
      return { from, until: from, added: 1, prevented: 0 };
    });
    expect(addToRaises(many, { now: at(0), ...raised }, step)).toHaveLength(336);
  });

  it('replaces the one of the weekday before the last one, within half an hour of its time of day', () => {
    const [day, week] = [86_400, 7 * 86_400];
    const raiseAt = (seconds: number): Raise => ({
      from: at(seconds),
      until: at(seconds),
      added: 1,
      prevented: 0,
    });
    const before = [-3 * week, 1860 - 2 * week, -2 * week, -week - 60, -week, -6 * day, -day].map(raiseAt);

    expect(addToRaises(before, { now: at(0), ...raised }, step).map(({ from }) => from)).toEqual(
      [1860 - 2 * week, -week - 60, -week, -6 * day, -day, 0].map((seconds) => at(seconds)),
    );
  });
});

describe('a season of Saturdays that is not worth it, among days that are', () => {
  /** Returns the number of raises on each day of 4 weeks from a Monday on, and the most raises in the state. */
  function weeksWith(peaks: number): { readonly byDay: readonly number[]; readonly most: number } {
    const start = time('2026-11-02T00:00:00Z');
    let raises: readonly Raise[] = [];
    let most = 0;
    const byDay = Array.from({ length: 28 }, (_, day) => {
      let count = 0;
      for (let peak = 0; peak < peaks; peak += 1) {
        // A few minutes earlier or later each day.
        const minutes = Math.floor((peak * 1440) / peaks) + ((day * 7) % 5);
        const instants = [0, 120, 240].map((seconds) =>
          addSeconds(start, day * 86_400 + minutes * 60 + seconds),
        );
        if (instants.some((now) => whyNotWorth(raises, now, UTC) !== null)) continue;
        count += 1;
        for (const now of instants) {
          const cost = { added: 1200, prevented: day % 7 === 5 ? 0 : 600 };
          raises = addToRaises(raises, { now, isRaised: true, timeZone: 'UTC' }, cost);
        }
        most = Math.max(most, raises.length);
      }
      return count;
    });
    return { byDay, most };
  }

  it.each([1, 3, 5, 16, 24])('is silent on the third Saturday, with %i peaks a day', (peaks) => {
    const { byDay, most } = weeksWith(peaks);

    const week = Array.from({ length: 7 }, () => peaks);
    expect(byDay).toEqual([...week, ...week, ...week.with(5, 0), ...week.with(5, 0)]);
    expect(most).toBeLessThanOrEqual(14 * peaks);
  });
});

describe('peaks of each day that are not worth it', () => {
  it.each([16, 24, 40])('are silent from the fourth day on, with %i a day', (peaks) => {
    let raises: readonly Raise[] = [];
    const byDay = [0, 1, 2, 3, 4].map((day) => {
      let count = 0;
      for (let peak = 0; peak < peaks; peak += 1) {
        const now = at(day * 86_400 + Math.floor(86_400 / peaks) * peak);
        if (whyNotWorth(raises, now, UTC) !== null) continue;
        count += 1;
        for (const seconds of [0, 120])
          raises = addToRaises(
            raises,
            { now: addSeconds(now, seconds), isRaised: true, timeZone: 'UTC' },
            { added: 100, prevented: 1 },
          );
      }
      return count;
    });

    expect(byDay).toEqual([peaks, peaks, peaks, 0, 0]);
  });
});

describe('raises that were not worth it', () => {
  it.each<[string, readonly Raise[], string | null]>([
    [
      'three days',
      raisesOf('08:50', [1, 6000, 0], [2, 6000, 60], [3, 6000, 0]),
      'at this time on 3 of the last 7 days, the forecast added 300 pod-minutes, but prevented only 1 missing pod-minutes, less than a tenth',
    ],
    ['two days, which may be a weekend', raisesOf('08:50', [1, 6000, 0], [2, 6000, 0]), null],
    [
      'two on one of two days',
      [...raisesOf('08:50', [2, 600, 0], [1, 600, 0]), ...raisesOf('08:58', [1, 600, 0])],
      null,
    ],
    ['a holiday among good days', raisesOf('08:50', [1, 9000, 0], [2, 6000, 1000], [3, 6000, 1100]), null],
    ['ten times what they prevented', raisesOf('08:50', [1, 5000, 500], [2, 5000, 500], [3, 0, 0]), null],
    ['a little more', raisesOf('08:50', [1, 5001, 500], [2, 5000, 500], [3, 0, 0]), 'at this time'],
    ['half an hour earlier', raisesOf('08:25', [1, 600, 0], [2, 600, 0], [3, 600, 0]), 'at this time'],
    ['more than half an hour earlier', raisesOf('08:24', [1, 600, 0], [2, 600, 0], [3, 600, 0]), null],
    ['half an hour later', raisesOf('09:25', [1, 600, 0], [2, 600, 0], [3, 600, 0]), 'at this time'],
    ['more than half an hour later', raisesOf('09:26', [1, 600, 0], [2, 600, 0], [3, 600, 0]), null],
    ['of today', raisesOf('08:50', [0, 600, 0], [1, 600, 0], [2, 600, 0]), null],
    [
      'a week ago',
      raisesOf('08:50', [1, 600, 0], [2, 600, 0], [7, 600, 0]),
      'at this time on 3 of the last 7 days, the forecast',
    ],
    ['more than a week ago', raisesOf('08:50', [1, 600, 0], [2, 600, 0], [8, 600, 0]), null],
    ['one Saturday', raisesOf('08:50', [7, 600, 0]), null],
    [
      'two Saturdays within four weeks',
      raisesOf('08:50', [21, 600, 0], [28, 600, 0]),
      'the last 2 days with this weekday',
    ],
    ['two Saturdays, one of them earlier', raisesOf('08:50', [21, 600, 0], [35, 600, 0]), null],
    [
      'two Saturdays, where all other days were worth it',
      raisesOf('08:50', [1, 600, 600], [2, 600, 600], [3, 600, 600], [7, 3000, 0], [14, 3000, 0]),
      'at this time on the last 2 days with this weekday, the forecast added 100 pod-minutes',
    ],
    [
      'all days but the Saturdays',
      raisesOf('08:50', [1, 9000, 0], [2, 9000, 0], [3, 9000, 0], [7, 600, 600], [14, 600, 600]),
      null,
    ],
  ])('%s', (_, raises, why) => {
    const found = whyNotWorth(raises, NOW, UTC);

    if (why === null) expect(found).toBeNull();
    else expect(found).toContain(why);
  });

  it('have the same wall clock before and after a clock change', () => {
    // On 25 October 2026 clocks in Berlin went back at 03:00.
    const raises = [
      { from: time('2026-10-22T06:50:00Z'), until: T0, added: 600, prevented: 0 },
      { from: time('2026-10-23T06:50:00Z'), until: T0, added: 600, prevented: 0 },
      { from: time('2026-10-24T06:50:00Z'), until: T0, added: 600, prevented: 0 },
    ];
    const now = time('2026-10-26T07:50:00Z');

    expect(whyNotWorth(raises, now, forecastOf('Europe/Berlin'))).not.toBeNull();
    expect(whyNotWorth(raises, now, UTC)).toBeNull();
  });

  it('and those before midnight count after it', () => {
    const raises = raisesOf('23:58', [2, 600, 0], [3, 600, 0], [4, 600, 0]);

    expect(whyNotWorth(raises, time('2026-11-28T00:05:00Z'), UTC)).toContain('3 of the last 7 days');
  });
});
