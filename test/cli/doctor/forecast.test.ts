import { expect, it } from '@jest/globals';
import { checkForecast } from '../../../src/cli/checks/forecast.js';
import type { ScalerFacts } from '../../../src/cli/checks/scaler-facts.js';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import { aSource, scalerOf } from '../../support/builders.js';
import { ManualClock } from '../../support/manual-clock.js';
import { values } from '../../prometheus/fakes.js';
import { resultsOf, type Checked } from '../../../src/cli/checks/check-result.js';

const HOUR = 3600;

/**
 * Returns the message, and the queries, for a load that is known since `secondsAgo`; null: it is not known. Subqueries
 * are evaluated at multiples of their step, as Prometheus does.
 */
async function check(
  secondsAgo: number | null,
  {
    forecast = {},
    answer,
    now = '2026-03-16T12:00:00Z',
    query = 'sum(rps)',
    documents = 1,
  }: {
    readonly forecast?: object | null;
    readonly answer?: Answer;
    readonly now?: string;
    readonly query?: string;
    /** Number of documents with this forecast. */
    readonly documents?: number;
  } = {},
): Promise<{
  readonly status: string | undefined;
  readonly text: string;
  readonly asked: readonly string[];
}> {
  const clock = new ManualClock(now);
  const scaler = scalerOf({
    scaleTargetRef: { name: 'web' },
    maxReplicas: 12,
    metrics: [{ external: { metric: { name: 'rps' }, query, target: { averageValue: 5 } } }],
    ...(forecast === null ? {} : { forecast }),
  });
  const asked: string[] = [];
  const nowSeconds = clock.now() / 1000;
  const runQuery = (text: string): Promise<Answer> => {
    asked.push(text);
    const [, range = '', step, ago = '0'] = /\[(\w+):(1[hm])\](?: offset (\d+)s)?/.exec(text) ?? [];
    const stepSeconds = step === '1h' ? HOUR : 60;
    const end = nowSeconds - Number(ago);
    const start = Math.max(end - (range === '1h' ? HOUR : 15 * 24 * HOUR), nowSeconds - (secondsAgo ?? 0));
    const first = Math.ceil(start / stepSeconds) * stepSeconds;
    const series = secondsAgo === null || first > end ? [] : [{ labels: {}, value: first }];
    return Promise.resolve(answer ?? values(series, clock.now()));
  };
  const allScalers = Array.from({ length: documents }, () => scaler);
  const facts = {
    scaler,
    allScalers,
    make: resultsOf('forecast', 'shop/web'),
    sources: new Map([['default', { source: aSource(), runQuery, clock }]]),
  };
  // Only what the check reads.
  const results = [await checkForecast(facts as unknown as Checked<ScalerFacts>)].flat();
  const result = results.at(-1);
  return { status: result?.status, text: `${result?.message ?? ''}; ${result?.fix ?? ''}`, asked };
}

it('says how far the load reaches into the lookback', async () => {
  expect(await check(9 * 24 * HOUR + 6 * HOUR)).toEqual({
    status: 'ok',
    text: 'the load of rps is known for 9d6h of the last 15 d (lookback); ',
    asked: [
      'min_over_time(timestamp(sum(sum(rps)\n))[15d:1h])',
      'min_over_time(timestamp(sum(sum(rps)\n))[1h:1m] offset 799200s)',
    ],
  });
  expect(await check(72 * HOUR)).toMatchObject({ status: 'ok' });
});

it('warns with fewer than three days', async () => {
  expect(await check(72 * HOUR - 60)).toMatchObject({
    status: 'warning',
    text: 'the load of rps is known only since 2026-03-13T12:01:00Z, for 2d23h. The forecast needs at least 3 days of history, and proposes nothing until then; wait, or increase the retention of the data source to at least the lookback of 15 d',
  });
  expect(await check(null)).toMatchObject({
    status: 'warning',
    text: expect.stringContaining(
      'the load of rps is not known. The forecast needs at least 3 days of history',
    ),
  });
});

it.each([
  ['2026-03-16T17:00:52Z', 13 * 60 + 7, '2026-03-16T16:48:00Z, for 12m52s'],
  ['2026-03-16T16:58:52Z', 11 * 60 + 7, '2026-03-16T16:48:00Z, for 10m52s'],
])('says since which minute a young load is known, at %s', async (now, secondsAgo, expected) => {
  const { text } = await check(secondsAgo, { now });

  expect(text).toContain(`the load of rps is known only since ${expected}. The forecast needs`);
});

it('says why the load cannot be read', async () => {
  const answer = { class: 'failed', reason: 'timeout', message: 'timeout after 5000 ms' } as const;

  expect(await check(0, { answer })).toMatchObject({
    status: 'warning',
    text: expect.stringContaining('the last 15 d (lookback) cannot be read: timeout after 5000 ms; '),
  });
});

it('asks for nothing without a forecast', async () => {
  expect(await check(0, { forecast: null })).toEqual({ status: 'ok', text: '; ', asked: [] });
});

it.each([
  ['sum(rate(requests_total[1m]))', 1000, '1000 documents have a forecast whose query calculates a rate. '],
  ['sum(rate(requests_total[1m]))', 999, 'the load of rps is known'],
  ['sum(shop:requests:rate1m)', 1000, 'the load of rps is known'],
])('advises recording rules for %s of %d documents or not', async (query, documents, message) => {
  const { text } = await check(9 * 24 * HOUR, { query, documents });

  expect(text.slice(0, message.length)).toBe(message);
});
