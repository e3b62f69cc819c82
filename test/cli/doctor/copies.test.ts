import { describe, expect, it } from '@jest/globals';
import { clusterOfWeb, diagnosed, document, healthy, metric, prometheus } from './fixture.js';

describe('a query of a document whose series exist twice', () => {
  /** Returns what the check `query` reports for an External metric; `labels`: those in which the series differ. */
  async function ofQuery(query: string, labels: readonly Readonly<Record<string, string>>[]) {
    const { simulator, pods } = await clusterOfWeb();
    const { url } = await prometheus([
      [/^topk\(100, http_total\)$/, labels.map((one) => ({ labels: { path: '/', ...one }, value: 7 }))],
      [/^(?:sum|max)\b.*rate\(http_total/, 5],
      ...healthy(pods),
    ]);
    const documents = { web: document('web', metric('external', query)) };
    return (await diagnosed({ prometheus: url, kubernetes: simulator.url, documents })).of('query');
  }

  const SUM = 'sum(rate(http_total[2m]))';
  const PAIR = [{ prometheus_replica: 'a' }, { prometheus_replica: 'b' }];

  it('fails for replicas of Prometheus, with a fix that names neither of them', async () => {
    const [found, second] = await ofQuery(SUM, PAIR);

    expect([found?.status, second]).toEqual(['failed', undefined]);
    expect(found?.message).toBe(
      'External metric m: each series of the query exists 2 times, with different values of prometheus_replica (a, b), and is counted 2 times',
    );
    expect(found?.fix).toContain('in max without (prometheus_replica) (...), inside the sum');
    expect(found?.fix).not.toContain('="');
  });

  it('fails for two jobs of one target, with the matcher for one of them', async () => {
    const [found] = await ofQuery(SUM, [{ job: 'web' }, { job: 'web-pods' }]);

    expect(found?.fix).toContain(
      'add job="web" to the matchers of the query, or remove one of the scrape jobs',
    );
  });

  it('is fine if it counts each series once', async () => {
    expect(await ofQuery('sum(max without (prometheus_replica) (rate(http_total[2m])))', PAIR)).toEqual([]);
  });
});
