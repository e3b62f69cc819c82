import type { Decision } from '../../decision/result/decision.js';
import type { State } from '../../decision/snapshot/snapshot.js';
import { movedEvent } from '../../kubernetes/state/scale-events.js';
import type { CycleRecord } from '../../telemetry/cycle-record.js';
import { type Instant, latest } from '../../units/time.js';
import { afterOwnWrite } from '../memory/conflicting-writer.js';
import {
  quarterOf,
  copyMemory,
  forNewTarget,
  withChange,
  withoutChange,
  type Memory,
} from '../memory/memory.js';
import type { ScaleResult, Settled } from './types.js';

interface CycleTimes {
  /** The start of the round. */
  readonly now: Instant;
  /** When the response to the PATCH arrived. */
  readonly endedAt: Instant;
}

/** Returns the memory after a cycle. If the decision was not applied, the memory contains no change. */
export function nextMemory(settled: Settled, times: CycleTimes): Memory {
  const memory = memoryAfter(settled, times);
  const { snapshot } = settled.observed;
  if (snapshot.scaler.spec.forecast === null) return memory;
  const { result } = settled;
  const replicas = result?.kind === 'patched' ? result.replicas : snapshot.target.specReplicas;
  const { quarter } = memory.forecastMarks ?? { quarter: quarterOf(snapshot.scaler, times.now) };
  return { ...memory, forecastMarks: { replicas, quarter } };
}

function memoryAfter(settled: Settled, times: CycleTimes): Memory {
  const { observed, toApply, hold, result } = settled;
  const { snapshot, memory } = observed;
  if (result?.kind === 'recreated') return forNewTarget(memory, times.now, null);
  const unchanged = (): State => withoutChange(toApply.state, memory.state, toApply.currentReplicas);
  const isKept =
    toApply.desiredReplicas === memory.override?.wanted &&
    snapshot.target.specReplicas === memory.override.got;
  const override = overrideOf(toApply, result) ?? (isKept ? memory.override : null);
  if (result?.kind === 'failed' && result.unresolved !== null) {
    return { ...memory, override, state: unchanged(), unresolved: result.unresolved };
  }
  if (result?.kind !== 'patched') {
    // If the decision is held, `zeroedBySelf` is unchanged, even if the target is already at 0.
    const isInForce = toApply.action === 'none' && hold === null;
    const next = copyMemory(memory);
    next.override = override;
    next.state = isInForce ? toApply.state : unchanged();
    return next;
  }
  // An accepted PATCH resolves an earlier PATCH with an unknown result. Both had the same resourceVersion, so the
  // earlier one was not applied.
  const writer = afterOwnWrite(memory.writer, result.replicas);
  const resolved = { ...memory, override, unresolved: null, writer };
  if (result.replicas === toApply.desiredReplicas)
    return { ...resolved, state: madeAt(settled, result.intendedAt, times) };
  return { ...resolved, state: overridden(unchanged(), toApply, { ...result, ...times }) };
}

/** Adds the facts of the record that the next cycle compares with its own facts: pause, dry run and conditions. */
export function withRecord(memory: Memory, { pause, dryRun, conditions }: CycleRecord): Memory {
  const wasPaused = pause !== null;
  const wasDryRun = dryRun || (memory.wasDryRun ?? false);
  const isSame =
    wasPaused === (memory.wasPaused ?? false) &&
    wasDryRun === (memory.wasDryRun ?? false) &&
    conditions === memory.conditions;
  return isSame ? memory : { ...memory, wasPaused, wasDryRun, conditions };
}

export function overrideOf(toApply: Decision, result: ScaleResult | null): Memory['override'] {
  if (result?.kind !== 'patched' || result.replicas === toApply.desiredReplicas) return null;
  return { wanted: toApply.desiredReplicas, got: result.replicas };
}

/**
 * Returns the state after the change. The time of the change is that of its response, not of the decision, because the
 * change may have waited for a slot.
 */
function madeAt(
  { toApply, observed: { snapshot } }: Settled,
  intendedAt: Instant,
  { now, endedAt }: CycleTimes,
): State {
  const { state } = toApply;
  const change = toApply.desiredReplicas - snapshot.target.specReplicas;
  const at = latest(now, endedAt);
  const scaleEvents = state.scaleEvents.map((event) =>
    event.at === now ? movedEvent({ ...event, at: intendedAt }, at) : event,
  );
  return withChange({ ...state, scaleEvents }, change, at);
}

/**
 * Returns the state after an admission webhook set a different count than requested. Windows and policies use the count
 * that was set.
 */
function overridden(
  state: State,
  toApply: Decision,
  made: CycleTimes & { readonly replicas: number; readonly intendedAt: Instant },
): State {
  const change = made.replicas - toApply.currentReplicas;
  if (change === 0) return state;
  const at = latest(made.now, made.endedAt);
  const event = movedEvent({ at: made.intendedAt, change }, at);
  return withChange({ ...state, scaleEvents: [...state.scaleEvents, event] }, change, at);
}
