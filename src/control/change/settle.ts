import { decide } from '../../decision/decide.js';
import type { Decision } from '../../decision/result/decision.js';
import type { Snapshot } from '../../decision/snapshot/snapshot.js';
import type { Instant } from '../../units/time.js';
import type { ScaleResult } from './change-replicas.js';
import { carryOut } from './carry-out.js';
import type { CarriedOut } from './carry-out.js';
import type { Circumstances } from './circumstances.js';
import { afterRead, afterOwnWrite } from '../memory/conflicting-writer.js';
import { resolveChange } from '../memory/unresolved-change.js';
import { withChange } from '../memory/state-after-change.js';
import type { Memory } from '../memory/memory.js';
import { orderOf } from './order.js';
import type { CycleInput, CyclePorts } from '../ports/ports.js';
import { whyHeld } from './why-held.js';
import type { Hold } from './why-held.js';

/** Decisions per cycle: another client may change the count between a decision and its PATCH. */
const MAX_DECISIONS = 3;

export interface Settled {
  readonly snapshot: Snapshot;
  readonly decision: Decision;
  /** The decision to carry out. In a pause with a fixed count it differs from `decision`. */
  readonly order: Decision;
  readonly hold: Hold | null;
  readonly result: ScaleResult | null;
  readonly memory: Memory;
  readonly decideSeconds: number;
}

interface Given {
  readonly snapshot: Snapshot;
  readonly memory: Memory;
  readonly circumstances: Circumstances;
}

/**
 * Decides on a snapshot and carries out the decision. If another client has changed the count in between, decides again
 * from that count, up to `MAX_DECISIONS` times. Returns a promise only if there is something to carry out: most cycles
 * change nothing, and 10,000 promises a round would only be garbage.
 */
export function settle(
  input: CycleInput,
  ports: CyclePorts,
  { snapshot, memory, circumstances }: Given,
  decisionsLeft = MAX_DECISIONS,
): Settled | Promise<Settled> {
  const { target, pause } = circumstances;
  const startMs = ports.clock.monotonicMs();
  const decision = decide(snapshot, memory.podFacts);
  const decideSeconds = (ports.clock.monotonicMs() - startMs) / 1000;
  const order = orderOf(decision, { pause, before: memory.state, now: input.now });
  const hold = whyHeld(input, { circumstances, memory, order });
  const isFixed = order !== decision;
  const carried = carryOut(input, ports, { target, memory, order, hold, isFixed });
  const settled = { snapshot, decision, order, hold, result: null, memory, decideSeconds };
  return carried === null
    ? settled
    : settleChange(input, ports, { settled, carried, circumstances, decisionsLeft });
}

async function settleChange(
  input: CycleInput,
  ports: CyclePorts,
  begun: {
    readonly settled: Settled;
    readonly carried: Promise<CarriedOut>;
    readonly circumstances: Circumstances;
    readonly decisionsLeft: number;
  },
): Promise<Settled> {
  const { circumstances, decisionsLeft } = begun;
  const { snapshot, decision, decideSeconds } = begun.settled;
  const { now } = input;
  const { result, memory } = await begun.carried;
  const settled = { ...begun.settled, result, memory };
  if (result?.kind !== 'moved') return settled;
  const moved = memoryAfterMove(memory, result, { from: decision.currentReplicas, now });
  if (decisionsLeft <= 1) return { ...settled, memory: moved };
  const next = { snapshot: snapshotAfterMove(snapshot, result, moved), memory: moved, circumstances };
  const later = await settle(input, ports, next, decisionsLeft - 1);
  return { ...later, decideSeconds: decideSeconds + later.decideSeconds };
}

/** The other client may be an earlier PATCH of this process with an unknown result. */
function memoryAfterMove(
  memory: Memory,
  moved: Extract<ScaleResult, { kind: 'moved' }>,
  { from, now }: { readonly from: number; readonly now: Instant },
): Memory {
  const read = { replicas: moved.specReplicas, managers: [], now };
  const isOwn = memory.unresolved !== null || moved.afterConflict;
  const writer = isOwn ? afterOwnWrite(memory.writer, null) : afterRead(memory.writer, read);
  const resolved = { ...resolveChange(memory, { ...moved, generation: null }, now), writer };
  if (!moved.afterConflict) return resolved;
  return { ...resolved, state: withChange(resolved.state, moved.specReplicas - from, now) };
}

function snapshotAfterMove(
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
