import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { ScalerList } from '../../src/api/answers.js';
import type { WrittenSeries } from '../support/remote-write.js';
import { runCli } from '../cli/fake-io.js';
import { type OnHistory, startOnHistory } from './on-history.js';
import { E2E_TIMEOUT_MS, waitFor } from './waiting.js';

// Back-tests have the lowest priority of the system: while other tests run, they take many times as long.
jest.setTimeout(2 * E2E_TIMEOUT_MS);

const STEP_SECONDS = 240;
const DAYS = 2.1;

/** A wave of a day with 10 pods, of which one carries 12 at most. */
function series(): readonly WrittenSeries[] {
  const end = Math.floor(Date.now() / 1000 / STEP_SECONDS) * STEP_SECONDS;
  const count = Math.floor((DAYS * 86_400) / STEP_SECONDS);
  const times = Array.from({ length: count }, (_, index) => end - (count - 1 - index) * STEP_SECONDS);
  const of = (
    labels: Readonly<Record<string, string>>,
    valueAt: (second: number) => number,
  ): WrittenSeries => ({
    labels,
    samples: times.map((second) => [second, valueAt(second)] as const),
  });
  const web = { namespace: 'shop', deployment: 'web' };
  return [
    of({ __name__: 'load' }, (second) => 80 + 40 * Math.sin((2 * Math.PI * second) / 86_400)),
    of({ __name__: 'kube_deployment_spec_replicas', ...web }, () => 10),
    of({ __name__: 'kube_deployment_status_replicas_ready', ...web }, () => 10),
  ];
}

describe('a service that back-tests its documents', () => {
  let fixture: OnHistory;

  beforeAll(async () => {
    fixture = await startOnHistory({
      names: ['web'],
      series: series(),
      stepSeconds: STEP_SECONDS,
      spec: () => '  syncPeriodSeconds: 300\n',
      // The nights begin each minute.
      config:
        "recommendations: { enabled: true, days: 2, schedule: '* * * * *', spreadMinutes: 1, cpuPercent: 100 }\n",
    });
  });

  afterAll(() => fixture.close());

  it('recommends a higher target from the history of a real Prometheus, in API, metrics and status', async () => {
    const { service, simulator } = fixture;
    const recommendation = await waitFor(
      async () => {
        const list = (await fixture.read('scalers')) as ScalerList;
        return list.items[0]?.recommendation;
      },
      { what: 'a recommendation', seconds: 420 },
    );
    const { stdout } = await runCli(['status', '--recommendations', '--url', service.url]);
    const [saving] = await service.metrics('promscaler_recommendation_saving_ratio{');

    expect(recommendation.reason).toMatch(/^expect [\d.]+ % fewer pod-hours/);
    expect(recommendation).toMatchObject({ isObject: false, stepSeconds: STEP_SECONDS });
    expect(stdout).toMatch(/^shop\/web: expect [\d.]+ % fewer pod-hours/);
    expect(stdout).toMatch(/ {2}spec\.metrics\[0\]\.external\.target\.averageValue: 4 -> /);
    expect(stdout).toMatch(/--from [\dT:-]+Z --to [\dT:-]+Z --step 240s --recommend 'theta_U<=document'/);
    expect(Number(saving?.split(' ').at(-1))).toBeCloseTo((recommendation.saving?.percent ?? NaN) / 100, 1);
    expect(simulator.requests().filter(({ body }) => body?.includes('averageValue') === true)).toEqual([]);
  });
});
