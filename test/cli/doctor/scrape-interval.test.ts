import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckResult } from '../../../src/cli/checks/check-result.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { clusterOfWeb, diagnosed, document, every, healthy, newest, prometheus, scraped } from './fixture.js';

let simulator: Simulator;
let pods: readonly string[];

beforeAll(async () => {
  ({ simulator, pods } = await clusterOfWeb());
});

describe('scrape-interval', () => {
  const found = async (secondsAgo: readonly number[]): Promise<readonly CheckResult[]> => {
    const { url } = await prometheus([...scraped(secondsAgo), ...healthy(pods)]);
    const documents = { web: document('web') };
    const { of } = await diagnosed({ prometheus: url, kubernetes: simulator.url, documents });
    return of('scrape-interval');
  };

  it.each([
    ['every 30 s for 900 s', every(30, 900)],
    ['every second for 3 s', every(1, 3)],
    ['every 30 s for 60 s', every(30, 60)],
    ['every 30 s, now and then late', [121, 90, 61, 30, 0]],
  ])('succeeds with scrapes %s', async (_, secondsAgo) => {
    expect(await found(secondsAgo)).toEqual([]);
  });

  it.each([
    ['for long', every(60, 900)],
    ['for two scrapes', every(60, 120)],
  ])('warns about 2 scrapes in the window, every 60 s %s, with settings that fit', async (_, secondsAgo) => {
    const [first] = await found(secondsAgo);

    expect(first).toMatchObject({
      status: 'warning',
      message:
        'the containers are scraped about every 60 s, so the window of 120 s contains 2 samples; at least 4 samples are recommended, so that a failed scrape leaves no gap',
    });
    expect(first?.fix).toContain(
      'prometheus.default: { scrapeIntervalSeconds: 60, resourceWindowSeconds: 240 }',
    );
  });

  it('fails with 1 scrape in the window', async () => {
    const [first] = await found(every(120, 900));

    expect(first?.status).toBe('failed');
    expect(first?.message).toContain(
      'about every 120 s, so the window of 120 s contains 1 sample; rate needs at least 2',
    );
    expect(first?.fix).toContain('scrapeIntervalSeconds: 120, resourceWindowSeconds: 480');
    expect(first?.fix).toContain('scrape_interval: 15s');
  });

  const advised = async (secondsAgo: readonly number[], source = ''): Promise<string> => {
    const [oldest = 0, next = 0] = secondsAgo;
    const script = [...scraped(secondsAgo), ...newest([0], oldest - next), ...healthy(pods)];
    const { url } = await prometheus(script);
    const documents = { web: document('web') };
    const { results: all } = await diagnosed({
      prometheus: url,
      source,
      kubernetes: simulator.url,
      documents,
    });
    const ok = all.find(({ check, status }) => check === 'scrape-interval' && status === 'ok');
    return ok?.message ?? '';
  };

  it('names the window that follows the interval, and recommends shorter scrapes if it is above 60 s', async () => {
    expect(await advised(every(15, 900))).toBe(
      'the containers are scraped every 15 s, so the window is 60 s',
    );
    expect(await advised(every(30, 900))).toBe(
      'the containers are scraped every 30 s, so the window is 120 s (with scrape_interval: 15s, the metrics would follow the load sooner)',
    );
  });

  it('recommends for a window of 120 s one of 60 s at an interval of 15 s, and both at 16 s and more', async () => {
    const window = ', resourceWindowSeconds: 120';

    expect(await advised(every(15, 900), window)).toBe(
      'the containers are scraped every 15 s (with resourceWindowSeconds: 60, the metrics would follow the load sooner)',
    );
    expect(await advised(every(16, 900), window)).toBe(
      'the containers are scraped every 16 s (with scrape_interval: 15s and resourceWindowSeconds: 60, the metrics would follow the load sooner)',
    );
  });

  it('recommends nothing if the window is 60 s, but shorter scrapes if it is 61 s', async () => {
    const window = (seconds: number): string =>
      `, scrapeIntervalSeconds: 10, resourceWindowSeconds: ${seconds}`;

    expect(await advised(every(10, 900), window(60))).toBe('the containers are scraped every 10 s');
    expect(await advised(every(10, 900), window(61))).toContain(
      'with resourceWindowSeconds: 60, the metrics would',
    );
  });

  it('does not guess from a single scrape', async () => {
    expect(await found([0])).toMatchObject([
      { status: 'skipped', message: 'cpu has a single sample, so the scrape interval is not known yet' },
    ]);
  });
});
