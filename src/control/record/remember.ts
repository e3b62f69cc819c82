import type { Decision } from '../../decision/decision.js';
import type { Snapshot, State } from '../../decision/snapshot.js';
import { latest } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { ScaleResult } from '../change/change-replicas.js';
import { afterOwnWrite } from '../memory/conflicting-writer.js';
import { forNewTarget } from '../memory/memory.js';
import { withChange, withoutChange } from '../memory/state-after-change.js';
import type { Memory } from '../memory/memory.js';

/** What a cycle has done. */
export interface Done {
  /** The instant of the round. */
  readonly now: Instant;
  /** When the change was answered. */
  readonly endedAt: Instant;
  readonly snapshot: Snapshot;
  readonly decision: Decision;
  readonly result: ScaleResult | null;
  /** Something has kept it from being carried out. */
  readonly isHeld: boolean;
}

/** The memory after a cycle: the decision's state, without its change where that was not made. */
export function rememberCycle(memory: Memory, cycle: Done): Memory {
  const { now, snapshot, decision, result, isHeld } = cycle;
  if (result?.kind === 'recreated') return forNewTarget(memory, now, null);
  const unchanged = withoutChange(decision.state, memory.state, decision.currentReplicas);
  const isKept =
    decision.desiredReplicas === memory.override?.wanted &&
    snapshot.target.specReplicas === memory.override.got;
  const override = overrideOf(decision, result) ?? (isKept ? memory.override : null);
  if (result?.kind === 'failed' && result.unresolved !== null) {
    return { ...memory, override, state: unchanged, unresolved: result.unresolved };
  }
  if (result?.kind !== 'patched') {
    // The 0 of an order that is held is not ours, also where the target is at 0 already.
    const isInForce = decision.action === 'none' && !isHeld;
    return { ...memory, override, state: isInForce ? decision.state : unchanged };
  }
  // A PATCH that was accepted shuts out an earlier one whose answer was lost: both had the same resourceVersion.
  const writer = afterOwnWrite(memory.writer, result.replicas);
  const settled = { ...memory, override, unresolved: null, writer };
  if (result.replicas === decision.desiredReplicas) return { ...settled, state: madeAt(cycle) };
  return { ...settled, state: overridden(unchanged, cycle, result.replicas) };
}

/** What an admission webhook made of the last change; null where nothing was changed or it came out as asked for. */
export function overrideOf(decision: Decision, result: ScaleResult | null): Memory['override'] {
  if (result?.kind !== 'patched' || result.replicas === decision.desiredReplicas) return null;
  return { wanted: decision.desiredReplicas, got: result.replicas };
}

/** The decision's state with the change at the time it was made: it may have waited for its turn. */
function madeAt({ now, endedAt, decision, snapshot }: Done): State {
  const { state } = decision;
  const change = decision.desiredReplicas - snapshot.target.specReplicas;
  const at = latest(now, endedAt);
  const scaleEvents = state.scaleEvents.map((event) => (event.at === now ? { ...event, at } : event));
  return withChange({ ...state, scaleEvents }, change, at);
}

/** What an admission webhook made of a change is a change all the same: windows and policies count what came of it. */
function overridden(state: State, { now, endedAt, decision }: Done, replicas: number): State {
  const change = replicas - decision.currentReplicas;
  if (change === 0) return state;
  const at = latest(now, endedAt);
  return withChange({ ...state, scaleEvents: [...state.scaleEvents, { at, change }] }, change, at);
}
