import { decide } from '../../decision/decide.js';
import type { Decision } from '../../decision/decision.js';
import type { Snapshot } from '../../decision/snapshot.js';
import type { OtherScaler, ScaleTarget } from '../../kubernetes/types.js';
import type { Pause } from '../../telemetry/cycle-record.js';
import type { Instant } from '../../units/time.js';
import type { ScaleResult } from './change-replicas.js';
import { carryOut } from './carry-out.js';
import { afterLook, afterOwnWrite } from '../memory/conflicting-writer.js';
import { resolveChange } from '../memory/unresolved-change.js';
import { withChange } from '../memory/state-after-change.js';
import type { Memory } from '../memory/memory.js';
import { orderOf } from './order.js';
import type { CycleInput, CyclePorts } from '../ports.js';
import { whyHeld } from './why-held.js';
import type { Hold } from './why-held.js';

/** How often a cycle decides again because another client changed the count between the decision and the PATCH. */
const MAX_DECISIONS = 3;

/** A decision and its result. */
export interface Settled {
  /** What the decision was made on. */
  readonly snapshot: Snapshot;
  readonly decision: Decision;
  /** What was to be carried out: the decision, or the way to the count that a pause keeps. */
  readonly order: Decision;
  /** Null where nothing kept the order from being carried out. */
  readonly hold: Hold | null;
  /** Null where there was nothing to change, or the order was held. */
  readonly result: ScaleResult | null;
  readonly memory: Memory;
  /** Seconds that deciding took, over all decisions of the cycle. */
  readonly decideSeconds: number;
}

/** What does not change however often the cycle decides. */
export interface Circumstances {
  readonly target: ScaleTarget;
  readonly otherScaler: OtherScaler | null;
  readonly pause: Pause | null;
  /** Why the state of the scaler cannot be stored; null: it can. */
  readonly degraded: string | null;
  readonly isDryRun: boolean;
}

/**
 * Decides on a snapshot and carries the decision out. Where another client has changed the count meanwhile, decides
 * again from that count, `MAX_DECISIONS` times in all.
 */
export async function settle(
  input: CycleInput,
  ports: CyclePorts,
  given: { readonly snapshot: Snapshot; readonly memory: Memory; readonly circumstances: Circumstances },
  decisionsLeft = MAX_DECISIONS,
): Promise<Settled> {
  const { snapshot, circumstances } = given;
  const { target, pause } = circumstances;
  const { now } = input;
  const startMs = ports.clock.monotonicMs();
  const decision = decide(snapshot);
  const decideSeconds = (ports.clock.monotonicMs() - startMs) / 1000;
  const order = orderOf(decision, { pause, before: given.memory.state, now });
  const hold = whyHeld({ ...input, ...circumstances, memory: given.memory, order });
  const { result, memory } = await carryOut(input, ports, { target, memory: given.memory, order, hold });
  const settled = { snapshot, decision, order, hold, result, memory, decideSeconds };
  if (result?.kind !== 'moved') return settled;
  const moved = afterMove(memory, result, { from: decision.currentReplicas, now });
  if (decisionsLeft <= 1) return { ...settled, memory: moved };
  const next = { snapshot: movedTo(snapshot, result, moved), memory: moved, circumstances };
  const later = await settle(input, ports, next, decisionsLeft - 1);
  return { ...later, decideSeconds: decideSeconds + later.decideSeconds };
}

/** A change of our own whose outcome is not known may have been the one that was found. */
function afterMove(
  memory: Memory,
  moved: Extract<ScaleResult, { kind: 'moved' }>,
  { from, now }: { readonly from: number; readonly now: Instant },
): Memory {
  const look = { replicas: moved.specReplicas, managers: [], now };
  const isOwn = memory.unresolved !== null || moved.afterConflict;
  const writer = isOwn ? afterOwnWrite(memory.writer, null) : afterLook(memory.writer, look);
  const resolved = { ...resolveChange(memory, { ...moved, generation: null }, now), writer };
  if (!moved.afterConflict) return resolved;
  return { ...resolved, state: withChange(resolved.state, moved.specReplicas - from, now) };
}

/** The same snapshot, with the count that another client has set since. */
function movedTo(
  snapshot: Snapshot,
  { specReplicas, statusReplicas }: Snapshot['target'],
  { state }: Memory,
): Snapshot {
  const { holdScaleDownUntil, holdReason } = snapshot.state;
  return {
    ...snapshot,
    target: { specReplicas, statusReplicas },
    state: { ...state, holdScaleDownUntil, holdReason },
  };
}
