import { describe, expect, it } from '@jest/globals';
import { createServiceHealth } from '../../src/telemetry/service-health.js';
import { failed, type FailureReason } from '../../src/units/failure.js';
import { ManualClock } from '../support/manual-clock.js';
import { at } from '../support/builders.js';

function healthOf(): { clock: ManualClock; health: ReturnType<typeof createServiceHealth> } {
  const clock = new ManualClock();
  return { clock, health: createServiceHealth(clock, ['default']) };
}

const query = (seconds: number, reason: FailureReason | null = null) => ({
  source: 'default',
  seconds,
  failure: reason === null ? null : failed(reason, `host: ${reason}`),
});

describe('the health of a data source', () => {
  it.each([
    [null, true, 0],
    ['bad_query', true, 1],
    ['server_error', true, 1],
    ['timeout', false, 1],
    ['connection', false, 1],
    ['canceled', null, 0],
  ] as const)('after a query with the result %j: reachable %j, %i errors', (reason, isReachable, errors) => {
    const { health } = healthOf();

    health.observeQuery(query(1, reason));

    expect(health.sources().get('default')).toMatchObject({ isReachable, errors, queries: 1 });
  });

  it('is not reachable while it answers only with errors, as failingSince has it', () => {
    const failingSince = at(-60);
    const health = createServiceHealth(new ManualClock(), ['default'], { since: () => failingSince });

    health.observeQuery(query(1, 'server_error'));
    health.observeKubernetesRequest({ verb: 'list', resource: 'pods', code: '500' });

    expect(health.sources().get('default')).toMatchObject({ isReachable: false, failingSince });
    expect(health.apiServer()).toMatchObject({ isReachable: false, failingSince });
  });

  it('keeps the last error with its time after later successes', () => {
    const { clock, health } = healthOf();
    health.observeQuery(query(1, 'timeout'));
    clock.advance(1000);
    health.observeQuery(query(1));

    expect(health.sources().get('default')).toMatchObject({
      isReachable: true,
      lastError: { at: at(0), reason: 'timeout', message: 'host: timeout' },
    });
  });

  it('has the reason why the API server did not answer, or the code of its answer', () => {
    const { health } = healthOf();
    const lastError = () => health.apiServer().lastError?.message;
    const request = { verb: 'patch', resource: 'scalers/status' };
    const message = 'writing the status of scaler shop/web: connect ECONNREFUSED 10.96.0.1:443';
    health.observeKubernetesRequest({ ...request, code: 'connection', message });
    expect(lastError()).toBe(message);

    health.observeKubernetesRequest({ ...request, code: '500' });
    expect(lastError()).toBe('patch scalers/status: 500');
  });

  it('has the mean latency of the last round with queries', () => {
    const { health } = healthOf();
    const latency = (): number | null => health.sources().get('default')?.latencySeconds ?? null;
    const round = { at: at(0), latenessSeconds: 0, missed: 0 };
    expect(latency()).toBeNull();
    health.startRound(round);
    health.observeQuery(query(1));
    health.observeQuery(query(2));
    expect(latency()).toBe(1.5);
    health.startRound({ ...round, at: at(15) });
    expect(latency()).toBe(1.5);
    health.observeQuery(query(4));
    expect(latency()).toBe(4);
    health.startRound({ ...round, at: at(30) });
    health.startRound({ ...round, at: at(45) });
    expect(latency()).toBe(4);
  });

  it('ignores a source that is not configured', () => {
    const { health } = healthOf();

    health.observeQuery({ ...query(1), source: 'other' });

    expect([...health.sources().keys()]).toEqual(['default']);
  });
});

describe('the health of the API server', () => {
  it.each([
    ['200', true, 0],
    ['201', true, 0],
    ['404', true, 0],
    ['409', true, 0],
    ['410', true, 0],
    ['403', true, 1],
    ['429', true, 1],
    ['500', true, 1],
    ['connection', false, 1],
    ['timeout', false, 1],
    ['canceled', null, 0],
  ] as const)('after a response %s: reachable %j, %i errors', (code, isReachable, errors) => {
    const { health } = healthOf();

    health.observeKubernetesRequest({ verb: 'list', resource: 'pods', code });

    expect(health.apiServer()).toMatchObject({ isReachable, errors, requests: 1 });
  });
});

describe('the rounds', () => {
  it('are known once a cycle has ended, with the time until the last one', () => {
    const { clock, health } = healthOf();
    health.startRound({ at: at(0), latenessSeconds: 0.2, missed: 2 });
    expect(health.rounds()).toEqual({ last: null, missed: 2 });
    clock.advance(100);
    health.endCycle(at(0));
    clock.advance(150);
    health.endCycle(at(0));

    expect(health.rounds().last).toEqual({ at: at(0), seconds: 0.25, latenessSeconds: 0.2, scalers: 2 });
  });

  it('shows the newest round; a late cycle of an earlier one and an early round change nothing', () => {
    const { health } = healthOf();
    const round = { latenessSeconds: 0, missed: 1 };
    health.startRound({ ...round, at: at(0) });
    health.startRound({ ...round, at: at(15) });
    health.endCycle(at(15));
    health.endCycle(at(0));
    health.endCycle(at(16));

    expect(health.rounds()).toEqual({
      last: { at: at(15), seconds: 0, latenessSeconds: 0, scalers: 1 },
      missed: 2,
    });
  });
});
