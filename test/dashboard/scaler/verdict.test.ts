import { describe, expect, test } from '@jest/globals';
import { judge } from '../../../src/dashboard/scaler/model/verdict.js';
import { decision, metric } from './decisions.js';

const none = (count: number) => ({ kind: 'none', from: count, to: count, message: '' }) as const;
const stays = { desiredReplicas: 4, action: 'none' } as const;

function titleOf(given: Parameters<typeof decision>[0], outcome: Parameters<typeof judge>[0]['outcome']) {
  const { title, tone } = judge({ decision: decision(given), outcome, reason: null, conditions: [] });
  return [title, tone];
}

describe('judge', () => {
  test('a change, with the limit that made it smaller', () => {
    expect(titleOf({}, { kind: 'patched', from: 4, to: 6, message: '' })).toEqual([
      'Scaled up from 4 to 6, not 9: maximum replicas',
      'moving',
    ]);
    expect(
      titleOf(
        { desiredReplicas: 2, recommendedReplicas: 2, limits: [] },
        { kind: 'patched', from: 4, to: 2, message: '' },
      ),
    ).toEqual(['Scaled down from 4 to 2', 'moving']);
  });

  test('no change, because the metrics ask for none or a limit holds it', () => {
    expect(titleOf({ ...stays, recommendedReplicas: 4, limits: [] }, none(4))).toEqual([
      'Stays at 4: the metrics recommend no change',
      'calm',
    ]);
    const limits = [{ limit: 'stabilization', from: 2, to: 4, reason: 'x', until: null }] as const;
    expect(titleOf({ ...stays, recommendedReplicas: 2, limits }, none(4))).toEqual([
      'Stays at 4, not 2: stabilization',
      'held',
    ]);
  });

  test('a metric without a value is named, also if the others ask for no change', () => {
    const metrics = [metric('cpu', 4), metric('up', null)];
    expect(titleOf({ ...stays, recommendedReplicas: 4, limits: [], metrics }, none(4))).toEqual([
      'Stays at 4: the metrics recommend no change, but up has no value',
      'held',
    ]);
  });

  test('metrics without a value', () => {
    const blind = { ...stays, recommendedReplicas: null, limits: [] };
    expect(titleOf({ ...blind, metrics: [metric('cpu', null)] }, none(4))).toEqual([
      'Stays at 4: cpu has no value',
      'failing',
    ]);
    expect(titleOf({ ...blind, metrics: [metric('a', null), metric('b', null)] }, none(4))[0]).toBe(
      'Stays at 4: no metric has a value',
    );
    const limits = [{ limit: 'untrusted_metric', from: 2, to: 4, reason: 'x', until: null }] as const;
    const one = { ...stays, recommendedReplicas: 2, limits };
    expect(
      titleOf({ ...one, metrics: [metric('a', null), metric('b', null), metric('c', 2)] }, none(4))[0],
    ).toBe('Stays at 4: 2 metrics have no value');
    expect(titleOf({ ...one, metrics: [metric('c', 2, { partial: 'x' })] }, none(4))[0]).toBe(
      'Stays at 4: a metric has only a partial value',
    );
  });

  test('a decision that was not carried out', () => {
    const outcome = { kind: 'paused', from: 4, to: 6, message: 'spec.paused is true' } as const;
    expect(judge({ decision: decision(), outcome, reason: null, conditions: [] })).toEqual({
      tone: 'held',
      title: 'Stays at 4, not 6: paused',
      sentence: decision().reason,
      aside: 'paused: spec.paused is true',
    });
  });

  test('no decision: the condition that explains it', () => {
    const conditions = [
      { type: 'ScalingActive', status: 'False', message: 'other' },
      { type: 'AbleToScale', status: 'False', message: 'deployment web does not exist' },
    ];
    const outcome = { kind: 'none', from: null, to: null, message: '' } as const;
    expect(judge({ decision: null, outcome, reason: null, conditions })).toMatchObject({
      tone: 'failing',
      sentence: 'deployment web does not exist',
    });
    expect(judge({ decision: null, outcome, reason: null, conditions: [] }).sentence).toBe(
      'the last cycle made no decision',
    );
  });

  test('the reason of a pause replaces that of the decision', () => {
    const outcome = none(4);
    const { sentence } = judge({
      decision: decision(stays),
      outcome,
      reason: 'stays at 4: paused',
      conditions: [],
    });
    expect(sentence).toBe('stays at 4: paused');
  });
});
