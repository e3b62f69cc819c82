import { describe, expect, it } from '@jest/globals';
import {
  type Forecasts,
  HISTORY_FAULTS,
  type HistoryFault,
  MINUTE_MS,
  RISING,
  withForecasts,
} from './forecasts.js';
import { runSeed, type SeedResult } from './run-seed.js';
import { SOURCE_PRODUCT } from './source-product.js';
import type { Fault } from './simulation/faults.js';

const span = (minute: number, minutes: number) => ({
  startMs: minute * MINUTE_MS,
  endMs: (minute + minutes) * MINUTE_MS,
});

const FAULTS: readonly Fault[] = [
  { ...span(20, 3), kind: 'source', source: 'default', what: { mode: 'missing' } },
  { ...span(28, 3), kind: 'source', source: 'queues', what: { mode: 'down' } },
  {
    ...span(36, 0.1),
    kind: 'cluster',
    replica: 0,
    target: 'web',
    what: { mode: 'crash', point: { step: 'sent', group: 'scale' } },
  },
];

async function run(source: HistoryFault): Promise<SeedResult & Forecasts> {
  const seen: Forecasts = { asked: 0, used: 0 };
  const result = await runSeed({
    seed: 3,
    hours: 0.7,
    product: withForecasts(SOURCE_PRODUCT, source, seen),
    faults: FAULTS,
  });
  return { ...result, ...seen };
}

describe('a simulation whose documents have forecasts', () => {
  it('uses them, and violates no invariant, also while its metrics are away and its process dies', async () => {
    const { violations, writes, used, asked } = await run(RISING);

    // I12 is that a target converges to what its load needs now, not to what a forecast expects.
    expect(violations.filter(({ invariant }) => invariant !== 'I12')).toEqual([]);
    expect(writes).toBeGreaterThan(0);
    expect(used).toBeGreaterThan(0);
    // Four documents have 9 parts each; a second process reads them again, as does the next hour.
    expect(asked).toBeLessThanOrEqual(4 * 9 * 3);
  });

  it.each(Object.entries(HISTORY_FAULTS))(
    'uses none of them while the histories are %s, and violates no invariant',
    async (_, source) => {
      const { violations, writes, used, asked } = await run(source);

      expect(violations).toEqual([]);
      expect(writes).toBeGreaterThan(0);
      expect(used).toBe(0);
      expect(asked).toBeLessThanOrEqual(4 * 9 * 3);
    },
  );
});
