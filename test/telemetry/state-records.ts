import type { Condition } from '../../src/decision/result/condition.js';
import type { Pause } from '../../src/decision/pause.js';
import type { CycleRecord, Outcome } from '../../src/telemetry/cycle-record.js';
import { parseInstant } from '../../src/units/time.js';
import { cpuSnapshot, recordOf, scalerDocument } from '../cli/live-service.js';

export type Json = Readonly<Record<string, unknown>>;

export type RecordOf = (name: string) => CycleRecord;

interface Given {
  /** CPU usage of the 4 pods in percent; the target is 60. */
  readonly percent?: number;
  readonly spec?: Json;
  readonly snapshot?: Json;
  /** Conditions of the control loop. */
  readonly conditions?: readonly Condition[];
  readonly record?: Partial<CycleRecord>;
}

/** Returns the record of a decision of `decide()`. */
export function decided({
  percent = 60,
  spec = {},
  snapshot = {},
  conditions = [],
  record = {},
}: Given): RecordOf {
  return (name) => {
    const scaler = scalerDocument({ ...spec, name });
    const cycle = recordOf(cpuSnapshot(percent, { name, scaler, ...snapshot }), record);
    return { ...cycle, conditions: [...cycle.conditions, ...conditions] };
  };
}

/** Returns the record of a cycle that could not read its target. */
export function unread(condition: Condition, record: Partial<CycleRecord> = {}): RecordOf {
  const outcome: Outcome = { kind: 'none', from: null, to: null, message: '' };
  return (name) => ({
    ...decided({})(name),
    snapshot: null,
    decision: null,
    outcome,
    conditions: [condition],
    ...record,
  });
}

export function outcome(kind: Outcome['kind'], to: number, message = ''): { readonly outcome: Outcome } {
  return { outcome: { kind, from: 4, to, message } };
}

export function paused(pause: Partial<Pause>): { readonly pause: Pause } {
  const until = parseInstant('2026-01-01T02:00:00Z');
  const annotated = { direction: 'both', until } as const;
  const notes = ['deploy freeze'];
  return {
    pause: { by: 'annotation', direction: 'both', until, replicas: null, annotated, notes, ...pause },
  };
}
