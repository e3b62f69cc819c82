import { describe, expect, it } from '@jest/globals';
import { createApiClient, type ApiClient } from '../../../src/api/read-answer.js';
import { readPast } from '../../../src/cli/reach/service-pages.js';
import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import { instantFromMs } from '../../../src/units/time.js';

const INSTANT = '2026-01-01T10:05:00Z';
const instant = instantFromMs(Date.parse(INSTANT));

const OUTCOME = { kind: 'none', from: 3, to: 3, message: '' };
const STATE = { name: 'OK', severity: 'ok', cause: null, since: INSTANT, until: null };
const DECISION = {
  currentReplicas: 3,
  desiredReplicas: 3,
  action: 'none',
  reason: 'within the tolerance',
  minReplicas: 1,
  maxReplicas: 5,
};

/** A service at `url` that keeps the decision at `INSTANT` but not its snapshot. */
function serviceAt(url: string): ApiClient {
  return createApiClient((page) => {
    if (page.endsWith('/decisions')) {
      const entry = {
        decision: DECISION,
        outcome: OUTCOME,
        state: STATE,
        count: 1,
        firstAt: INSTANT,
        lastAt: INSTANT,
      };
      return Promise.resolve({ keptFrom: INSTANT, items: [entry] });
    }
    const answer = '404 Not Found: the snapshot is not kept any more';
    return Promise.reject(new KubernetesError('not_found', `GET ${url}${page}: ${answer}`, { status: 404 }));
  });
}

describe('readPast', () => {
  it.each([
    { shown: 'port', url: 'http://127.0.0.1:40404', name: 'web' },
    { shown: 'workload', url: 'http://127.0.0.1:8080', name: 'error-404' },
  ])('returns only what the service sent, whatever the $shown has of 404', async ({ url, name }) => {
    const past = await readPast(serviceAt(url), { namespace: 'shop', name }, instant);

    expect(past.missing).toBe('the snapshot is not kept any more');
  });
});
