import { describe, expect, it, jest } from '@jest/globals';
import type { RangeAnswer } from '../../src/prometheus/answers/classify.js';
import type { RangeQuery } from '../../src/prometheus/client/range-client.js';
import { sleep } from '../../src/units/clock.js';
import type { Product } from './product.js';
import { runSeed, type SeedResult } from './run-seed.js';
import { SOURCE_PRODUCT } from './source-product.js';
import type { Fault } from './world/faults.js';

// Takes seconds on an idle machine; the limit is for a busy one.
jest.setTimeout(120_000);

const MINUTE_MS = 60_000;
const FORECAST = { mode: 'Raise', lead: '120s', budgetPercent: 100 };

/** Answers a range query, after a delay. */
interface Source {
  readonly delayMs?: number;
  readonly answer: (range: RangeQuery) => RangeAnswer;
}

interface Forecasts {
  asked: number;
  used: number;
}

/** The service whose documents all have a forecast, with the histories of `source`. */
function productWith({ delayMs = 50, answer }: Source, seen: Forecasts): Product {
  return {
    ...SOURCE_PRODUCT,
    readDocuments: (text, ...rest) =>
      SOURCE_PRODUCT.readDocuments(
        text.replaceAll('"spec":{', `"spec":{"forecast":${JSON.stringify(FORECAST)},`),
        ...rest,
      ),
    createService: (options) =>
      SOURCE_PRODUCT.createService({
        ...options,
        createRangeClient: () => ({
          queryRange: async (range, { timeoutMs, signal }) => {
            seen.asked += 1;
            await sleep(options.clock, Math.min(delayMs, timeoutMs), signal);
            return delayMs < timeoutMs
              ? answer(range)
              : { class: 'failed', reason: 'timeout', message: 'timeout after 10 s' };
          },
        }),
        onCycle: (output) => {
          if (output.record.decision?.forecast?.isUsed === true) seen.used += 1;
          options.onCycle?.(output);
        },
      }),
  };
}

const matrix = ({ start, end, stepSeconds }: RangeQuery, load: (minute: number) => number): RangeAnswer => {
  const points: [number, number][] = [];
  for (let at: number = start; at <= end; at += stepSeconds * 1000)
    points.push([at, load((at / MINUTE_MS) % 1440)]);
  return { class: 'matrix', series: [{ labels: { promscaler_target: 'yes' }, points }] };
};

/** Each half hour, the load is higher by half for five minutes. */
const RISING: Source = { answer: (range) => matrix(range, (minute) => (minute % 30 < 25 ? 100 : 150)) };

const span = (minute: number, minutes: number) => ({
  startMs: minute * MINUTE_MS,
  endMs: (minute + minutes) * MINUTE_MS,
});

const FAULTS: readonly Fault[] = [
  { ...span(20, 3), kind: 'source', source: 'default', what: { mode: 'missing' } },
  { ...span(28, 3), kind: 'source', source: 'queues', what: { mode: 'down' } },
  {
    ...span(36, 0.1),
    kind: 'world',
    replica: 0,
    target: 'web',
    what: { mode: 'crash', point: { step: 'sent', group: 'scale' } },
  },
];

async function run(source: Source): Promise<SeedResult & Forecasts> {
  const seen: Forecasts = { asked: 0, used: 0 };
  const result = await runSeed({ seed: 3, hours: 0.7, product: productWith(source, seen), faults: FAULTS });
  return { ...result, ...seen };
}

describe('a world whose documents have forecasts', () => {
  it('uses them, and violates no invariant, also while its metrics are away and its process dies', async () => {
    const { violations, writes, used, asked } = await run(RISING);

    // I12 is that a target converges to what its load needs now, not to what a forecast expects.
    expect(violations.filter(({ invariant }) => invariant !== 'I12')).toEqual([]);
    expect(writes).toBeGreaterThan(0);
    expect(used).toBeGreaterThan(0);
    // Four documents have 9 parts each; a second process reads them again, as does the next hour.
    expect(asked).toBeLessThanOrEqual(4 * 9 * 3);
  });

  it.each<[string, Source]>([
    ['away', { answer: () => ({ class: 'failed', reason: 'connection', message: 'connection refused' }) }],
    ['never answered', { ...RISING, delayMs: 60_000 }],
    ['NaN', { answer: (range) => matrix(range, () => NaN) }],
    ['1e300', { answer: (range) => matrix(range, () => 1e300) }],
  ])('uses none of them while the histories are %s, and violates no invariant', async (_, source) => {
    const { violations, writes, used, asked } = await run(source);

    expect(violations).toEqual([]);
    expect(writes).toBeGreaterThan(0);
    expect(used).toBe(0);
    expect(asked).toBeLessThanOrEqual(4 * 9 * 3);
  });
});
