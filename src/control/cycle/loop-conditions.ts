import type { Condition, Decision } from '../../decision/result/decision.js';
import type { KubernetesError } from '../../kubernetes/api/types.js';
import { pauseMessage } from '../../telemetry/cycle-record.js';
import type { Pause } from '../../telemetry/cycle-record.js';
import type { Memory } from '../memory/memory.js';
import { degradedMessage } from './holds.js';
import type { Hold } from './holds.js';

export function cannotReadTarget(failure: KubernetesError): readonly Condition[] {
  const { message } = failure;
  if (failure.kind === 'invalid_selector') {
    return [{ type: 'ScalingActive', status: 'False', reason: 'InvalidSelector', message }];
  }
  return [{ type: 'AbleToScale', status: 'False', reason: 'FailedGetScale', message }];
}

export function updateSucceeded(decision: Decision, replicas: number): readonly Condition[] {
  const message = `the target was set to ${replicas} replicas`;
  return replace(decision, { type: 'AbleToScale', status: 'True', reason: 'SucceededRescale', message });
}

export function updateFailed(decision: Decision, message: string): readonly Condition[] {
  return replace(decision, { type: 'AbleToScale', status: 'False', reason: 'FailedUpdateScale', message });
}

function replace({ conditions }: Decision, condition: Condition): readonly Condition[] {
  return [condition, ...conditions.filter(({ type }) => type !== condition.type)];
}

/**
 * Returns the condition `Held`. A pause is reported in every cycle while it is in effect, even if it prevents nothing.
 * Only another autoscaler takes precedence.
 */
export function heldCondition(cycle: {
  readonly hold: Hold | null;
  readonly pause: Pause | null;
  readonly override: Memory['override'];
  readonly degraded: string | null;
}): Condition {
  const { hold, pause, override, degraded } = cycle;
  if (pause !== null && hold?.reason !== 'ConflictingScaler') {
    const more = hold === null || hold.reason === 'Paused' ? '' : `; ${hold.message}`;
    return { type: 'Held', status: 'True', reason: 'Paused', message: `${pauseMessage(pause)}${more}` };
  }
  if (hold !== null) return { type: 'Held', status: 'True', reason: hold.reason, message: hold.message };
  if (override !== null) {
    const message = `${override.wanted} replicas were requested, but the server set ${override.got}`;
    return { type: 'Held', status: 'True', reason: 'ScaleOverridden', message };
  }
  if (degraded !== null) {
    return { type: 'Held', status: 'True', reason: 'StateDegraded', message: degradedMessage(degraded) };
  }
  return NOT_HELD;
}

/** Shared, because each past decision holds a reference to it. */
const NOT_HELD: Condition = {
  type: 'Held',
  status: 'False',
  reason: 'NotHeld',
  message: 'decisions are carried out',
};

/** Returns the condition `MetricsUnique`, or none if no duplicates were ever found. */
export function uniqueConditions(duplicates: readonly string[] | null): readonly Condition[] {
  if (duplicates === null) return NO_CONDITIONS;
  if (duplicates.length === 0) return ALL_UNIQUE;
  const message = duplicates.join('; ');
  return [{ type: 'MetricsUnique', status: 'False', reason: 'DuplicateSeries', message }];
}

const NO_CONDITIONS: readonly Condition[] = [];
const ALL_UNIQUE: readonly Condition[] = [
  { type: 'MetricsUnique', status: 'True', reason: 'NoDuplicates', message: 'each series exists once' },
];
