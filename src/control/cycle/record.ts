import type { Decision } from '../../decision/result/decision.js';
import type { OtherScaler } from '../../kubernetes/api/types.js';
import { noChange } from '../../telemetry/cycle-record.js';
import type { CycleRecord, Outcome, Pause, Shadow } from '../../telemetry/cycle-record.js';
import type { ScaleResult } from './change-replicas.js';
import { changeReason, orderText } from './change-reason.js';
import { conflictingWriterOf } from '../memory/conflicting-writer.js';
import { nameOtherScaler } from './shared-targets.js';
import {
  cannotReadTarget,
  heldCondition,
  uniqueConditions,
  updateFailed,
  updateSucceeded,
} from './loop-conditions.js';
import { lastScales } from '../memory/memory.js';
import { overrideOf } from './next-memory.js';
import type { Observation } from './observe.js';
import type { CycleInput } from './ports.js';
import type { Circumstances } from './circumstances.js';
import type { Settled } from './settle.js';
import type { Hold } from './holds.js';

/** Returns the record of a cycle that read its target. */
export function buildRecord(
  { scaler, memory: before, now, answers }: CycleInput,
  {
    settled,
    circumstances,
    capacity,
    lastScales,
    seconds,
  }: {
    readonly settled: Settled;
    readonly circumstances: Circumstances;
    readonly capacity: Decision['conditions'][number];
    readonly lastScales: CycleRecord['lastScales'];
    readonly seconds: CycleRecord['seconds'];
  },
): CycleRecord {
  const { snapshot, decision, order, hold, result, memory } = settled;
  const { pause, degraded, isDryRun, otherScaler } = circumstances;
  const held = { hold, pause, override: overrideOf(order, result), degraded: whyDegraded(degraded, result) };
  const decided = conditionsOf(decision, result);
  const unique = uniqueConditions(answers.duplicates?.(scaler) ?? null);
  const added = [heldCondition(held), capacity, ...unique];
  return {
    scaler,
    at: now,
    snapshot,
    decision,
    outcome: outcomeOf(settled, pause),
    reason: changeReason(decision, { order, pause, wasPaused: memory.wasPaused ?? false }),
    conditions: keepJoined(before.conditions, decided, added),
    pause,
    dryRun: isDryRun,
    conflictingWriter: conflictingWriterOf(memory.writer, now) ?? undefined,
    shadow: shadowOf(decision, hold, otherScaler),
    lastScales,
    seconds,
  };
}

/** Returns the record of a cycle that could not read its target and made no decision. */
export function buildUnreadRecord(
  { scaler, memory, now }: CycleInput,
  {
    observation,
    pause,
    isDryRun,
    observeSeconds,
  }: {
    readonly observation: Extract<Observation, { failure: unknown }>;
    readonly pause: Pause | null;
    readonly isDryRun: boolean;
    readonly observeSeconds: number;
  },
): CycleRecord {
  return {
    scaler,
    at: now,
    snapshot: null,
    decision: null,
    outcome: noChange(null),
    conditions: cannotReadTarget(observation.failure),
    pause,
    dryRun: isDryRun,
    conflictingWriter: conflictingWriterOf(memory.writer, now) ?? undefined,
    lastScales: lastScales(memory),
    seconds: { observe: observeSeconds, decide: 0, act: 0 },
  };
}

/**
 * Returns a shadow only if the decision is held because of the dry run and was calculated from full values: otherwise
 * the decision does not predict what promscaler will do after the dry run.
 */
function shadowOf(decision: Decision, hold: Hold | null, other: OtherScaler | null): Shadow | undefined {
  const theirReplicas = other?.desiredReplicas;
  if (hold?.reason !== 'DryRun' || other === null || theirReplicas === undefined) return undefined;
  if (!isCalculated(decision)) return undefined;
  const difference = decision.desiredReplicas - theirReplicas;
  return { beside: nameOtherScaler(other), theirReplicas, difference };
}

/** A count that is held because a metric has no full value is the count of the HPA, and would always agree with it. */
function isCalculated({ metrics, action }: Decision): boolean {
  // Without metrics, a bound sets the count, or the target is at 0 and nothing is calculated.
  if (metrics.length === 0) return action !== 'none';
  return metrics.every(
    ({ error, partial, fallback }) => error === null && partial === null && fallback === undefined,
  );
}

function whyDegraded(degraded: string | null, result: ScaleResult | null): string | null {
  if (result?.kind === 'unannounced') return result.message;
  return result?.kind === 'patched' && result.unannounced !== null ? result.unannounced : degraded;
}

/** Returns the outcome of the order. If a pause prevents a change, returns the prevented change. */
function outcomeOf({ decision, order, hold, result }: Settled, pause: Pause | null): Outcome {
  const { currentReplicas: from, desiredReplicas: to } = order;
  const text = orderText(decision, pause);
  if (order.action === 'none' && text !== null && decision.action !== 'none') {
    return { kind: 'paused', from, to: decision.desiredReplicas, message: text };
  }
  if (order.action === 'none') return noChange(from);
  if (hold !== null) return { kind: hold.outcome, from, to, message: hold.message };
  if (result === null) return noChange(from);
  switch (result.kind) {
    case 'patched':
      return result.replicas === to
        ? { kind: 'patched', from, to, message: text ?? '' }
        : {
            kind: 'replaced',
            from,
            to: result.replicas,
            message: `requested ${to}, but the server set ${result.replicas}`,
          };
    case 'moved':
    case 'recreated':
    case 'given-up':
      return { kind: 'conflict', from, to, message: result.message };
    case 'unannounced':
      return { kind: 'held', from, to, message: result.message };
    case 'failed':
      return { kind: 'failed', from, to, message: result.message };
    default:
      return result satisfies never;
  }
}

/** Returns the list of the last cycle if it consists of both lists. As `keepList`, but nearly always builds no list. */
function keepJoined<T>(
  before: readonly T[] | undefined,
  first: readonly T[],
  last: readonly T[],
): readonly T[] {
  const isSame =
    before?.length === first.length + last.length &&
    first.every((one, index) => one === before[index]) &&
    last.every((one, index) => one === before[first.length + index]);
  return isSame ? before : [...first, ...last];
}

function conditionsOf(decision: Decision, result: ScaleResult | null): Decision['conditions'] {
  if (result?.kind === 'patched') return updateSucceeded(decision, result.replicas);
  return result?.kind === 'failed' ? updateFailed(decision, result.message) : decision.conditions;
}
