import { describe, expect, it } from '@jest/globals';
import { isFailing } from '../../src/decision/failing.js';
import { causedByHold, severityOf, STATES } from '../../src/decision/severity.js';
import { buildCondition, type Condition, CONDITION_REASONS } from '../../src/decision/result/condition.js';
import { stateOf } from '../../src/decision/state.js';
import { condition } from '../telemetry/record-builder.js';

const HOLDS = Object.entries(CONDITION_REASONS.Held).flatMap(([reason, status]) =>
  status === 'True' ? [condition({ type: 'Held', status, reason: reason as 'DryRun', message: '' })] : [],
);

const FAILURES = Object.entries(CONDITION_REASONS).flatMap(([type, reasons]) =>
  Object.entries(reasons)
    .map(([reason, status]) => ({ type, status, reason, message: '' }) as Condition)
    .filter((one) => isFailing(one) && type !== 'MetricsUnique'),
);
const OUTCOME = { kind: 'none', from: 4, to: 4, message: '' };

describe('the severity of a condition', () => {
  it.each(HOLDS)('that is Held with $reason is that of the state of the scaler', (held) => {
    const state = stateOf({ decision: null, outcome: OUTCOME, conditions: [held] }, null);

    expect(severityOf(held, state.name)).toBe(state.severity);
    expect(causedByHold(held)).toBe(state.name);
  });

  it.each(FAILURES)('that fails with $reason is that of the state of the scaler', (failure) => {
    const { name, severity } = stateOf({ decision: null, outcome: OUTCOME, conditions: [failure] }, null);

    expect(severityOf(failure, name)).toBe(severity);
  });

  it('that says that series are duplicated is none, because the scaler scales', () => {
    const duplicates = buildCondition('MetricsUnique', 'DuplicateSeries', '');

    expect(isFailing(duplicates)).toBe(true);
    expect(severityOf(duplicates, 'OK')).toBeNull();
  });

  it.each([
    ['AtMaximum', 'cannot-follow'],
    ['Stabilizing', null],
    [null, null],
  ] as const)('that says that the count is limited is, in the state %s, %s', (state, severity) => {
    const limited = condition({ type: 'ScalingLimited', status: 'True', reason: 'TooManyReplicas' });

    expect(severityOf(limited, state)).toBe(severity);
  });

  it.each([
    [condition({ type: 'TargetReached', status: 'False', reason: 'RolloutStuck' }), STATES.PodsNotReady],
    [condition({ type: 'Held', status: 'False', reason: 'NotHeld' }), null],
    [condition(), null],
  ])('is %#', (one, severity) => {
    expect(severityOf(one, null)).toBe(severity);
  });
});
