import { describe, expect, it } from '@jest/globals';
import type { ServiceStatus } from '../../../src/api/answers.js';
import { ApiError } from '../../../src/dashboard/data/api-error.js';
import { notLiveOf, staleOf, warningsOf } from '../../../src/dashboard/shell/warnings.js';
import { AT, after, failingService, serviceOf } from '../../browser/support/answers.js';

const NOW = Date.parse(AT);

function textsOf(
  changes: Partial<ServiceStatus>,
  stale: Parameters<typeof warningsOf>[1] = null,
): readonly string[] {
  return warningsOf(serviceOf(changes), stale, NOW).map(({ text }) =>
    text.replace(/\d\d:\d\d|[A-Z][a-z]{2} \d+, \d\d:\d\d/, 'HH:MM'),
  );
}

const [SOURCE] = failingService().dataSources;
const [HEALTHY] = serviceOf().dataSources;

describe('warningsOf', () => {
  it('finds none in a healthy service, and with a warning of a document', () => {
    const [, warning] = failingService().problems;

    expect(textsOf({ problems: [warning!] })).toEqual([]);
  });

  it.each([
    [
      214,
      'Data source default (http://prometheus.monitoring:9090) has answered no query since HH:MM (10 min): 214 scalers keep their replicas',
    ],
    [
      1,
      'Data source default (http://prometheus.monitoring:9090) has answered no query since HH:MM (10 min): 1 scaler keeps its replicas',
    ],
    [0, 'Data source default (http://prometheus.monitoring:9090) has answered no query since HH:MM (10 min)'],
    [
      undefined,
      'Data source default (http://prometheus.monitoring:9090) has answered no query since HH:MM (10 min)',
    ],
  ])('says since when a source has not answered, and how many scalers (%p) need it', (dependents, text) => {
    expect(textsOf({ dataSources: [{ ...SOURCE!, dependents }] })).toEqual([text]);
  });

  it('names the API server, a missing leader, a standby, replicas that did not answer and invalid documents', () => {
    const { kubernetes, replicas, problems } = failingService();

    expect(textsOf({ kubernetes })).toEqual([
      'The API server has answered no request since HH:MM (30 s): no replicas are changed',
    ]);
    expect(textsOf({ leader: null })).toEqual([
      'No replica of promscaler is known to be the leader: nothing is scaled until one is elected',
    ]);
    expect(textsOf({ leader: 'other' })).toEqual([
      'This replica of promscaler is a standby and shows old data. The leader is other',
    ]);
    expect(textsOf({ replicas })).toEqual([
      '1 replica of promscaler did not answer (promscaler-1): scalers are missing',
    ]);
    expect(textsOf({ problems })).toEqual(['1 error in scaler documents: config/scalers/web.yaml, line 9']);
  });

  it.each([
    [-75, []],
    [-76, ['The last round of decisions was 1 min ago: nothing is scaled']],
  ])('finds a round %i s ago with a period of 15 s overdue: %j', (seconds, texts) => {
    const last = { at: after(seconds), seconds: 0.2, latenessSeconds: 0, scalers: 42 };

    expect(textsOf({ rounds: { periodSeconds: 15, last, missed: 0 } })).toEqual(texts);
  });

  it('says first as of when the page is, if it could not be updated, and not that rounds are late', () => {
    const rounds = {
      periodSeconds: 15,
      last: { at: after(-90), seconds: 0.2, latenessSeconds: 0, scalers: 42 },
      missed: 0,
    };

    expect(textsOf({ rounds }, { at: NOW - 28_000, message: 'promscaler cannot be reached' })).toEqual([
      'This page has not been updated since HH:MM (28 s): promscaler cannot be reached',
    ]);
    expect(warningsOf(null, { at: NOW, message: 'no' }, NOW)).toHaveLength(1);
  });
});

const DOWN = new ApiError('unreachable', 'promscaler cannot be reached');
const ABSENT = new ApiError('not-found', 'scaler shop/web does not exist');

describe('staleOf', () => {
  it('is the oldest of what is shown and could not be loaded again', () => {
    const loads = new Map([
      ['service', { at: NOW - 10_000, error: DOWN }],
      ['overview', { at: NOW - 28_000, error: DOWN }],
      ['shop/web', { at: null, error: DOWN }],
      ['shop/api', { at: NOW - 60_000, error: null }],
    ]);

    expect(staleOf(loads)).toEqual({ at: NOW - 28_000, message: DOWN.message });
    expect(staleOf(new Map())).toBeNull();
  });
});

describe('notLiveOf', () => {
  const { kubernetes, replicas } = failingService();
  const lastRound = (seconds: number): Partial<ServiceStatus> => ({
    rounds: {
      periodSeconds: 15,
      last: { at: after(seconds), seconds: 0.2, latenessSeconds: 0, scalers: 42 },
      missed: 0,
    },
  });

  it.each<[string, Partial<ServiceStatus>, string | null]>([
    ['a healthy service', {}, null],
    ['a standby, which has old data', { leader: 'other' }, 'Not live'],
    ['a service without a leader', { leader: null }, 'Not live'],
    ['a round 75 s ago with a period of 15 s', lastRound(-75), null],
    ['a round 76 s ago', lastRound(-76), 'Not live'],
    ['one of several replicas that did not answer', { replicas }, 'Partly live'],
    ['the only data source, which does not answer', { dataSources: [SOURCE!] }, 'Live except metrics'],
    ['one of two data sources', { dataSources: [SOURCE!, HEALTHY!] }, 'Live except "default"'],
    [
      'two of three data sources',
      { dataSources: [SOURCE!, SOURCE!, HEALTHY!] },
      'Live except 2 of 3 data sources',
    ],
    ['an API server that does not answer', { kubernetes }, 'Live except API server'],
  ])('says of %s: %j', (_name, changes, text) => {
    expect(notLiveOf(serviceOf(changes), new Map(), NOW)).toBe(text);
  });

  it.each([
    ['a list that was never loaded', { at: null, error: DOWN }, 'Not live'],
    ['a scaler that was deleted while it was shown', { at: NOW, error: ABSENT }, 'Not live'],
    ['a scaler that never existed', { at: null, error: ABSENT }, null],
  ])('says of %s: %j', (_name, load, text) => {
    expect(notLiveOf(serviceOf(), new Map([['one', load]]), NOW)).toBe(text);
  });
});
