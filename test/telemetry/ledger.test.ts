import { failed } from '../../src/units/failure.js';
import { describe, expect, it } from '@jest/globals';
import { createLedger } from '../../src/telemetry/ledger.js';
import type { LedgerEntry } from '../../src/telemetry/ledger.js';
import { at } from '../support/builders.js';
import { aRecommendation } from './a-recommendation.js';
import {
  condition,
  conflictWith,
  decision,
  limitStep,
  metricResult,
  record,
  scaler,
} from './record-builder.js';

const PATCHED = { kind: 'patched', from: 3, to: 5, message: '' } as const;

describe('createLedger', () => {
  it('folds 3 equal cycles into one entry with the numbers of the last', () => {
    const ledger = createLedger();

    for (const seconds of [0, 15, 30]) {
      ledger.add(record({ at: at(seconds), decision: decision({ recommendedReplicas: seconds }) }));
    }

    expect(historyOf(ledger.get('shop/web'))).toEqual([[at(0), at(30), 3]]);
    expect(ledger.get('shop/web')?.history[0]?.decision?.recommendedReplicas).toBe(30);
  });

  it.each([
    ['Pending', 'True', [-60, -90]],
    ['Conflict', 'True', [0, -90]],
    ['Pending', 'False', [-60, 0]],
  ] as const)(
    'begins with the times of an earlier process for the state %s and the status %s',
    (state, status, [since, transition]) => {
      const earlier = {
        state,
        stateSince: at(-60),
        conditions: [
          { type: 'AbleToScale', status, lastTransition: at(-90) },
          { type: 'Held', status: 'True', lastTransition: at(-90) },
        ] as const,
      };
      const ledger = createLedger({ earlierTimes: () => earlier });

      const { after } = ledger.add(record({ at: at(0), conditions: [condition()] }));
      const next = ledger.add(record({ at: at(15), conditions: [condition()] })).after;

      expect([after.state.name, after.stateSince, next.stateSince]).toEqual([
        'Pending',
        at(since),
        at(since),
      ]);
      expect(after.conditions).toEqual([{ ...condition(), lastTransition: at(transition) }]);
      expect(next.conditions).toEqual(after.conditions);
    },
  );

  it('has no time of an earlier process after its first record', () => {
    const ledger = createLedger({
      earlierTimes: () => ({ state: 'Pending', stateSince: at(20), conditions: [] }),
    });

    expect(ledger.add(record({ at: at(0) })).after.stateSince).toBe(at(0));
  });

  it('drops the limit of an earlier spec if the new one has calculated no count', () => {
    const ledger = createLedger();
    const limited = condition({ type: 'ScalingLimited', reason: 'TooManyReplicas', message: '78' });
    ledger.add(record({ conditions: [condition(), limited] }));
    const same = ledger.add(record({ conditions: [condition()] })).after;
    const web = scaler();
    const changed = { ...web, document: { ...web.document, spec: { maxReplicas: 77 } } };

    const { after } = ledger.add(record({ at: at(15), scaler: changed, conditions: [condition()] }));

    expect(same.conditions.map(({ reason }) => reason)).toEqual(['ReadyForNewScale', 'TooManyReplicas']);
    expect(after.conditions).toEqual([
      expect.objectContaining({ reason: 'ReadyForNewScale' }),
      {
        type: 'ScalingLimited',
        status: 'Unknown',
        reason: 'NotEvaluated',
        message: 'no recommendation of this version of the document has been compared with the bounds yet',
        lastTransition: at(15),
      },
    ]);
  });

  it('keeps a recommendation until the document changes or is removed', () => {
    const ledger = createLedger();
    const [web, changed] = [scaler(), scaler()];
    const recommendation = aRecommendation();
    ledger.add(record({ scaler: web }));

    const isKept = ledger.keepRecommendation(web, recommendation);
    const { after } = ledger.add(record({ at: at(15), scaler: web }));
    const { after: ofChanged } = ledger.add(record({ at: at(30), scaler: changed }));

    expect([isKept, after.recommendation, ofChanged.recommendation]).toEqual([true, recommendation, null]);
    expect(ledger.keepRecommendation(web, recommendation)).toBe(false);
    ledger.remove('shop/web');
    expect(ledger.keepRecommendation(changed, recommendation)).toBe(false);
  });

  it('keeps no state and no snapshot in the history', () => {
    const ledger = createLedger();

    ledger.add(record());

    expect(ledger.get('shop/web')?.history[0]?.decision).not.toHaveProperty('state');
    expect(ledger.get('shop/web')?.history[0]).not.toHaveProperty('snapshot');
    expect(ledger.get('shop/web')?.record.snapshot).not.toBeNull();
  });

  it.each([
    ['desired replicas', { decision: decision({ desiredReplicas: 4 }) }],
    ['limit', { decision: decision({ limits: [limitStep()] }) }],
    [
      'metric that fails',
      { decision: decision({ metrics: [metricResult({ error: failed('missing', 'no series') })] }) },
    ],
    ['outcome', { outcome: { kind: 'dry-run', from: 3, to: 3, message: '' } }],
    ['condition', { conditions: [condition({ reason: 'ScaleDownStabilized' })] }],
    ['missing decision', { decision: null }],
  ] as const)('begins a new entry at another %s', (_, change) => {
    const ledger = createLedger();

    ledger.add(record());
    ledger.add(record(change));

    expect(ledger.get('shop/web')?.history).toHaveLength(2);
  });

  it('keeps the state that each decision had, also one that other facts or earlier conditions caused', () => {
    const ledger = createLedger();
    const conflictingWriter = conflictWith(['kubectl']);
    const whole = record({ conditions: [condition({ type: 'ScalingActive', reason: 'ValidMetricFound' })] });
    ledger.add(whole);
    ledger.add(record({ ...whole, at: at(15), conflictingWriter }));
    ledger.add(record({ at: at(30), conditions: [condition()] }));

    const history = ledger.get('shop/web')?.history ?? [];

    expect(history.map(({ firstAt, state }) => [firstAt, state.name])).toEqual([
      [at(30), 'OK'],
      [at(15), 'Conflict'],
      [at(0), 'OK'],
    ]);
    expect(history[0]?.state).toEqual(ledger.get('shop/web')?.state);
  });

  it('stores each change of replicas as a separate entry, newest first', () => {
    const ledger = createLedger();

    ledger.add(record({ at: at(0), outcome: PATCHED }));
    ledger.add(record({ at: at(15), outcome: PATCHED }));

    expect(historyOf(ledger.get('shop/web'))).toEqual([
      [at(15), at(15), 1],
      [at(0), at(0), 1],
    ]);
  });

  it('keeps the newest 2 of 3 entries if a scaler can have 2', () => {
    const ledger = createLedger({ perScaler: 2 });

    for (const seconds of [0, 15, 30]) ledger.add(record({ at: at(seconds), outcome: PATCHED }));

    expect(historyOf(ledger.get('shop/web'))).toEqual([
      [at(30), at(30), 1],
      [at(15), at(15), 1],
    ]);
  });

  it('shares 12 entries among 2 scalers as 6 each, and always leaves a scaler 5', () => {
    const shared = createLedger({ total: 12 });
    const scarce = createLedger({ total: 1 });

    for (let cycle = 0; cycle < 10; cycle += 1) {
      for (const name of ['web', 'api']) {
        shared.add(record({ scaler: scaler(name), outcome: PATCHED }));
        scarce.add(record({ scaler: scaler(name), outcome: PATCHED }));
      }
    }

    expect([...shared.list()].map(({ history }) => history.length)).toEqual([6, 6]);
    expect([...scarce.list()].map(({ history }) => history.length)).toEqual([5, 5]);
  });

  it('moves the transition time with the status, not with the reason', () => {
    const ledger = createLedger();

    ledger.add(record({ at: at(0) }));
    ledger.add(record({ at: at(15), conditions: [condition({ reason: 'SucceededRescale' })] }));
    const same = ledger.get('shop/web')?.conditions;
    ledger.add(
      record({ at: at(30), conditions: [condition({ status: 'False', reason: 'FailedGetScale' })] }),
    );

    expect(same).toEqual([{ ...condition({ reason: 'SucceededRescale' }), lastTransition: at(0) }]);
    expect(ledger.get('shop/web')?.conditions[0]?.lastTransition).toBe(at(30));
  });

  it('keeps the last condition of a type that a decision cut short omits', () => {
    const ledger = createLedger();
    const active = condition({ type: 'ScalingActive', reason: 'ValidMetricFound' });

    ledger.add(record({ at: at(0), conditions: [active] }));
    ledger.add(record({ at: at(15), conditions: [condition()] }));

    expect(ledger.get('shop/web')?.conditions).toEqual([
      { ...condition(), lastTransition: at(15) },
      { ...active, lastTransition: at(0) },
    ]);
  });

  it('drops the limit of the last recommendation once the target was set to 0', () => {
    const ledger = createLedger();
    const limited = condition({ type: 'ScalingLimited', reason: 'TooFewReplicas' });
    const disabled = condition({ type: 'ScalingActive', status: 'False', reason: 'ScalingDisabled' });
    ledger.add(record({ conditions: [condition({ type: 'ScalingActive' }), limited] }));

    const { after } = ledger.add(record({ conditions: [disabled] }));

    expect(after.conditions.map(({ reason }) => reason)).toEqual(['ScalingDisabled']);
  });

  it('drops that a forecast is useful once the target does not exist, but not while it cannot be read', () => {
    const ledger = createLedger();
    const useful = condition({ type: 'ForecastUseful', reason: 'WorthRaising' });
    const unknown = condition({ type: 'TargetReached', status: 'Unknown', reason: 'NotEvaluated' });
    ledger.add(record({ conditions: [useful] }));

    const unread = ledger.add(record({ decision: null, conditions: [condition()] })).after;
    const { after } = ledger.add(record({ decision: null, conditions: [unknown] }));

    expect(unread.conditions.map(({ reason }) => reason)).toContain('WorthRaising');
    expect(after.conditions.map(({ reason }) => reason)).not.toContain('WorthRaising');
  });

  it('keeps its list of conditions with the list of the record, and with an equal one', () => {
    const ledger = createLedger();
    const first = record();

    const { conditions } = ledger.add(first).after;

    expect(ledger.add({ ...first, at: at(15) }).after.conditions).toBe(conditions);
    expect(ledger.add({ ...first, conditions: [condition()] }).after.conditions).toBe(conditions);
    expect(
      ledger.add({ ...first, conditions: [condition({ reason: 'RecoveryHold' })] }).after.conditions,
    ).toEqual([{ ...condition({ reason: 'RecoveryHold' }), lastTransition: first.at }]);
  });

  it('counts a change that was patched or replaced, but none that was blocked or failed', () => {
    const ledger = createLedger();

    ledger.add(record({ outcome: PATCHED }));
    ledger.add(record({ outcome: { ...PATCHED, kind: 'replaced', to: 1 } }));
    for (const kind of ['dry-run', 'paused', 'held', 'conflict', 'failed'] as const) {
      ledger.add(record({ outcome: { ...PATCHED, kind } }));
    }

    expect(ledger.get('shop/web')?.rescales).toEqual({ up: 1, down: 1 });
  });

  it('knows the last change only from its own patches: a fresh state has the start of its windows instead', () => {
    const ledger = createLedger();
    const state = { lastScaleUp: at(-500), lastScaleDown: at(-500) };

    ledger.add(record({ state }));
    const before = ledger.get('shop/web')?.lastRescale;
    ledger.add(record({ state, at: at(15), outcome: PATCHED }));
    ledger.add(record({ at: at(30), snapshot: null, decision: null }));

    expect(before).toEqual({ up: null, down: null });
    expect(ledger.get('shop/web')?.lastRescale).toEqual({ up: at(15), down: null });
  });

  it('has the last changes of an earlier process, as the cycle reports them, and is the same object until they change', () => {
    const ledger = createLedger();
    const lastScales = { up: at(-500), down: null };

    const first = ledger.add({ ...record({}), lastScales }).after.lastRescale;
    const second = ledger.add({ ...record({ at: at(15) }), lastScales: { ...lastScales } }).after.lastRescale;
    const third = ledger.add({ ...record({ at: at(30) }), lastScales: { up: at(20), down: null } }).after;

    expect(first).toEqual(lastScales);
    expect(second).toBe(first);
    expect(third).toMatchObject({ lastRescale: { up: at(20), down: null }, rescales: { up: 0, down: 0 } });
  });

  it('keeps the last results of the metrics through a cycle that queries none', () => {
    const ledger = createLedger();

    ledger.add(
      record({ decision: decision({ metrics: [metricResult({ error: failed('missing', 'no series') })] }) }),
    );
    ledger.add(record({ decision: decision({ metrics: [] }) }));

    expect(ledger.get('shop/web')?.metricErrors).toEqual(
      new Map([['Resource/cpu', failed('missing', 'no series')]]),
    );
  });

  it('forgets a removed scaler', () => {
    const ledger = createLedger();
    ledger.add(record());

    ledger.remove('shop/web');

    expect(ledger.get('shop/web')).toBeNull();
    expect([...ledger.list()]).toEqual([]);
  });
});

function historyOf(status: LedgerEntry | null): readonly (readonly number[])[] {
  return (status?.history ?? []).map(({ firstAt, lastAt, count }) => [firstAt, lastAt, count]);
}
