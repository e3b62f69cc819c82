import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import { createMetricSource } from '../../../src/prometheus/metric-source.js';
import { instantFromSeconds } from '../../../src/units/time.js';
import { aClient, aSource, externalMetric } from '../../support/builders.js';
import { ManualClock } from '../../support/manual-clock.js';
import { createSampleAges } from '../../../src/prometheus/queries/sample-ages.js';
import { startRound } from '../fakes.js';
import { due } from '../round-fixture.js';

const VALUE_AT = 1_700_000_000;
const QUERY = 'sum(rate(http_requests_total[2m]))';

/** Returns sample times every 15 s for an hour, relative to the value in seconds. */
function scrapedUntil(newest: number): readonly number[] {
  return Array.from({ length: 240 }, (_, index) => newest - 15 * (239 - index));
}

const TARGET = { job: 'web', instance: 'a' };

/** The second value belongs to the start of the range. */
function answer(seconds: number, ...values: readonly number[]): Answer {
  return {
    class: 'value',
    series: values.map((value, index) => ({
      labels: index === 0 ? TARGET : { ...TARGET, promscaler_start: '1' },
      value,
    })),
    evaluatedAt: instantFromSeconds(seconds),
  };
}

/** Returns the offset of a query in seconds. */
function offsetOf(query: string): number {
  return Number(/offset (\d+)ms/.exec(query)?.[1] ?? 0) / 1000;
}

/**
 * Checks a value that was evaluated at 0, with this answer to the queries for the age, which the server evaluates
 * `afterSeconds` later.
 */
async function check(
  times: readonly number[],
  afterSeconds: number,
  { refusesBoth = false, asked = [] as string[] } = {},
): Promise<string | null> {
  const query = (text: string): Promise<Answer> => {
    if (text === QUERY) return Promise.resolve(answer(VALUE_AT, 1));
    // The age of the source is read in each round.
    if (!text.startsWith('count(up')) asked.push(text);
    if (refusesBoth && text.includes(' or '))
      return Promise.resolve({ class: 'failed', reason: 'too_large', message: 'too many series' });
    const now = VALUE_AT + afterSeconds;
    if (text.startsWith('quantile')) return Promise.resolve(answer(now, 15));
    if (!text.includes('(timestamp(')) return Promise.resolve({ class: 'missing', message: 'no series' });
    const newest = text.split(' or ').map((part) => {
      const until = afterSeconds - offsetOf(part);
      return VALUE_AT + Math.max(...times.filter((time) => time <= until));
    });
    return Promise.resolve(answer(now, ...newest));
  };
  const source = createMetricSource({
    sources: new Map([['default', aSource()]]),
    clock: new ManualClock(),
    onQuery: () => undefined,
    createClient: (config) => aClient(config, { query, startTime: () => Promise.resolve(null) }),
  });
  const scaler = due([externalMetric({ query: QUERY })]);
  const round = startRound(source, [scaler]);
  const checked = { metrics: new Set([0]), pods: new Set<string>(), mayBeKept: false };
  return (await round.whyOld(scaler, checked))[0] ?? null;
}

describe('the queries for the ages of a selector with a range', () => {
  it('are one for both ends of the range, one for failing scrapes, and one for the interval', async () => {
    const asked: string[] = [];

    await check(scrapedUntil(-1), 1, { asked });

    expect(asked).toHaveLength(3);
  });

  it.each([
    ['late samples', scrapedUntil(-45)],
    ['a gap at the start', scrapedUntil(-5).filter((time) => time > -60 || time < -200)],
  ])('are apart if the server refuses both ends together: %s', async (_, times) => {
    const why = await check(times, 1, { refusesBoth: true });

    expect(why).toMatch(/^the value is based on old samples/);
    expect(why).toBe(await check(times, 1));
  });
});

describe('a sample that arrives between the value and the query for its age', () => {
  it('does not hide that the value had a newest sample 45 s old: the server was stopped and continued', async () => {
    expect(await check([...scrapedUntil(-45), 0.5], 1)).toMatch(
      /^the value is based on old samples in a range of 2m: the newest sample of its target is up to 4[345] s old/,
    );
  });

  it.each([
    ['15 s after the one before', [...scrapedUntil(-14.5), 0.5], 1],
    ['15 s after the one before, 4 s after the value', [...scrapedUntil(-12), 3], 4],
    ['before the value, after a gap', [...scrapedUntil(-50), -3], 1],
  ])('is fresh %s', async (_, times, afterSeconds) => {
    expect(await check(times, afterSeconds)).toBeNull();
  });

  it('does not shorten the age of samples that are always 25 s late', async () => {
    expect(await check(scrapedUntil(-24), 1)).toContain('up to 25 s old');
  });

  it.each([
    [120, null],
    [121, 'the age of its samples is unknown: the value was evaluated 121 s ago'],
  ])('is judged with the value up to 120 s after it: after %d s', async (afterSeconds, why) => {
    expect(await check(scrapedUntil(afterSeconds - 5), afterSeconds)).toBe(why);
  });
});

describe('late samples that arrive together between the value and the query for its age', () => {
  /** Returns the results of checks with these ages of the newest sample, in seconds, one check every 31 s. */
  async function checkRounds(newestAges: readonly number[]): Promise<readonly (string | null)[]> {
    const clock = new ManualClock();
    const ages = createSampleAges(clock);
    const metric = externalMetric({ query: QUERY });
    const whys: (string | null)[] = [];
    for (const [index, age] of newestAges.entries()) {
      const now = VALUE_AT + 31 * index;
      const ask = (text: string): Promise<Answer> => {
        if (text.startsWith('quantile')) return Promise.resolve(answer(now, 15));
        if (!text.includes('(timestamp(')) return Promise.resolve({ class: 'missing', message: 'no series' });
        const newest = text.split(' or ').map((part) => now - Math.max(age, offsetOf(part) + 5));
        return Promise.resolve(answer(now, ...newest));
      };
      const scaler = due([metric]);
      const checked = { scaler, metric, config: aSource(), pods: new Set<string>(), mayBeKept: false };
      whys.push(await ages.check({ ...checked, valueAtSeconds: now, seconds: 10 }, ask));
      clock.advance(31_000);
    }
    return whys;
  }

  it('make the first value after old samples count as based on old samples, and not the second', async () => {
    expect(await checkRounds([60, 60, 5, 5, 5])).toEqual([
      expect.stringContaining('up to 60 s old'),
      expect.stringContaining('up to 60 s old'),
      'the value may be based on old samples: the samples were old at the last check, and newer ones have arrived since',
      null,
      null,
    ]);
  });

  it('change nothing without a check before that found old samples', async () => {
    expect(await checkRounds([5, 5])).toEqual([null, null]);
  });
});
