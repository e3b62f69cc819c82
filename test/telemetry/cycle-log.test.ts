import { failed } from '../../src/units/failure.js';
import { describe, expect, it } from '@jest/globals';
import type { ConditionReason } from '../../src/decision/result/condition.js';
import type { CycleRecord } from '../../src/telemetry/cycle-record.js';
import { createLedger } from '../../src/telemetry/ledger.js';
import { logCycle } from '../../src/telemetry/cycle-log.js';
import { type Facts, type Log, SILENT_LOG } from '../../src/units/log.js';
import {
  condition,
  conflictWith,
  decision,
  limitStep,
  metricResult,
  NO_OUTAGES,
  record,
} from './record-builder.js';

const FAILING = decision({
  metrics: [metricResult({ error: failed('missing', 'no series'), proposal: null })],
});

const FAILED_METRIC = condition({
  type: 'ScalingActive',
  status: 'False',
  reason: 'FailedGetResourceMetric',
});

describe('logCycle', () => {
  it('writes nothing at info for 3 cycles that change nothing', () => {
    const lines = run([record(), record(), record({ decision: decision({ recommendedReplicas: 4 }) })]);

    expect(lines).toEqual([]);
  });

  it('writes one line for a change from 3 to 5, with its reason and limits', () => {
    const changed = decision({ desiredReplicas: 5, reason: 'cpu is above target', limits: [limitStep()] });

    const lines = run([
      record({ decision: changed, outcome: { kind: 'patched', from: 3, to: 5, message: '' } }),
    ]);

    expect(lines).toEqual([
      [
        'info',
        'replicas changed',
        { scaler: 'shop/web', from: 3, to: 5, reason: 'cpu is above target', limits: ['stabilization'] },
      ],
    ]);
  });

  it('writes the pause as the reason of its change, and no limit of the decision that it replaced', () => {
    const changed = decision({ desiredReplicas: 5, reason: 'cpu is above target', limits: [limitStep()] });
    const reason = '3 -> 2: paused by annotation, kept at 2 (5 recommended)';
    const pause = {
      by: 'annotation',
      direction: 'both',
      until: null,
      replicas: 2,
      annotated: null,
      notes: [],
    } as const;
    const outcome = { kind: 'patched', from: 3, to: 2, message: '' } as const;

    const lines = run([record({ decision: changed, outcome, pause, reason })]);

    expect(lines).toEqual([
      ['info', 'replicas changed', { scaler: 'shop/web', from: 3, to: 2, reason, limits: [] }],
    ]);
  });

  it('writes a blocked change once, not in each of 3 rounds, and again when it is a different one', () => {
    const heldAt = (to: number): CycleRecord =>
      record({ outcome: { kind: 'dry-run', from: 3, to, message: '' } });

    const lines = run([heldAt(5), heldAt(5), heldAt(5), heldAt(6)]);

    expect(lines.map(([level, message, facts]) => [level, message, facts['to']])).toEqual([
      ['info', 'change held', 5],
      ['info', 'change held', 6],
    ]);
  });

  it('writes that another writer was detected, and that it stopped, once each', () => {
    const conflictingWriter = conflictWith(['kubectl'], 'kubectl does it');
    const found = record({ conflictingWriter });

    expect(run([record(), found, found, record(), record()])).toEqual([
      [
        'warn',
        'another writer keeps changing spec.replicas',
        { scaler: 'shop/web', detail: 'kubectl does it' },
      ],
      ['info', 'no other writer changes spec.replicas anymore', { scaler: 'shop/web' }],
    ]);
  });

  it('warns about pods without a node once, and writes nothing about pods that start', () => {
    const short = (reason: ConditionReason): CycleRecord =>
      record({ conditions: [condition({ type: 'TargetReached', status: 'False', reason })] });
    const reached = record({ conditions: [condition({ type: 'TargetReached', reason: 'Reached' })] });

    const lines = run([reached, short('Starting'), short('Unschedulable'), short('Unschedulable'), reached]);

    expect(lines.map(([level, message, facts]) => [level, message, facts['reason']])).toEqual([
      ['warn', 'condition degraded', 'Unschedulable'],
      ['info', 'condition recovered', 'Reached'],
    ]);
  });

  it.each(['conflict', 'failed'] as const)('writes a %s at debug only', (kind) => {
    const records = [record({ outcome: { kind, from: 3, to: 5, message: 'who knows' } })];

    expect(run(records)).toEqual([]);
    expect(run(records, 'debug')).toHaveLength(1);
  });

  it('writes the start and the end of a failing metric once each', () => {
    const lines = run([record(), record({ decision: FAILING }), record({ decision: FAILING }), record()]);

    expect(lines).toEqual([
      ['warn', 'metric has no value', { scaler: 'shop/web', metric: 'Resource/cpu', error: 'no series' }],
      ['info', 'metric has a value again', { scaler: 'shop/web', metric: 'Resource/cpu' }],
    ]);
  });

  it('writes the data source and the reason of a query without an answer', () => {
    const failure = { ...failed('server_error', 'h: HTTP 500'), source: 'default' };
    const failing = record({
      decision: decision({ metrics: [metricResult({ error: failure, proposal: null })] }),
    });

    expect(run([record(), failing])).toEqual([
      [
        'warn',
        'metric has no value',
        {
          scaler: 'shop/web',
          metric: 'Resource/cpu',
          source: 'default',
          reason: 'server_error',
          error: 'Prometheus: h: HTTP 500',
        },
      ],
    ]);
  });

  it('writes one line for a failed metric that also makes ScalingActive False, and one when it has a value again', () => {
    const conditions = [FAILED_METRIC];
    const failing = record({ decision: FAILING, conditions });
    const unread = record({ decision: null, conditions });
    const active = record({ conditions: [condition({ type: 'ScalingActive', reason: 'ValidMetricFound' })] });

    expect(messages(run([active, failing, unread, failing, active]))).toEqual([
      'metric has no value',
      'metric has a value again',
    ]);
  });

  it('writes the condition of a failed query if the target cannot be read, and no second line if it can be read', () => {
    const conditions = [FAILED_METRIC];
    const unread = record({ decision: null, conditions });
    const failing = record({ decision: FAILING, conditions });

    expect(
      messages(run([unread, failing, record({ conditions: [condition({ type: 'ScalingActive' })] })])),
    ).toEqual(['condition degraded', 'metric has no value', 'metric has a value again']);
  });

  it('treats a cycle without metrics as neither the end nor a new start of a failure', () => {
    const shortCut = record({ decision: decision({ metrics: [] }) });

    const lines = run([record({ decision: FAILING }), shortCut, record({ decision: FAILING })]);

    expect(lines.map(([, message]) => message)).toEqual(['metric has no value']);
  });

  it('writes a condition that becomes bad, that has another reason, and that is good again', () => {
    const failed = (reason: ConditionReason): CycleRecord =>
      record({ conditions: [condition({ status: 'False', reason, message: 'forbidden' })] });

    const lines = run([
      failed('FailedGetScale'),
      failed('FailedGetScale'),
      failed('FailedUpdateScale'),
      record(),
    ]);

    expect(lines.map(([level, message, facts]) => [level, message, facts['reason']])).toEqual([
      ['warn', 'condition degraded', 'FailedGetScale'],
      ['warn', 'condition degraded', 'FailedUpdateScale'],
      ['info', 'condition recovered', 'ReadyForNewScale'],
    ]);
  });

  it('does not write that a condition recovered if it becomes Unknown', () => {
    const reached = (status: 'False' | 'Unknown', reason: ConditionReason): CycleRecord =>
      record({ conditions: [condition({ type: 'TargetReached', status, reason })] });

    const lines = run([reached('False', 'NotReady'), reached('Unknown', 'NotEvaluated')]);

    expect(lines.map(([level, message, facts]) => [level, message, facts['reason']])).toEqual([
      ['warn', 'condition degraded', 'NotReady'],
      ['info', 'condition unknown', 'NotEvaluated'],
    ]);
  });

  it.each([
    ['DryRun', 'info'],
    ['Paused', 'info'],
    ['ConflictingScaler', 'warn'],
    ['StateDegraded', 'warn'],
  ] as const)('writes a Held condition with the reason %s at %s', (reason, level) => {
    const lines = run([record({ conditions: [condition({ type: 'Held', reason })] })]);

    expect(lines.map(([at]) => at)).toEqual([level]);
  });

  it.each([
    ['FailedGetScale', 'AbleToScale', ['API server']],
    ['FailedGetResourceMetric', 'ScalingActive', ['data source default']],
    ['InvalidSelector', 'ScalingActive', []],
  ] as const)('attributes %s, while the target cannot be read, to %s: %j', (reason, type, expected) => {
    const systems: (readonly string[])[] = [];
    const outages = {
      ...NO_OUTAGES,
      attribute: (failure: { readonly systems: readonly string[] }) => void systems.push(failure.systems),
    };
    const conditions = [condition({ type, status: 'False', reason })];
    const { before, after } = createLedger().add(record({ decision: null, conditions }));

    logCycle({ log: SILENT_LOG, outages }, before, after);

    expect(systems).toEqual([expected]);
  });

  it('writes nothing about a limit: a scaler at its maximum is healthy', () => {
    const lines = run([
      record({ conditions: [condition({ type: 'ScalingLimited', reason: 'TooManyReplicas' })] }),
    ]);

    expect(lines).toEqual([]);
  });
});

type Line = readonly [level: string, message: string, facts: Facts];

function messages(lines: readonly Line[]): readonly string[] {
  return lines.map(([, message]) => message);
}

function run(records: readonly CycleRecord[], only?: 'debug'): readonly Line[] {
  const lines: Line[] = [];
  const write =
    (level: string) =>
    (message: string, facts: Facts = {}): void =>
      void lines.push([level, message, facts]);
  const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const ledger = createLedger();
  for (const one of records) {
    const { before, after } = ledger.add(one);
    logCycle({ log, outages: NO_OUTAGES }, before, after);
  }
  return lines.filter(([level]) => (only === 'debug' ? level === 'debug' : level !== 'debug'));
}
