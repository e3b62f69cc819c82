import { describe, expect, test } from '@jest/globals';
import { endOf, resultText } from '../../../src/dashboard/scaler/model/headline.js';
import { stateOf } from '../../browser/support/answers.js';
import { decision } from './decisions.js';

const none = { kind: 'none', from: 4, to: 4, message: '' } as const;
const stays = { desiredReplicas: 4, action: 'none' } as const;

describe('the result of a decision', () => {
  test.each([
    [{}, { kind: 'patched', from: 4, to: 6, message: '' }, 'scaled from 4 to 6, not 9'],
    [{ recommendedReplicas: 6 }, { kind: 'patched', from: 4, to: 6, message: '' }, 'scaled from 4 to 6'],
    [{ ...stays, recommendedReplicas: 4 }, none, 'stays at 4'],
    [{ ...stays, recommendedReplicas: 2 }, none, 'stays at 4, not 2'],
    [{ ...stays, recommendedReplicas: null }, none, 'stays at 4'],
    [{}, { kind: 'paused', from: 4, to: 6, message: '' }, 'stays at 4, not 6'],
  ] as const)('of %j with %j: %s', (given, outcome, text) => {
    expect(resultText(decision(given), outcome)).toBe(text);
  });

  test('is missing without a decision', () => {
    const outcome = { kind: 'none', from: null, to: null, message: '' } as const;

    expect(resultText(null, outcome)).toBe('no decision');
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
    ['Paused', { pause: pauseBy('document') }, 'spec.paused is removed'],
    ['DryRun', { document: { spec: { dryRun: true } } }, 'spec.dryRun is removed'],
    ['DryRun', {}, 'the service runs without --dry-run'],
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
