import { decide } from '../../decision/decide.js';
import type { Decision } from '../../decision/result/decision.js';
import type { Sample, Snapshot } from '../../decision/snapshot/snapshot.js';
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

interface Begun {
  readonly settled: Settled;
  readonly carried: Promise<CarriedOut>;
  readonly circumstances: Circumstances;
  readonly decisionsLeft: number;
}

/**
 * Decides on a snapshot and carries out the decision. If another client has changed the count in between, decides again
 * from that count, up to `MAX_DECISIONS` times. If the samples behind a scale-down are old, their metrics become partial,
 * and it decides again. Returns a promise only if there is something to carry out: most cycles
 * change nothing, and 10,000 promises a round would only be garbage.
 */
export function settle(
  input: CycleInput,
  ports: CyclePorts,
  { snapshot, memory, circumstances }: Given,
  decisionsLeft = MAX_DECISIONS,
): Settled | Promise<Settled> {
  const decided = decideOn(input, ports, { snapshot, memory, circumstances });
  const ages = whyOld(input, decided);
  if (ages === null) return execute(input, ports, { settled: decided, circumstances, decisionsLeft });
  return ages.then((reasons) => {
    if (reasons.every((why) => why === null))
      return execute(input, ports, { settled: decided, circumstances, decisionsLeft });
    const doubtful = { ...snapshot, samples: withDoubts(snapshot.samples, reasons) };
    const settled = decideOn(input, ports, { snapshot: doubtful, memory, circumstances });
    return execute(input, ports, { settled, circumstances, decisionsLeft });
  });
}

function decideOn(input: CycleInput, ports: CyclePorts, { snapshot, memory, circumstances }: Given): Settled {
  const startMs = ports.clock.monotonicMs();
  const decision = decide(snapshot, memory.podFacts);
  const decideSeconds = (ports.clock.monotonicMs() - startMs) / 1000;
  const order = orderOf(decision, { pause: circumstances.pause, before: memory.state, now: input.now });
  const hold = whyHeld(input, { circumstances, memory, order });
  return { snapshot, decision, order, hold, result: null, memory, decideSeconds };
}

/**
 * Asks for the age of the samples only before a scale-down, so that all other cycles cost nothing. Recommendations that
 * were recorded while data was late do no harm: the count falls only with a current one. Null: nothing to ask.
 */
function whyOld(
  { scaler, answers }: CycleInput,
  { snapshot, decision, order, hold }: Settled,
): Promise<readonly (string | null)[]> | null {
  // In a pause with a fixed count, the order is that of a user.
  if (decision.action !== 'scale-down' || order !== decision || answers.whyOld === undefined) return null;
  const metrics = new Set<number>();
  for (const [index, sample] of snapshot.samples.entries())
    if (sample.form !== 'error' && sample.partial === null) metrics.add(index);
  const pods = new Set(snapshot.pods.map(({ name }) => name));
  return answers.whyOld(scaler, { metrics, pods, mayBeKept: hold !== null });
}

function withDoubts(samples: readonly Sample[], reasons: readonly (string | null)[]): readonly Sample[] {
  return samples.map((sample, index) => {
    const partial = reasons[index] ?? null;
    return partial === null || sample.form === 'error' ? sample : { ...sample, partial };
  });
}

function execute(
  input: CycleInput,
  ports: CyclePorts,
  begun: Pick<Begun, 'settled' | 'circumstances' | 'decisionsLeft'>,
): Settled | Promise<Settled> {
  const { decision, order, hold, memory } = begun.settled;
  const { target } = begun.circumstances;
  const isFixed = order !== decision;
  const carried = carryOut(input, ports, { target, memory, order, hold, isFixed });
  return carried === null ? begun.settled : settleChange(input, ports, { ...begun, carried });
}

async function settleChange(input: CycleInput, ports: CyclePorts, begun: Begun): Promise<Settled> {
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
