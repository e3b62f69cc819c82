import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckResult } from '../../../src/cli/checks/check-result.js';
import {
  clusterOfWeb,
  type Diagnosis,
  diagnosed,
  document,
  healthy,
  metric,
  newest,
  prometheus,
  type Scripted,
  server,
} from './fixture.js';

let kubernetes: string;
let pods: readonly string[];

beforeAll(async () => {
  const { simulator, pods: names } = await clusterOfWeb();
  kubernetes = simulator.url;
  pods = names;
});

const RPS = 'sum(rate(http_requests_total{namespace="$namespace"}[2m]))';

async function diagnose(
  script: readonly Scripted[],
  { source = '', documents = { web: document('web') } } = {},
): Promise<Diagnosis> {
  const { url } = await prometheus([...script, ...healthy(pods)]);
  const window = `${source}, resourceWindowSeconds: 120`;
  return diagnosed({ prometheus: url, kubernetes, source: window, documents });
}

async function results(...asked: Parameters<typeof diagnose>): Promise<readonly CheckResult[]> {
  const diagnosis = await diagnose(...asked);
  return diagnosis.results.filter(({ check }) => check === 'sample-age');
}

describe('the age of samples', () => {
  it('of 70 s at a scrape interval of 15 s and a window of 120 s is a failure, with the lag, the bound and a fix', async () => {
    const { of, exitCode } = await diagnose(newest([70, 70], 15));

    expect(of('sample-age')).toMatchObject([
      {
        status: 'failed',
        subject: 'data source default',
        message:
          'cpu: the value is based on old samples in a range of 2m: the newest sample of 2 of 2 targets is up to 70 s old ' +
          '(scrape interval 15 s) (limit: 20 s). Rates are too low, so the scaler scales up too late and does not scale down',
      },
    ]);
    expect(of('sample-age')[0]?.fix).toContain('maxSampleAgeSeconds of the metric or of prometheus.default');
    expect(exitCode).toBe(1);
  });

  it.each([
    ['19 s: rate still reads within 10 %', 19, '', 'ok'],
    ['20 s: 10.4 % too low', 20, '', 'failed'],
    ['70 s, and maxSampleAgeSeconds is 75', 70, ', maxSampleAgeSeconds: 75', 'ok'],
    ['80 s, and maxSampleAgeSeconds is 75', 80, ', maxSampleAgeSeconds: 75', 'failed'],
    ['70 s, and the check is turned off', 70, ', maxSampleAgeSeconds: 0', 'skipped'],
  ])('of %s', async (_, ago, source, status) => {
    expect(await results(newest([ago], 15), { source })).toMatchObject([{ status }]);
  });

  it('is printed for fresh samples, with the targets of which one in twenty is late', async () => {
    const ages = [70, ...Array.from({ length: 19 }, (_, index) => index / 2)];

    expect(await results(newest(ages, 15))).toMatchObject([
      {
        status: 'ok',
        message:
          'the newest samples of cpu are up to 9 s old (limit: 20 s); 1 of 20 targets exceed the limit',
      },
    ]);
  });

  it.each([
    ['of 0.98 s, measured with a scrape_interval of 1s', 0.98, 'limit: 12 s'],
    ['of 0.25 s', 0.25, 'limit: 12 s'],
    ['of 90 s', 90, 'limit: 99 s'],
    ['that is too short to be one, so that the configured one applies', 0.04, 'limit: 20 s'],
    ['of 0, so that the configured one applies', 0, 'limit: 20 s'],
  ])('is printed with an interval %s', async (_, interval, message) => {
    const found = await results(newest([0], interval), { source: ', scrapeIntervalSeconds: 15' });

    expect(found).toMatchObject([
      {
        status: 'ok',
        message: expect.stringContaining(`newest samples of cpu are up to 0 s old (${message})`),
      },
    ]);
  });

  it('is checked for the queries of a document, and one result names all metrics with old samples', async () => {
    const script = [...newest([40], 15), ...newest([70], 15, 'http_requests_total')];
    const documents = { web: document('web'), api: document('api', metric('external', RPS)) };

    const found = await results(script, { documents });

    expect(found).toHaveLength(1);
    expect(found[0]?.message).toMatch(
      /^m of shop\/api: the value is based on old samples in .*\. The same applies to cpu$/,
    );
  });

  it('that the server does not report is a warning, which names freshness and maxSampleAgeSeconds', async () => {
    const { url } = await server((response, request) => {
      const query = request.form.get('query') ?? '';
      response.setHeader('Content-Type', 'application/json');
      response.statusCode = query.includes('timestamp') ? 422 : 200;
      response.end(
        query.includes('timestamp')
          ? '{"status":"error","errorType":"bad_data","error":"function timestamp is not allowed"}'
          : `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[${Date.now() / 1000},"1"]}]}}`,
      );
    });

    const { of } = await diagnosed({ prometheus: url, kubernetes, documents: { web: document('web') } });

    expect(of('sample-age')).toMatchObject([
      {
        status: 'warning',
        message:
          'the server rejects the queries for the age of the samples of cpu, so promscaler does not notice old samples, and old samples can cause a scale-down',
      },
    ]);
    expect(of('sample-age')[0]?.fix).toMatch(/freshness .*prometheus\.default\.maxSampleAgeSeconds/);
  });

  it('is skipped for metrics without samples, which other checks report', async () => {
    expect(await results(newest([], 15))).toMatchObject([
      { status: 'skipped', message: 'the data source has no current samples of cpu' },
    ]);
  });
});
