import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../src/prometheus/answers/answer.js';
import {
  type CheckedSelector,
  readIntervals,
  readTargets,
} from '../../src/prometheus/queries/target-ages.js';
import { instantFromSeconds } from '../../src/units/time.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { createPrometheusClient } from '../../src/prometheus/client/client.js';
import { aSource } from '../support/builders.js';
import { startFakeSource } from './processes/fake-source.js';
import { type AgeQuery, readAgeQuery } from './age-queries.js';

const SELECTOR = 'http_requests_total{job="api", path=~"/(a|b)"}';
const NOW = 1_700_000_000;

/** Returns what the queries that the service sends for a selector are about, in order. */
async function asked(given: Partial<CheckedSelector>): Promise<readonly (AgeQuery | null)[]> {
  const queries: (AgeQuery | null)[] = [];
  const selector: CheckedSelector = {
    text: SELECTOR,
    rangeSeconds: 120,
    offsetSeconds: 0,
    by: 'by (job, instance)',
    pods: null,
    isOfPods: false,
    isVictoriaMetrics: false,
    defaultInterval: 15,
    maxAgeSeconds: null,
    valueAtSeconds: null,
    ...given,
  };
  const ask = (query: string): Promise<Answer> => {
    queries.push(readAgeQuery(query));
    return Promise.resolve({ class: 'missing', message: 'no series' });
  };
  const intervals = await readIntervals(selector, ask);
  await readTargets(selector, intervals, ask);
  return queries;
}

const LABELS = ['job', 'instance'];

describe('a query for the age of samples', () => {
  it('is recognized in every shape that the service sends for a range', async () => {
    const of = { selector: SELECTOR, labels: LABELS, offsetSeconds: 0 };

    expect(await asked({})).toEqual([
      { ...of, kind: 'interval', rangeSeconds: 240 },
      { ...of, kind: 'newest', start: { offsetSeconds: 100.5, mark: 'promscaler_start' } },
      { kind: 'failing', rangeSeconds: 120 },
      { ...of, kind: 'seen', rangeSeconds: 3600, stepSeconds: 120, offsetSeconds: 120 },
      { ...of, kind: 'samples', rangeSeconds: 120 },
    ]);
  });

  it('is recognized for a selector of pods without a range, 30 s ago', async () => {
    const labels = ['job', 'instance', 'pod'];
    const of = { selector: SELECTOR, labels, offsetSeconds: 30 };
    const given = { rangeSeconds: 0, offsetSeconds: 30, by: 'by (job, instance, pod)' };

    expect(await asked(given)).toEqual([
      { ...of, kind: 'interval', rangeSeconds: 600 },
      { ...of, kind: 'newest', start: null },
      { kind: 'failing', rangeSeconds: 0 },
      { ...of, kind: 'seen', rangeSeconds: 3600, stepSeconds: 120 },
    ]);
  });

  it('is recognized for the time shortly before the value', async () => {
    const queries: (AgeQuery | null)[] = [];
    const ask = (query: string): Promise<Answer> => {
      queries.push(readAgeQuery(query));
      const series = [{ labels: { job: 'api', instance: 'a' }, value: NOW }];
      return Promise.resolve({ class: 'value', series, evaluatedAt: instantFromSeconds(NOW + 1) });
    };
    const selector = {
      text: SELECTOR,
      rangeSeconds: 0,
      offsetSeconds: 0,
      by: 'by (job, instance)',
      pods: null,
    };
    const more = {
      isOfPods: false,
      isVictoriaMetrics: false,
      defaultInterval: 15,
      maxAgeSeconds: null,
      valueAtSeconds: NOW - 1,
    };

    await readTargets({ ...selector, ...more }, { byJob: new Map(), longest: 15 }, ask);

    expect(queries.at(-1)).toEqual({
      kind: 'newest',
      selector: SELECTOR,
      labels: LABELS,
      offsetSeconds: 3,
      start: null,
    });
  });

  it('is answered by the source of the real processes: its samples are fresh', async () => {
    const source = await startFakeSource();
    const client = createPrometheusClient(aSource({ urls: [source.url] }), SYSTEM_CLOCK);
    const signal = new AbortController().signal;
    const ask = (query: string): Promise<Answer> => client.query(query, { timeoutMs: 5000, signal });
    const selector = {
      text: 'load_web',
      rangeSeconds: 2,
      offsetSeconds: 0,
      by: 'by (job, instance)',
      pods: null,
    };
    const more = {
      isOfPods: false,
      isVictoriaMetrics: false,
      defaultInterval: 15,
      maxAgeSeconds: null,
      valueAtSeconds: null,
    };

    const intervals = await readIntervals({ ...selector, ...more }, ask);
    const targets = await readTargets({ ...selector, ...more }, intervals, ask);
    await source.close();

    expect(targets).toMatchObject([
      { ageSeconds: expect.closeTo(0, 1), intervalSeconds: 1, hasGap: false, isYoung: false },
    ]);
  });

  it.each(['sum(rate(http_requests_total[2m]))', 'count(up offset 120s)', 'max by (pod) (memory)'])(
    'is not %s',
    (query) => {
      expect(readAgeQuery(query)).toBeNull();
    },
  );
});
