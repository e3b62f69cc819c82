import { describe, expect, it } from '@jest/globals';
import type { ServiceStatus } from '../../../src/api/answers.js';
import { warningsOf } from '../../../src/dashboard/shell/warnings.js';
import { AT, after, failingService, serviceOf } from '../../browser/support/answers.js';

function textsOf(changes: Partial<ServiceStatus>, error: string | null = null): readonly string[] {
  return warningsOf(serviceOf(changes), error, Date.parse(AT)).map(({ text }) =>
    text.replace(/\d\d:\d\d|[A-Z][a-z]{2} \d+, \d\d:\d\d/, 'HH:MM'),
  );
}

const [SOURCE] = failingService().dataSources;

describe('warningsOf', () => {
  it('finds none in a healthy service, and with a warning of a document', () => {
    const [, warning] = failingService().problems;

    expect(textsOf({ problems: [warning!] })).toEqual([]);
  });

  it.each([
    [
      214,
      'Prometheus default (http://prometheus.monitoring:9090) has answered no query since HH:MM (10 min): 214 scalers keep their replicas',
    ],
    [
      1,
      'Prometheus default (http://prometheus.monitoring:9090) has answered no query since HH:MM (10 min): 1 scaler keeps its replicas',
    ],
    [0, 'Prometheus default (http://prometheus.monitoring:9090) has answered no query since HH:MM (10 min)'],
    [
      undefined,
      'Prometheus default (http://prometheus.monitoring:9090) has answered no query since HH:MM (10 min)',
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

  it('says first as of when the page is, if it could not be updated', () => {
    const { kubernetes } = failingService();

    expect(textsOf({ kubernetes }, 'promscaler cannot be reached')[0]).toMatch(
      /^This page has not been updated since .* \(0 s\): promscaler cannot be reached$/,
    );
  });
});
