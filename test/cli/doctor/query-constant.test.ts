import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckResult } from '../../../src/cli/checks/check-result.js';
import { type Scripted, clusterOfWeb, diagnosed, document, metric, prometheus } from './fixture.js';

let kubernetes: string;

beforeAll(async () => {
  kubernetes = (await clusterOfWeb()).simulator.url;
});

/** Returns the results of `query`, also those that are ok. The whole query returns 0 if the script has no answer. */
async function results(
  query: string,
  script: readonly Scripted[],
  zero = '',
): Promise<readonly CheckResult[]> {
  const whole = new RegExp(`^${query.replace(/[^\w ]/g, '\\$&')}$`);
  const { url } = await prometheus([...script, [whole, 0]]);
  const web = document('web', metric('external', query).replace('target:', `${zero}target:`));
  const report = await diagnosed({ prometheus: url, kubernetes, documents: { web } });
  return report.results.filter(({ check }) => check === 'query');
}

const HTTP: readonly Scripted[] = [
  [/^count\(last_over_time\(http\[2m\]\)\)$/, 9],
  [/^count\(http\{\}\)$/, 9],
  [/^topk\(20, http\{\}\)$/, [{ labels: { deployment: 'web', code: '200' }, value: 1 }]],
  [/^group by \(deployment\) \(http\{\}\)$/, [{ labels: { deployment: 'web' }, value: 1 }]],
  [/^group by \(code\) \(http\{\}\)$/, [{ labels: { code: '200' }, value: 1 }]],
];

describe('a part of a query that a constant replaces', () => {
  it('is a warning with the label that does not exist, and the one that is meant', async () => {
    expect(await results('sum(rate(http{deploymnt="web"}[2m])) or vector(0)', HTTP)).toEqual([
      {
        check: 'query',
        subject: 'shop/web',
        status: 'warning',
        message:
          'External metric m: sum(rate(http{deploymnt="web"}[2m])) has no series, so a constant in the query replaces it: ' +
          'the matcher deploymnt="web" removes all series, because they have no label deploymnt; their labels are code, deployment',
        fix: 'deployment="web"',
      },
    ]);
  });

  it.each([
    'sum(rate(http{deployment="wbe"}[2m])) or on() vector(0)',
    'sum(rate(http{deployment="wbe"}[2m])) or absent(x) * 0',
    'clamp_min((sum(rate(http{deployment="wbe"}[2m])) or 0 * up), 1)',
    'sum(x) + (sum(rate(http{deployment="wbe"}[2m])) or vector(1))',
    '(sum(x) or vector(0)) + (sum(rate(http{deployment="wbe"}[2m])) or vector(0))',
    'vector(scalar(sum(rate(http{deployment="wbe"}[2m]))) > bool 1)',
  ])('is a warning also in %s', async (query) => {
    const script: readonly Scripted[] = [[/^sum\(x\)$/, 7], [/^scalar/, NaN], ...HTTP];

    expect(await results(query, script)).toMatchObject([
      {
        status: 'warning',
        message: expect.stringContaining(
          'the matcher deployment="wbe" removes all series; without this matcher, deployment is web',
        ),
        fix: 'deployment="web"',
      },
    ]);
  });

  it('is a warning if the metric does not exist', async () => {
    expect(await results('sum(jobs) or vector(0)', [])).toMatchObject([
      {
        status: 'warning',
        message: expect.stringContaining('replaces it: Prometheus has no metric jobs'),
      },
    ]);
  });

  it.each([
    ['has a value', 'sum(http) or vector(0)', [[/^sum\(http\)$/, 7]]],
    [
      'has an alternative with a value',
      'sum(old) or sum(http) or vector(0)',
      [[/^sum\(old\) or sum\(http\)$/, 7]],
    ],
    [
      'had samples within the hour',
      'sum(http) or vector(0)',
      [[/^count\(last_over_time\(http\[1h\]\)\)$/, 9]],
    ],
    ['is removed by a comparison', 'sum(http > 9) or vector(0)', [[/^count\(http\)$/, 9]]],
  ] as readonly (readonly [string, string, readonly Scripted[]])[])(
    'is no problem if it %s',
    async (_, query, script) => {
      expect(await results(query, script)).toMatchObject([{ status: 'ok', message: '' }]);
    },
  );

  it('is reported once, as missing, if the query has no value either', async () => {
    const query = 'sum(x) + (sum(rate(http{deployment="wbe"}[2m])) or vector(0))';

    expect(await results(query, [[/^sum\(x\) \+/, []], ...HTTP])).toMatchObject([{ status: 'failed' }]);
  });
});

describe('an outcome that has not occurred yet', () => {
  it.each([
    [
      'code=~"5.."',
      ' or vector(0)',
      '',
      'sum(rate(http{code=~"5.."}[2m])) has no series, so a constant in the',
    ],
    [
      'code!="200"',
      ' or vector(0)',
      '',
      'sum(rate(http{code!="200"}[2m])) has no series, so a constant in the',
    ],
    ['code=~"5.."', '', 'onMissing: zero, ', 'has no series, so its value is 0 (onMissing: zero)'],
    ['deployment="errors"', ' or vector(0)', '', 'without this matcher, deployment is web'],
  ])('is mentioned, but is no problem: %s%s', async (matcher, constant, zero, message) => {
    const query = `sum(rate(http{${matcher}}[2m]))${constant}`;
    const script: readonly Scripted[] = zero === '' ? HTTP : [[/^sum\(rate\(http/, []], ...HTTP];

    expect(await results(query, script, zero)).toMatchObject([
      { status: 'ok', message: expect.stringContaining(message), fix: null },
    ]);
  });

  it('is a failure for a query that has no value without it', async () => {
    expect(await results('sum(rate(http{code=~"5.."}[2m]))', [[/^sum\(rate/, []], ...HTTP])).toMatchObject([
      { status: 'failed', message: expect.stringContaining('the matcher code=~"5.." removes all series') },
    ]);
  });
});
