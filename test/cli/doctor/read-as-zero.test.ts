import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckResult } from '../../../src/cli/checks/check-result.js';
import { type Scripted, clusterOfWeb, diagnosed, document, metric, prometheus } from './fixture.js';

let kubernetes: string;

beforeAll(async () => {
  kubernetes = (await clusterOfWeb()).simulator.url;
});

async function results(
  query: string,
  script: readonly Scripted[],
  zero = 'onMissing: zero, onNaN: zero',
): Promise<readonly CheckResult[]> {
  const { url } = await prometheus(script);
  const text = metric('external', query).replace('target:', `${zero}, target:`);
  return (await diagnosed({ prometheus: url, kubernetes, documents: { web: document('web', text) } })).of(
    'query',
  );
}

const READ_AS_ZERO =
  'External metric m has no series, so its value is 0 (onMissing: zero), which can cause a scale-down to the minimum: ';

describe('a query with onMissing: zero', () => {
  it('is a warning with the matcher that removes all series, and the value that is meant', async () => {
    const [found, second] = await results('sum(jobs{queue="mail"})', [
      [/^count\(last_over_time\(jobs\[5m\]\)\)$/, 9],
      [/^count\(jobs\{\}\)$/, 4],
      [/^group by \(queue\) \(jobs\{\}\)$/, [{ labels: { queue: 'mails' }, value: 1 }]],
    ]);

    expect([found?.status, second]).toEqual(['warning', undefined]);
    expect(found?.message).toBe(
      `${READ_AS_ZERO}the matcher queue="mail" removes all series; without this matcher, queue is mails`,
    );
    expect(found?.fix).toBe('queue="mails"');
  });

  it.each([
    ['sum(jobs)', [], 'Prometheus has no metric jobs'],
    [
      'sum(jobs{a="1", b="2"})',
      [
        [/^count\(last_over_time\(jobs\[5m\]\)\)$/, 9],
        [/^topk\(20, jobs\)$/, [{ labels: { a: '9' }, value: 1 }]],
      ],
      'jobs{a="1", b="2"} matches no series, even without any one of its matchers; jobs has no label b',
    ],
    [
      'sum({a="1", b="2"})',
      [[/^topk\(20, target_info\)$/, [{ labels: { a: '9' }, value: 1 }]]],
      '{a="1", b="2"} matches no series, even without any one of its matchers',
    ],
  ] as readonly (readonly [string, readonly Scripted[], string])[])(
    'is a warning for %s without any sample',
    async (query, script, message) => {
      const found = await results(query, script);

      expect(found).toMatchObject([{ status: 'warning' }]);
      expect(found[0]?.message).toBe(READ_AS_ZERO + message);
    },
  );

  it.each([
    ['sum(jobs)', 'a series that ended within the hour', /^count\(last_over_time\(jobs\[1h\]\)\)$/],
    ['jobs > 5', 'a comparison that is not true', /^count\(jobs\)$/],
  ])('is expected to have none: %s with %s', async (query, _, pattern) => {
    expect(await results(query, [[pattern, 3]])).toEqual([]);
  });

  it('is a failure without onMissing, also with onNaN: zero', async () => {
    expect(await results('sum(jobs)', [], 'onNaN: zero')).toMatchObject([
      { status: 'failed', message: 'External metric m has no series: Prometheus has no metric jobs' },
    ]);
  });
});

describe('a query whose value is NaN', () => {
  it.each([
    ['onNaN: zero', []],
    ['onMissing: zero', ['failed']],
  ])('with %s', async (zero, statuses) => {
    const found = await results('jobs', [[/^jobs$/, NaN]], zero);

    expect(found.map(({ status }) => status)).toEqual(statuses);
  });
});
