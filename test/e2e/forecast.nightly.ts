import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { ScalerDetail } from '../../src/api/answers.js';
import { runCli } from '../cli/fake-io.js';
import { type OnHistory, startOnHistory } from './on-history.js';
import { waitFor } from './waiting.js';

/** The level of today needs five minutes of its own samples. */
jest.setTimeout(720_000);

const STEP_SECONDS = 15;
const DAY_SECONDS = 86_400;
const DAYS = 10;
const NOW_SECONDS = Math.floor(Date.now() / 1000 / STEP_SECONDS) * STEP_SECONDS;
const RISE_SECONDS = NOW_SECONDS + 480;
const BUSY_SECONDS = 900;
const [QUIET, BUSY] = [40, 120];

/** Each day, the load is three times as high for 15 minutes, from eight minutes after the time of now on. */
function samples(): readonly (readonly [number, number])[] {
  const first = NOW_SECONDS - DAYS * DAY_SECONDS - 7200;
  const count = (NOW_SECONDS + 480 - first) / STEP_SECONDS;
  return Array.from({ length: count }, (_, index) => {
    const second = first + index * STEP_SECONDS;
    const sinceRise = (second - RISE_SECONDS + (DAYS + 1) * DAY_SECONDS) % DAY_SECONDS;
    return [second, sinceRise < BUSY_SECONDS ? BUSY : QUIET] as const;
  });
}

describe('a service with ten days of a real Prometheus', () => {
  let fixture: OnHistory;

  beforeAll(async () => {
    fixture = await startOnHistory({
      names: ['observer', 'raiser'],
      series: [{ labels: { __name__: 'load' }, samples: samples() }],
      stepSeconds: STEP_SECONDS,
      spec: (name) => {
        const mode = name === 'raiser' ? 'Raise' : 'Observe';
        return `  forecast: { mode: ${mode}, lookback: ${DAYS}d, lead: 120s, budgetPercent: 50 }\n`;
      },
    });
  });

  afterAll(() => fixture.close());

  const read = async (name: string): Promise<ScalerDetail> =>
    (await fixture.read(`scalers/shop/${name}`)) as ScalerDetail;

  it('raises 10 replicas to 30 before the load comes, or says that it would, in API, metrics and explain', async () => {
    const { service } = fixture;
    const [raiser, observer] = await waitFor(
      async () => {
        const both = [await read('raiser'), await read('observer')] as const;
        return both.every(({ decision }) => decision?.forecast?.replicas === 30) && both;
      },
      { what: 'the forecasts', seconds: 600 },
    );
    const { stdout: explained } = await runCli(['explain', 'shop/raiser', '--url', service.url]);
    const { stdout: status } = await runCli(['status', '--url', service.url]);
    const metrics = await service.metrics('promscaler_forecast_replicas{');

    expect(raiser.decision?.forecast).toMatchObject({ replicas: 30, isUsed: true, reactive: 10 });
    expect(raiser.decision?.desiredReplicas).toBe(30);
    expect(observer.decision?.forecast).toMatchObject({ replicas: 30, isUsed: false, reactive: 10 });
    expect(observer.decision?.desiredReplicas).toBe(10);
    expect(explained).toMatch(
      /^Forecast \(Raise\): 30: \S+ after this time of day, the load of load was 120 to 120 on 7 days, such as 120 at /m,
    );
    expect(status).toMatch(/observer .* forecast would raise 10 to 30$/m);
    expect(metrics.map((line) => line.split(' ').at(-1))).toEqual(['30', '30']);
  });
});
