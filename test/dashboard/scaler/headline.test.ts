import { describe, expect, test } from '@jest/globals';
import { headlineOf } from '../../../src/dashboard/scaler/model/headline.js';
import { stateOf } from '../../browser/support/answers.js';
import { decision } from './decisions.js';

const OK = stateOf('OK');
const none = { kind: 'none', from: 4, to: 4, message: '' } as const;
const stays = { desiredReplicas: 4, action: 'none' } as const;

describe('headlineOf', () => {
  test.each([
    [{}, { kind: 'patched', from: 4, to: 6, message: '' }, 'scaled from 4 to 6, not 9'],
    [{ recommendedReplicas: 6 }, { kind: 'patched', from: 4, to: 6, message: '' }, 'scaled from 4 to 6'],
    [{ ...stays, recommendedReplicas: 4 }, none, 'stays at 4'],
    [{ ...stays, recommendedReplicas: 2 }, none, 'stays at 4, not 2'],
    [{ ...stays, recommendedReplicas: null }, none, 'stays at 4'],
    [{}, { kind: 'paused', from: 4, to: 6, message: '' }, 'stays at 4, not 6'],
  ] as const)('of %j with %j: %s', (given, outcome, text) => {
    expect(headlineOf(OK, decision(given), outcome)).toBe(`OK: ${text}`);
  });

  test('without a decision, has the state', () => {
    const outcome = { kind: 'none', from: null, to: null, message: '' } as const;

    expect(headlineOf(stateOf('NoTarget'), null, outcome)).toBe('NoTarget: no decision');
  });
});
