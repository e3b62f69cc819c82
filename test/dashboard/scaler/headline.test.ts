import { describe, expect, test } from '@jest/globals';
import { endOf, measuredOf, resultText } from '../../../src/dashboard/scaler/model/headline.js';
import { stateOf } from '../../browser/support/answers.js';
import { decision } from './decisions.js';

const none = { kind: 'none', from: 4, to: 4, message: '' } as const;
const stays = { desiredReplicas: 4, action: 'none' } as const;

describe('the result of a decision', () => {
  test.each([
    [{}, { kind: 'patched', from: 4, to: 6, message: '' }, 'scaled up from 4 to 6, not 9'],
    [{ recommendedReplicas: 6 }, { kind: 'patched', from: 4, to: 6, message: '' }, 'scaled up from 4 to 6'],
    [{ ...stays, recommendedReplicas: 4 }, none, 'stays at 4'],
    [{ ...stays, recommendedReplicas: 2 }, none, 'stays at 4, not 2'],
    [{ ...stays, recommendedReplicas: null }, none, 'stays at 4'],
    [{}, { kind: 'paused', from: 4, to: 6, message: '' }, 'stays at 4, not 6'],
  ] as const)('of %j with %j: %s', (given, outcome, text) => {
    expect(resultText(decision(given), outcome, 'maxReplicas is 6')).toBe(text);
  });

  test('is missing without a decision', () => {
    const outcome = { kind: 'none', from: null, to: null, message: '' } as const;

    expect(resultText(null, outcome, null)).toBe('no decision');
  });
});

describe('what the metrics measured', () => {
  test.each([
    [
      'cpu is at 120 % of the requests, target 60 %: stays at 5, 10 recommended, 5 by max_replicas (maxReplicas is 5)',
      'cpu is at 120 % of the requests, target 60 %',
    ],
    ['cpu is at 83 % of the requests, target 60 %: 4 -> 6', 'cpu is at 83 % of the requests, target 60 %'],
    [
      'forecast: 40 expected: 4 -> 6; 4 without the forecast, which has added 2 % in 3 days (budgetPercent is 10)',
      'forecast: 40 expected',
    ],
    ['cpu: no series; job:rate5m: no series: stays at 5', 'cpu: no series; job:rate5m: no series'],
    ['stays at 4, 2 recommended, 4 by stabilization (4 was recommended)', ''],
    ['the schedule night sets minReplicas to 3', 'the schedule night sets minReplicas to 3'],
  ])('of %j: %j', (reason, measured) => {
    expect(measuredOf(reason)).toBe(measured);
  });
});

describe('what ends a state', () => {
  const facts = { conflictingWriter: null, otherScaler: null, pause: null, document: {} };
  const hpa = { kind: 'HorizontalPodAutoscaler', namespace: 'shop', name: 'web' };
  const writer = { managers: ['argocd'], since: '2026-01-01T00:00:00Z', message: '' };
  const pauseBy = (by: 'annotation' | 'document') =>
    ({ by, direction: 'both', until: null, replicas: null, message: '' }) as const;

  test.each([
    ['Conflict', { otherScaler: hpa }, 'HorizontalPodAutoscaler shop/web is deleted'],
    ['Conflict', { conflictingWriter: writer }, 'argocd stops'],
    ['Conflict', {}, 'the webhook allows the change'],
    ['Paused', { pause: pauseBy('annotation') }, 'it is resumed'],
    ['Paused', { pause: pauseBy('document') }, 'spec.paused is false'],
    ['DryRun', { document: { spec: { dryRun: true } } }, 'spec.dryRun is false'],
    ['DryRun', {}, 'the service runs without --dry-run'],
    ['NoAutoscaler', { otherScaler: hpa }, 'HorizontalPodAutoscaler shop/web has desired replicas'],
    [
      'NoAutoscaler',
      { otherScaler: { ...hpa, second: { ...hpa, name: 'two' } } },
      'HorizontalPodAutoscaler shop/web or HorizontalPodAutoscaler shop/two is deleted',
    ],
    [
      'Conflict',
      { otherScaler: { ...hpa, second: { ...hpa, name: 'two' } } },
      'HorizontalPodAutoscaler shop/web and HorizontalPodAutoscaler shop/two are deleted',
    ],
    ['NoAutoscaler', { document: { spec: { dryRun: true } } }, 'spec.dryRun is false'],
    ['AtMaximum', {}, null],
  ] as const)('%s with %j: %s', (name, given, end) => {
    expect(endOf(stateOf(name), { ...facts, ...given })).toBe(end);
  });

  test('is time, if its end is known', () => {
    const paused = stateOf('Paused', { until: '2026-01-01T00:00:00Z' });

    expect(endOf(paused, { ...facts, pause: pauseBy('annotation') })).toBeNull();
    expect(endOf(stateOf('DryRun'), null)).toBeNull();
  });
});
