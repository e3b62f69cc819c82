import type { Decision } from '../../decision/result/decision.js';
import type { Snapshot, State } from '../../decision/snapshot/snapshot.js';
import { movedEvent } from '../../kubernetes/state/scale-events.js';
import { latest } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { ScaleResult } from './change-replicas.js';
import { afterOwnWrite } from '../memory/conflicting-writer.js';
import { copyMemory, forNewTarget } from '../memory/memory.js';
import { withChange, withoutChange } from '../memory/state-after-change.js';
import type { Memory } from '../memory/memory.js';

interface FinishedCycle {
  /** The start of the round. */
  readonly now: Instant;
  /** Time of the response to the change. */
  readonly endedAt: Instant;
  readonly snapshot: Snapshot;
  readonly decision: Decision;
  readonly result: ScaleResult | null;
  readonly isHeld: boolean;
}

/** Returns the memory after a cycle. A decision that was not carried out does not count as a change. */
export function rememberCycle(memory: Memory, cycle: FinishedCycle): Memory {
  const { now, snapshot, decision, result, isHeld } = cycle;
  if (result?.kind === 'recreated') return forNewTarget(memory, now, null);
  const unchanged = (): State => withoutChange(decision.state, memory.state, decision.currentReplicas);
  const isKept =
    decision.desiredReplicas === memory.override?.wanted &&
    snapshot.target.specReplicas === memory.override.got;
  const override = overrideOf(decision, result) ?? (isKept ? memory.override : null);
  if (result?.kind === 'failed' && result.unresolved !== null) {
    return { ...memory, override, state: unchanged(), unresolved: result.unresolved };
  }
  if (result?.kind !== 'patched') {
    // A held order does not set `zeroedBySelf`, even if the target is already at 0.
    const isInForce = decision.action === 'none' && !isHeld;
    const next = copyMemory(memory);
    next.override = override;
    next.state = isInForce ? decision.state : unchanged();
    return next;
  }
  // An accepted PATCH excludes an earlier unresolved one: both had the same resourceVersion.
  const writer = afterOwnWrite(memory.writer, result.replicas);
  const settled = { ...memory, override, unresolved: null, writer };
  if (result.replicas === decision.desiredReplicas)
    return { ...settled, state: madeAt(cycle, result.intendedAt) };
  return { ...settled, state: overridden(unchanged(), cycle, result) };
}

export function overrideOf(decision: Decision, result: ScaleResult | null): Memory['override'] {
  if (result?.kind !== 'patched' || result.replicas === decision.desiredReplicas) return null;
  return { wanted: decision.desiredReplicas, got: result.replicas };
}

/** Dates the change at its response, because the change may have waited for a slot. */
function madeAt({ now, endedAt, decision, snapshot }: FinishedCycle, intendedAt: Instant): State {
  const { state } = decision;
  const change = decision.desiredReplicas - snapshot.target.specReplicas;
  const at = latest(now, endedAt);
  const scaleEvents = state.scaleEvents.map((event) =>
    event.at === now ? movedEvent({ ...event, at: intendedAt }, at) : event,
  );
  return withChange({ ...state, scaleEvents }, change, at);
}

/** Windows and policies count the change to the replicas that the admission webhook set. */
function overridden(
  state: State,
  { now, endedAt, decision }: FinishedCycle,
  { replicas, intendedAt }: Extract<ScaleResult, { kind: 'patched' }>,
): State {
  const change = replicas - decision.currentReplicas;
  if (change === 0) return state;
  const at = latest(now, endedAt);
  const event = movedEvent({ at: intendedAt, change }, at);
  return withChange({ ...state, scaleEvents: [...state.scaleEvents, event] }, change, at);
}
