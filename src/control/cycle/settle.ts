import { decide } from '../../decision/decide.js';
import { highestCeiling } from '../../decision/limits/scheduled-bounds.js';
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
import type { CycleInput, CyclePorts } from './ports.js';
import { whyHeld } from './holds.js';
import type { Hold } from './holds.js';

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
 * from that count, up to `MAX_DECISIONS` times. If the samples behind a scale-down are old, their metrics become partial,
 * and it decides again. Returns a promise only if there is something to carry out: most cycles change nothing, and 10,000
 * promises a round would only be garbage.
 */
export function settle(input: CycleInput, ports: CyclePorts, given: Given): Settled | Promise<Settled> {
  const begun = begin(input, ports, given);
  return begun.ages === null && begun.carried === null ? begun.decided : settleLater(input, ports, begun);
}

interface Begun {
  readonly given: Given;
  readonly decided: Settled;
  /** Null: the ages are not asked for. */
  readonly ages: Promise<readonly (string | null)[]> | null;
  /** Null: there is nothing to carry out, or the ages are waited for. */
  readonly carried: Promise<CarriedOut> | null;
}

function begin(input: CycleInput, ports: CyclePorts, given: Given): Begun {
  const decided = decideOn(input, ports, given);
  const ages = whyOld(input, decided);
  return { given, decided, ages, carried: ages === null ? carry(input, ports, { given, decided }) : null };
}

async function settleLater(input: CycleInput, ports: CyclePorts, begun: Begun): Promise<Settled> {
  let { given, decided, ages, carried } = begun;
  let decideSeconds = 0;
  for (let decisionsLeft = MAX_DECISIONS; ; decisionsLeft -= 1) {
    if (ages !== null) {
      const reasons = await ages;
      if (reasons.some((why) => why !== null)) {
        const samples = withDoubts(given.snapshot.samples, reasons);
        decided = decideOn(input, ports, { ...given, snapshot: { ...given.snapshot, samples } });
      }
      carried = carry(input, ports, { given, decided });
    }
    decideSeconds += decided.decideSeconds;
    const settled = { ...decided, decideSeconds };
    if (carried === null) return settled;
    const { result, memory } = await carried;
    if (result?.kind !== 'moved') return { ...settled, result, memory };
    const moved = memoryAfterMove(memory, result, {
      from: decided.decision.currentReplicas,
      now: input.now,
    });
    if (decisionsLeft <= 1) return { ...settled, result, memory: moved };
    const snapshot = snapshotAfterMove(decided.snapshot, result, moved);
    ({ given, decided, ages, carried } = begin(input, ports, { ...given, snapshot, memory: moved }));
  }
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
  // The maximum lowers the count as far without any metric.
  if (decision.desiredReplicas >= highestCeiling(scaler.spec, snapshot.now, snapshot.state.lastScaleUp))
    return null;
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

function carry(
  input: CycleInput,
  ports: CyclePorts,
  { given, decided }: Pick<Begun, 'given' | 'decided'>,
): Promise<CarriedOut> | null {
  const { decision, order, hold, memory } = decided;
  const { target } = given.circumstances;
  return carryOut(input, ports, { target, memory, order, hold, isFixed: order !== decision });
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
