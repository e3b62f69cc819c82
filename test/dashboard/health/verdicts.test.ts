import { describe, expect, it } from '@jest/globals';
import { verdictsOf } from '../../../src/dashboard/health/verdicts.js';
import { AT, after, failingService, serviceOf } from '../../browser/support/answers.js';

const NOW_MS = Date.parse(AT);

function linesOf(status: ReturnType<typeof serviceOf>): readonly string[] {
  return verdictsOf(status, NOW_MS).map(({ subject, tone, text }) => `${subject}: ${tone}: ${text}`);
}

describe('verdictsOf', () => {
  it('says that a healthy service is healthy', () => {
    expect(linesOf(serviceOf())).toEqual([
      'Data sources: good: Reachable',
      'API server: good: Reachable',
      'Rounds: good: On time',
      'Replicas: good: Has a leader',
      'Documents: good: Valid',
      'Conflicts: good: None',
    ]);
  });

  it('names what fails', () => {
    expect(linesOf(failingService())).toEqual([
      'Data sources: bad: 1 of 2 failing',
      'API server: bad: Failing',
      'Rounds: warn: Late',
      'Replicas: bad: 1 replica unreachable',
      'Documents: warn: 1 error',
      'Conflicts: bad: 1 scaler',
    ]);
  });

  it('says that nothing is scaled down yet after an outage of a data source', () => {
    const [source] = serviceOf().dataSources;
    const held = serviceOf({ dataSources: [{ ...source!, holdUntil: after(60) }] });

    expect(linesOf(held)).toContain('Data sources: info: No scale-downs yet');
  });

  const round = { at: after(-4), seconds: 1, latenessSeconds: 0, scalers: 1 };

  it.each([
    ['7.5 s late of 15 s', { ...round, latenessSeconds: 7.5 }, 'good: On time'],
    ['7.6 s late of 15 s', { ...round, latenessSeconds: 7.6 }, 'warn: Late'],
    ['as long as the period', { ...round, seconds: 15 }, 'good: On time'],
    ['longer than the period', { ...round, seconds: 15.1 }, 'warn: Longer than the sync period'],
    ['75 s ago', { ...round, at: after(-75) }, 'good: On time'],
    ['76 s ago', { ...round, at: after(-76) }, 'bad: Overdue'],
    ['not run', null, 'quiet: None yet'],
  ])('says of a round that is %s: %s', (_name, last, text) => {
    const lines = linesOf(serviceOf({ rounds: { periodSeconds: 15, last, missed: 0 } }));

    expect(lines).toContain(`Rounds: ${text}`);
  });
});
