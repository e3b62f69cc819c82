import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckResult } from '../../../src/cli/checks/check-result.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { type Scripted, clusterOfWeb, document, diagnosed, metric, prometheus } from './fixture.js';

let simulator: Simulator;

beforeAll(async () => {
  ({ simulator } = await clusterOfWeb());
});

async function results(metrics: string, script: readonly Scripted[]): Promise<readonly CheckResult[]> {
  const { url } = await prometheus(script);
  const documents = { web: document('web', metrics) };
  return (await diagnosed({ prometheus: url, kubernetes: simulator.url, documents })).of('query-window');
}

describe('query-window', () => {
  const rate = metric('external', 'sum(rate(http{a="1"}[1m]))');
  const counted = (count: number): readonly Scripted[] => [
    [/^max\(count_over_time\(http\{a="1"\}\[1m\]\)\)$/, count],
    [/^sum/, 1],
  ];

  it.each([
    [4, []],
    [3, ['warning']],
    [2, ['warning']],
    [1, ['failed']],
  ])('with %d samples in the range [1m]', async (count, statuses) => {
    const found = await results(rate, counted(count));

    expect(found.map(({ status }) => status)).toEqual(statuses);
  });

  it('names the selector and the range', async () => {
    const [found] = await results(rate, counted(1));

    expect(found?.message).toBe(
      'External metric m: the range [1m] contains only 1 sample of http{a="1"}; rate needs at least 2',
    );
    expect(found?.fix).toContain('[120s] instead of [1m]');
  });

  it.each([
    ['four intervals of series that are scraped every 20 s', [50, 30, 10], ['warning [80s] instead of [1m]']],
    ['nothing for series that are 25 s old and scraped every 10 s', [25, 15, 5], []],
    ['four of the 30 s that are configured, for a single sample', [5], ['warning [120s] instead of [1m]']],
  ])('advises %s', async (_what, secondsAgo, advice) => {
    const script: readonly Scripted[] = [
      [/^topk/, [{ labels: { job: 'web' }, value: 3 }]],
      [/^http\{job="web"\}\[900s\]$/, { secondsAgo }],
      ...counted(1),
    ];

    const found = await results(rate, script);

    expect(found.map(({ status, fix }) => `${status} ${/\[.*/.exec(fix ?? '')?.[0] ?? ''}`)).toEqual(advice);
  });

  it('ignores ranges for which one sample is sufficient', async () => {
    const text = metric('external', 'sum(max_over_time(http{a="1"}[1m]))');

    expect(await results(text, counted(1))).toEqual([]);
  });
});
