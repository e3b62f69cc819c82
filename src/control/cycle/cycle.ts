import { decide } from '../../decision/decide.js';
import { highestCeiling } from '../../decision/limits/scheduled-bounds.js';
import type { Decision } from '../../decision/result/decision.js';
import type { Sample, Snapshot } from '../../decision/snapshot/snapshot.js';
import type { Instant } from '../../units/time.js';
import { afterOwnWrite, afterRead } from '../memory/conflicting-writer.js';
import { lastScales, withChange, withoutChange } from '../memory/memory.js';
import type { Memory } from '../memory/memory.js';
import { isStateChanged, storedStateOf } from '../memory/stored-memory.js';
import { resolveChange } from '../memory/unresolved-change.js';
import { carryOut } from './change.js';
import { whyHeld } from './holds.js';
import { nextMemory, withRecord } from './next-memory.js';
import { observe, readLater, readNow } from './observe.js';
import { buildRecord, buildUnreadRecord } from './record.js';
import { reportCycle } from './report.js';
import type {
  CycleInput,
  CycleOutput,
  CyclePorts,
  Decided,
  Observed,
  ScaleResult,
  Settled,
} from './types.js';

/** Decisions per cycle: another client may change the count between a decision and its PATCH. */
const MAX_DECISIONS = 3;

/**
 * Runs one cycle of a scaler: read, decide, act, record. Failures of other systems become part of the record. An error
 * with which the promise rejects is a defect of promscaler. Nearly every cycle finds everything in memory and changes
 * nothing: it then ends without a wait. With a wait for each read, 10,000 cycles take 1.5 to 1.9 times the CPU time.
 */
export async function runCycle(given: CycleInput, ports: CyclePorts): Promise<CycleOutput> {
  const { clock } = ports;
  const read = readNow(given, ports) ?? (await readLater(given, ports));
  const { input, target } = read;
  const observed = observe(read, ports);
  const observedMs = clock.monotonicMs();
  const observeSeconds = (observedMs - input.readings.sinceMs) / 1000;
  if ('failure' in observed) {
    const record = buildUnreadRecord(input, observed, observeSeconds);
    return report(input, ports, { memory: input.memory, record, target });
  }

  const decided = decideOn(input, ports, { observed, decideSeconds: 0 });
  const step = nextStep(input, ports, decided);
  const settled = step === null ? unchanged(decided) : await act(input, ports, { decided, step });

  const { decideSeconds } = settled;
  const actSeconds = (clock.monotonicMs() - observedMs) / 1000 - decideSeconds;
  const next = nextMemory(settled, { now: input.now, endedAt: clock.now() });
  const record = buildRecord(input, settled, {
    lastScales: lastScales(next),
    seconds: { observe: observeSeconds, decide: decideSeconds, act: actSeconds },
  });
  const memory = save(input, ports, withRecord(next, record));
  return report(input, ports, { memory, record, target });
}

/** A spread would take V8 ten times as long, in each cycle. */
function unchanged({ observed, decision, order, hold, decideSeconds }: Decided): Settled {
  return { observed, decision, order, hold, decideSeconds, result: null };
}

/** `decideSeconds`: the time that earlier decisions of the cycle took. */
function decideOn(
  input: CycleInput,
  { clock }: CyclePorts,
  { observed, decideSeconds }: Pick<Decided, 'observed' | 'decideSeconds'>,
): Decided {
  const startMs = clock.monotonicMs();
  const decision = decide(observed.snapshot, observed.memory.podFacts);
  const seconds = decideSeconds + (clock.monotonicMs() - startMs) / 1000;
  const order = orderOf(decision, observed, input.now);
  const hold = whyHeld(input, observed, order);
  return { observed, decision, order, hold, decideSeconds: seconds };
}

/** Queries that check a decision, or else the change that carries it out. */
interface Step {
  readonly ages: ReturnType<typeof whyOld>;
  readonly change: ReturnType<typeof carryOut>;
}

/** Null: there is nothing to query, to change or to check. */
function nextStep(input: CycleInput, ports: CyclePorts, decided: Decided): Step | null {
  const ages = whyOld(input, decided);
  const change = ages === null ? carryOut(input, ports, decided) : null;
  return ages === null && change === null ? null : { ages, change };
}

/**
 * Carries out a decision. If another client has changed the count in between, decides again from that count, up to
 * `MAX_DECISIONS` times. If the samples behind a scale-down are old, their metrics become partial, and it decides again.
 */
async function act(
  input: CycleInput,
  ports: CyclePorts,
  first: { readonly decided: Decided; readonly step: Step },
): Promise<Settled> {
  let { decided } = first;
  let step: Step | null = first.step;
  for (let decisionsLeft = MAX_DECISIONS; ; decisionsLeft -= 1) {
    let change = step?.change ?? null;
    const reasons = (await step?.ages) ?? null;
    if (reasons !== null) {
      if (reasons.some((why) => why !== null)) {
        const { decideSeconds } = decided;
        decided = decideOn(input, ports, { observed: withDoubts(decided.observed, reasons), decideSeconds });
      }
      change = carryOut(input, ports, decided);
    }
    if (change === null) return unchanged(decided);
    const { result, memory } = await change;
    const observed = { ...decided.observed, memory };
    if (result?.kind !== 'moved') return { ...decided, observed, result };
    const moved = memoryAfterMove(memory, result, { from: decided.decision.currentReplicas, now: input.now });
    if (decisionsLeft <= 1) return { ...decided, observed: { ...observed, memory: moved }, result };
    const snapshot = snapshotAfterMove(observed.snapshot, result, moved);
    const { decideSeconds } = decided;
    decided = decideOn(input, ports, { observed: { ...observed, snapshot, memory: moved }, decideSeconds });
    step = nextStep(input, ports, decided);
  }
}

/**
 * Returns the decision to carry out: the decision itself or, in a pause with a fixed count, the change to that count.
 * The fixed count overrides the bounds, and the change counts for windows and policies. A fixed 0 sets `zeroedBySelf`,
 * even if the target is already at 0, so that the target is scaled up again after the pause.
 */
function orderOf(decision: Decision, { pause, memory }: Observed, now: Instant): Decision {
  const replicas = pause?.replicas ?? null;
  if (replicas === null) return decision;
  const change = replicas - decision.currentReplicas;
  const state = {
    ...withoutChange(decision.state, memory.state, decision.currentReplicas),
    zeroedBySelf: replicas === 0,
  };
  if (change === 0) return { ...decision, desiredReplicas: replicas, action: 'none', state };
  const scaleEvents = [...state.scaleEvents, { at: now, change }];
  return {
    ...decision,
    desiredReplicas: replicas,
    action: change > 0 ? 'scale-up' : 'scale-down',
    state: withChange({ ...state, scaleEvents }, change, now),
  };
}

/**
 * Queries the age of the samples before a scale-down only, so that all other cycles cost nothing. Recommendations that
 * were recorded while data was late do no harm: the count falls only with a current one. Null: nothing to query.
 */
function whyOld(
  { scaler, answers }: CycleInput,
  { observed: { snapshot }, decision, order, hold }: Decided,
): Promise<readonly (string | null)[]> | null {
  // A user sets the fixed count of a pause.
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

function withDoubts(observed: Observed, reasons: readonly (string | null)[]): Observed {
  const samples = observed.snapshot.samples.map((sample, index): Sample => {
    const partial = reasons[index] ?? null;
    return partial === null || sample.form === 'error' ? sample : { ...sample, partial };
  });
  return { ...observed, snapshot: { ...observed.snapshot, samples } };
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

/** Stores a changed state at the end of the cycle. The intent of a change was stored before its PATCH. */
function save({ scaler, memory: before, leadership }: CycleInput, ports: CyclePorts, memory: Memory): Memory {
  const { uid } = memory;
  const isUnsaved = memory.isUnsaved || isStateChanged(before, memory, scaler.spec);
  if (!isUnsaved || uid === null) return memory;
  if (!ports.dryRun && leadership.mayWrite()) {
    ports.state.putLater({ scaler, base: memory.stored, state: storedStateOf(memory, scaler.spec, { uid }) });
  }
  return isUnsaved === memory.isUnsaved ? memory : { ...memory, isUnsaved };
}

function report({ signal }: CycleInput, ports: CyclePorts, output: CycleOutput): CycleOutput {
  if (ports.report !== undefined) reportCycle(output, { isCanceled: signal.aborted }, ports.report);
  return output;
}
