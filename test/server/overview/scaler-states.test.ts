import { describe, expect, it } from '@jest/globals';
import { statesOf } from '../../../src/server/overview/scaler-states.js';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { condition, decision, limitStep, metricResult, record } from '../../telemetry/record-builder.js';

function states(overrides: Partial<CycleRecord>): readonly (readonly [string, string])[] {
  const { after } = createLedger().add(record(overrides));
  return statesOf(after).map(({ state, message }) => [state, message]);
}

const PAUSE = {
  by: 'document',
  direction: 'both',
  until: null,
  replicas: null,
  facts: ['paused by the document'],
} as const;

describe('the states of a scaler', () => {
  it('has none while it is fine', () => {
    expect(states({})).toEqual([]);
  });

  it.each<[string, Partial<CycleRecord>, readonly [string, string]]>([
    [
      'failing: the target cannot be read',
      {
        decision: null,
        conditions: [condition({ status: 'False', reason: 'FailedGetScale', message: 'not found' })],
      },
      ['failing', 'not found'],
    ],
    [
      'failing: a metric has no value',
      { decision: decision({ metrics: [metricResult({ proposal: null, error: 'no series' })] }) },
      ['failing', 'Resource/cpu: no series'],
    ],
    [
      'failing: the change failed',
      { outcome: { kind: 'failed', from: 3, to: 5, message: '500' } },
      ['failing', '500'],
    ],
    [
      'conflict: another writer',
      {
        conflictingWriter: {
          managers: ['kubectl'],
          since: '2026-01-01T00:00:00Z',
          message: 'kubectl sets it',
        },
      },
      ['conflict', 'kubectl sets it'],
    ],
    [
      'conflict: another autoscaler',
      { conditions: [condition({ type: 'Held', reason: 'ConflictingScaler', message: 'HPA web' })] },
      ['conflict', 'HPA web'],
    ],
    [
      'at-maximum',
      { decision: decision({ desiredReplicas: 10, recommendedReplicas: 10 }) },
      ['at-maximum', 'the maximum is 10'],
    ],
    [
      'at-maximum: more is recommended, with equal bounds',
      { decision: decision({ desiredReplicas: 3, recommendedReplicas: 4, minReplicas: 3, maxReplicas: 3 }) },
      ['at-maximum', '4 recommended, the maximum is 3'],
    ],
    [
      'target-not-reached',
      {
        conditions: [
          condition({
            type: 'TargetReached',
            status: 'False',
            reason: 'Unschedulable',
            message: '2 missing',
          }),
        ],
      },
      ['target-not-reached', '2 missing'],
    ],
    ['paused', { pause: PAUSE }, ['paused', 'paused by the document']],
    [
      'dry-run',
      { dryRun: true, outcome: { kind: 'dry-run', from: 3, to: 5, message: '' } },
      ['dry-run', 'would scale from 3 to 5'],
    ],
    [
      'held by a limit',
      { decision: decision({ limits: [limitStep()] }) },
      ['waiting', 'a recommendation of 3'],
    ],
    [
      'scaling',
      { outcome: { kind: 'patched', from: 3, to: 5, message: '' } },
      ['scaling', 'scaled from 3 to 5: cpu is within the tolerance'],
    ],
    [
      'scaling: pods are starting',
      {
        conditions: [
          condition({
            type: 'TargetReached',
            status: 'False',
            reason: 'Starting',
            message: '3 replicas, 2 ready',
          }),
        ],
      },
      ['scaling', '3 replicas, 2 ready'],
    ],
  ])('%s', (_, overrides, state) => {
    expect(states(overrides)).toEqual([state]);
  });

  it.each<[string, Partial<CycleRecord>]>([
    ['equal bounds', { decision: decision({ desiredReplicas: 3, minReplicas: 3, maxReplicas: 3 }) }],
    ['one below the maximum', { decision: decision({ desiredReplicas: 9 }) }],
    [
      'a count at its lower bound',
      { decision: decision({ limits: [limitStep({ limit: 'min_replicas' })] }) },
    ],
    [
      'a forbidden window',
      { conditions: [condition({ status: 'False', reason: 'BackoffBoth', message: 'wait' })] },
    ],
    [
      'a paused rollout is no failure',
      { conditions: [condition({ type: 'AbleToScale', status: 'True', reason: 'SucceededGetScale' })] },
    ],
  ])('has none for %s', (_, overrides) => {
    expect(states(overrides)).toEqual([]);
  });

  it('puts the most urgent first', () => {
    const found = states({
      pause: PAUSE,
      dryRun: true,
      conditions: [condition({ type: 'ScalingActive', status: 'False', reason: 'FailedGetResourceMetric' })],
      decision: decision({ desiredReplicas: 10, limits: [limitStep()] }),
    });

    expect(found.map(([state]) => state)).toEqual(['failing', 'at-maximum', 'paused', 'dry-run', 'waiting']);
  });
});
