import { failed } from '../../../src/units/failure.js';
import { describe, expect, it } from '@jest/globals';
import { buildCondition } from '../../../src/decision/result/condition.js';
import {
  earlierTimes,
  type ObjectStatus,
  type StatusCondition,
} from '../../../src/control/status/stored-status.js';
import { buildObjectStatus } from '../../../src/control/status/object-status.js';
import type { StatusInput } from '../../../src/control/status/object-status.js';
import { createLedger, type LedgerEntry } from '../../../src/telemetry/ledger.js';
import { formatInstant } from '../../../src/units/time.js';
import { at } from '../../support/builders.js';
import { condition, conflictWith, decision, metricResult, scaler } from '../../telemetry/record-builder.js';
import { ACTIVE, cycle, object, problem, showing, verdict } from './status-builder.js';

function status(input: Partial<StatusInput> = {}): ObjectStatus {
  return buildObjectStatus({ object: object(), verdict: verdict(), last: cycle(), now: at(0), ...input });
}

function shown(of: ObjectStatus, type: string): StatusCondition | undefined {
  return of.conditions.find((one) => one.type === type);
}

/** Returns for example `True Accepted`. */
function brief(of: ObjectStatus, type: string): string {
  const found = shown(of, type);
  return found === undefined ? 'none' : `${found.status} ${found.reason}`;
}

describe('buildObjectStatus, after a cycle', () => {
  it('has the numbers of the decision, the conditions and the metrics', () => {
    expect(status({ last: cycle({ decision: decision({ desiredReplicas: 5 }) }) })).toEqual({
      observedGeneration: 2,
      state: 'OK',
      stateSince: '2026-01-01T00:00:00Z',
      currentReplicas: 3,
      desiredReplicas: 5,
      reference: 'Deployment/web',
      targets: 'cpu: 55%/60%',
      minReplicas: 1,
      maxReplicas: 10,
      conditions: [
        ['Accepted', 'Accepted', 'the document is in effect'],
        ['AbleToScale', 'ReadyForNewScale', ''],
        ['ScalingActive', 'ValidMetricFound', ''],
        ['Ready', 'Ready', 'the document is in effect and its target can be scaled'],
      ].map(([type, reason, message]) => ({
        type,
        status: 'True',
        reason,
        message,
        observedGeneration: 2,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      })),
      currentMetrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', current: { averageUtilization: 55, averageValue: '0.11' } },
        },
      ],
    });
  });

  it('omits unknown counts, never reports 0 for them, and has the bounds of the document', () => {
    const unread = condition({ status: 'False', reason: 'FailedGetScale', message: 'forbidden' });

    const found = status({ last: cycle({ decision: null, snapshot: null, conditions: [unread] }) });

    expect(Object.keys(found).sort()).toEqual([
      'cause',
      'conditions',
      'maxReplicas',
      'minReplicas',
      'observedGeneration',
      'reference',
      'state',
      'stateSince',
      'targets',
    ]);
    expect(found).toMatchObject({ state: 'NoTarget', cause: 'forbidden' });
    expect(found.targets).toBe('cpu: <unknown>/60%');
    expect(brief(found, 'Ready')).toBe('False FailedGetScale');
  });

  it('omits a metric without a value', () => {
    const failing = decision({
      metrics: [metricResult({ error: failed('missing', 'no series'), current: {} })],
    });

    expect(status({ last: cycle({ decision: failing }) })).not.toHaveProperty('currentMetrics');
  });

  it('has the later of the last scale-up and scale-down, truncated to seconds', () => {
    const last = { ...cycle(), lastRescale: { up: at(10.25), down: at(7) } };

    expect(status({ last }).lastScaleTime).toBe('2026-01-01T00:00:10Z');
  });

  it('keeps the time of a change by an earlier process', () => {
    const before = object({ status: { lastScaleTime: '2025-12-31T00:00:00Z' } });

    expect(status({ object: before }).lastScaleTime).toBe('2025-12-31T00:00:00Z');
  });

  it.each([
    [9, '2026-01-01T00:00:10Z'],
    [10, '2026-01-01T00:00:10Z'],
    [11, undefined],
  ])('of an object created at %i s is %s for a change at 10.25 s', (createdAt, time) => {
    const last = { ...cycle(), lastRescale: { up: at(10.25), down: at(7) } };

    const found = status({ object: object({ createdAt: at(createdAt) }), last });

    expect(found.lastScaleTime).toBe(time);
  });

  it('has no time from before the object of 20 s, which an object with the same name had until 5 s', () => {
    const created = object({ createdAt: at(20), status: { lastScaleTime: formatInstant(at(5)) } });

    const found = status({ object: created, now: at(21) });

    expect(found).not.toHaveProperty('lastScaleTime');
    expect(found.stateSince).toBe(formatInstant(at(20)));
    for (const { lastTransitionTime } of found.conditions)
      expect(Date.parse(lastTransitionTime)).toBeGreaterThanOrEqual(at(20));
  });
});

describe('Accepted', () => {
  it.each([
    ['Invalid', ['replica-bounds']],
    ['Invalid', ['replica-bounds', 'source-not-admitted']],
    ['SourceNotAdmitted', ['source-not-admitted', 'source-not-admitted']],
    ['NamespaceNotWatched', ['namespace-not-watched', 'replica-bounds']],
    ['Duplicate', ['duplicate-document', 'namespace-not-watched']],
  ])('is False with reason %s for %p, and so is Ready', (reason, codes) => {
    const problems = codes.map((code) => problem({ code }));

    const found = status({ verdict: verdict({ problems, scaler: null }), last: null });

    expect(brief(found, 'Accepted')).toBe(`False ${reason}`);
    expect(brief(found, 'Ready')).toBe(`False ${reason}`);
  });

  it('is True with a warning in its message', () => {
    const warning = problem({ severity: 'warning', message: 'spec.x does nothing', path: 'spec.x' });

    const found = status({ verdict: verdict({ problems: [warning] }) });

    expect(shown(found, 'Accepted')).toMatchObject({
      status: 'True',
      message: 'the document is in effect; warning: spec.x does nothing',
    });
    expect(brief(found, 'Ready')).toBe('True Ready');
  });

  it('has the path of each problem first, on one line, and says that the last valid version stays in effect', () => {
    const problems = [problem(), problem({ message: 'a field is missing', path: 'spec.metrics[0]' })];

    const found = status({ verdict: verdict({ problems }) });

    expect(shown(found, 'Accepted')?.message).toBe(
      'spec.minReplicas is 5, must be at most spec.maxReplicas (3); spec.metrics[0]: a field is missing; the last valid version stays in effect',
    );
    expect(found.currentReplicas).toBe(3);
    expect(brief(found, 'AbleToScale')).toBe('True ReadyForNewScale');
    // The decision was not made with the rejected version.
    expect(shown(found, 'AbleToScale')).not.toHaveProperty('observedGeneration');
  });

  it('leaves Held False for a rejected version, with the message that explain prints', () => {
    const message = 'the decisions of the version in effect are applied';
    const last = cycle({ conditions: [buildCondition('Held', 'NotHeld', message)] });

    const found = status({ verdict: verdict({ problems: [problem()] }), last });

    expect(brief(found, 'Ready')).toBe('False Invalid');
    expect(shown(found, 'Held')).toMatchObject({ status: 'False', reason: 'NotHeld', message });
    expect(shown(status({ last }), 'Held')?.message).toBe(message);
  });

  it('has the target and the bounds of the version in effect while a newer one is rejected', () => {
    const found = status({ verdict: verdict({ problems: [problem()] }) });

    expect(found).toMatchObject({ reference: 'Deployment/web', minReplicas: 1, maxReplicas: 10 });
  });

  it('has no bounds while no version is in effect', () => {
    const before = showing(object(), status());

    const found = status({ object: before, verdict: verdict({ problems: [problem()], scaler: null }) });

    for (const field of ['reference', 'minReplicas', 'maxReplicas']) expect(found).not.toHaveProperty(field);
  });

  it.each([
    ['refused', [problem()]],
    ['not decided by yet', []],
  ])('leaves each condition the generation of its decision while the new one is %s', (_what, problems) => {
    const before = showing(object(), status());
    const edited = { ...before, generation: 3, specText: '{}' };

    const found = status({
      object: edited,
      verdict: verdict({ specText: '{}', scaler: scaler(), problems }),
      last: cycle(),
    });

    expect(found.observedGeneration).toBe(3);
    expect(shown(found, 'Accepted')?.observedGeneration).toBe(3);
    expect(['AbleToScale', 'ScalingActive'].map((type) => shown(found, type)?.observedGeneration)).toEqual([
      2, 2,
    ]);
  });

  it.each([
    [1024, 1024],
    [1025, 1024],
  ])('has for a message of %d characters %d', (length, kept) => {
    const problems = [problem({ message: 'x'.repeat(length), path: '' })];

    const message = shown(status({ verdict: verdict({ problems, scaler: null }) }), 'Accepted')?.message;

    expect(message).toHaveLength(kept);
    expect(message?.endsWith('...')).toBe(length !== kept);
  });
});

describe('Ready', () => {
  it('is False in a conflict with a client, with its name, and not in the pause in which a person sets the count', () => {
    const conflictingWriter = conflictWith(['kubectl']);
    const annotated = { direction: 'both', until: null } as const;
    const pause = { ...annotated, by: 'annotation', replicas: null, annotated, notes: [] } as const;
    const found = status({ last: cycle({ conflictingWriter }) });

    expect(found).toMatchObject({ state: 'Conflict' });
    expect(shown(found, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ConflictingWriter',
      message: conflictingWriter.message,
    });
    expect(brief(status({ last: cycle({ conflictingWriter, pause }) }), 'Ready')).toBe('True Ready');
  });

  it('is False while an admission webhook changes the count, as the state is Conflict', () => {
    const held = condition({ type: 'Held', status: 'True', reason: 'ScaleOverridden', message: 'no' });
    const found = status({ last: cycle({ conditions: [condition(), ACTIVE, held] }) });

    expect([found.state, brief(found, 'Ready')]).toEqual(['Conflict', 'False ScaleOverridden']);
  });

  it.each([
    ['ScalingActive', 'ScalingDisabled', 'True Ready'],
    ['ScalingActive', 'FailedGetResourceMetric', 'False FailedGetResourceMetric'],
    ['ScalingActive', 'InvalidSelector', 'False InvalidSelector'],
    ['AbleToScale', 'FailedUpdateScale', 'False FailedUpdateScale'],
    ['AbleToScale', 'BackoffBoth', 'True Ready'],
  ] as const)('with %s False for %s is %s', (type, reason, expected) => {
    const failing = condition({ type, status: 'False', reason });
    const conditions = [failing, ...[condition(), ACTIVE].filter((one) => one.type !== type)];

    expect(brief(status({ last: cycle({ conditions }) }), 'Ready')).toBe(expected);
  });

  it('has the message of the first failure', () => {
    const conditions = [
      condition({ status: 'False', reason: 'FailedGetScale', message: 'it is not there' }),
      condition({ type: 'ScalingActive', status: 'False', reason: 'InvalidSelector', message: 'no' }),
    ];

    expect(shown(status({ last: cycle({ conditions }) }), 'Ready')?.message).toBe('it is not there');
  });

  it('names the hold in its message: kubectl get scalers -o wide prints it', () => {
    const held = condition({ type: 'Held', reason: 'Paused', message: 'spec.paused is true' });

    expect(
      shown(status({ last: cycle({ conditions: [condition(), ACTIVE, held] }) }), 'Ready'),
    ).toMatchObject({
      status: 'True',
      reason: 'Ready',
      message: 'the document is in effect; spec.paused is true',
    });
  });

  it('is Unknown before the first cycle', () => {
    const found = status({ last: null });

    expect(brief(found, 'Ready')).toBe('Unknown NotDecided');
    expect(found.conditions.map(({ type }) => type)).toEqual(['Accepted', 'Ready']);
    expect(found).not.toHaveProperty('currentReplicas');
  });

  it('has the generation of the last decision until one for the new generation', () => {
    const before = showing(object(), status());
    const edited = { ...before, generation: 3, specText: '{}' };
    const next = { object: edited, verdict: verdict({ specText: '{}', scaler: scaler() }) };

    const waiting = status({ ...next, last: cycle() });
    const decided = status({ ...next, last: cycle({ scaler: next.verdict.scaler ?? scaler() }) });

    expect(shown(waiting, 'Accepted')?.observedGeneration).toBe(3);
    expect(shown(waiting, 'Ready')?.observedGeneration).toBe(2);
    expect(shown(decided, 'Ready')?.observedGeneration).toBe(3);
  });

  it('never becomes True for a rejected generation: it stays rejected until a decision for the next one', () => {
    const wrong = { ...object(), generation: 3 };
    const refused = status({
      object: wrong,
      verdict: verdict({ problems: [problem({ code: 'replica-bounds' })] }),
    });
    const fixed = { ...showing(wrong, refused), generation: 4, specText: '{}' };

    const waiting = status({
      object: fixed,
      verdict: verdict({ specText: '{}', scaler: scaler() }),
      last: cycle(),
    });

    expect(brief(waiting, 'Accepted')).toBe('True Accepted');
    expect(shown(waiting, 'Ready')).toMatchObject({ status: 'False', observedGeneration: 3 });
  });
});

describe('lastTransitionTime', () => {
  it('stays while the status does, whatever reason and message are, and is the time of the decision that changed it', () => {
    const before = showing(object(), status());
    const other = condition({ reason: 'ScaleDownStabilized', message: 'other words' });
    const failing = condition({ status: 'False', reason: 'FailedGetScale' });

    const words = status({ object: before, now: at(60), last: cycle({ conditions: [other, ACTIVE] }) });
    const turned = status({
      object: before,
      now: at(60),
      last: cycle({ at: at(58), conditions: [failing, ACTIVE] }),
    });

    expect(shown(words, 'AbleToScale')?.lastTransitionTime).toBe('2026-01-01T00:00:00Z');
    expect(shown(turned, 'AbleToScale')?.lastTransitionTime).toBe('2026-01-01T00:00:58Z');
    expect(shown(turned, 'Ready')?.lastTransitionTime).toBe('2026-01-01T00:01:00Z');
    expect(shown(turned, 'ScalingActive')?.lastTransitionTime).toBe('2026-01-01T00:00:00Z');
  });
});

describe('stateSince', () => {
  it('stays while the state does, also in another process, and is the first cycle with another one', () => {
    const before = showing(object(), status());
    const failing = condition({ type: 'ScalingActive', status: 'False', reason: 'FailedGetPodsMetric' });
    const broken = cycle({ at: at(58), conditions: [condition(), failing] });

    const inNewProcess = (last: LedgerEntry): LedgerEntry =>
      createLedger({ earlierTimes: () => earlierTimes(before.status) }).add(last.record).after;
    const same = status({ object: before, now: at(60), last: inNewProcess(cycle({ at: at(58) })) });
    const other = status({ object: before, now: at(60), last: inNewProcess(broken) });

    expect([same.state, same.stateSince]).toEqual(['OK', '2026-01-01T00:00:00Z']);
    expect([other.state, other.stateSince]).toEqual(['NoData', '2026-01-01T00:00:58Z']);
  });
});

describe('a process that has just become the leader', () => {
  it('keeps the status of an earlier one until its own first decision', () => {
    const earlier = status({ last: { ...cycle(), lastRescale: { up: at(0), down: null } } });

    const found = status({ object: showing(object(), earlier), last: null, now: at(600) });

    expect(found).toEqual(earlier);
  });

  it('reports a rejection at once, and removes what is no longer in effect', () => {
    const before = showing(object(), status());
    const refused = verdict({ problems: [problem()], scaler: null });

    const found = status({ object: before, verdict: refused, last: null, now: at(600) });

    expect(found.conditions.map(({ type }) => type)).toEqual(['Accepted', 'Ready']);
    expect(found).not.toHaveProperty('currentReplicas');
  });

  it('has no control or bidi characters in a message, but its line breaks', () => {
    const able = condition({ message: 'paused by \u202eeve\u009b31m\nfor ever' });

    const found = status({ last: cycle({ conditions: [able, ACTIVE] }) });

    expect(shown(found, 'AbleToScale')?.message).toBe('paused by \ufffdeve\ufffd31m\nfor ever');
  });

  it('keeps conditions of other writers', () => {
    const foreign = { type: 'Synced', status: 'True', reason: 'x', message: '', lastTransitionTime: 'y' };
    const before = object({ status: { conditions: [foreign] } });

    expect(status({ object: before }).conditions.at(-1)).toEqual(foreign);
  });
});
