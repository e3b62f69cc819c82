import { decide } from '../decision/decide.js';
import type { Decision } from '../decision/decision.js';
import type { Snapshot } from '../decision/snapshot.js';
import type { OtherScaler } from '../kubernetes/types.js';
import { noChange } from '../telemetry/cycle-record.js';
import type { CycleRecord, Outcome, Pause, Shadow } from '../telemetry/cycle-record.js';
import { scalerKey } from '../scaler/spec.js';
import type { Instant } from '../units/time.js';
import type { ScaleResult } from './act.js';
import { carryOut } from './carry-out.js';
import { changeReason, orderText } from './change-reason.js';
import { afterLook, afterOwnWrite, conflictingWriterOf } from './conflicting-writer.js';
import { nameOtherScaler } from './conflicts.js';
import {
  cannotReadTarget,
  heldCondition,
  uniqueConditions,
  updateFailed,
  updateSucceeded,
} from './loop-conditions.js';
import { lastScales, resolveChange, withMove } from './memory/memory.js';
import type { Memory } from './memory/memory.js';
import { observe } from './observe.js';
import type { Observation } from './observe.js';
import { askedOf } from './order.js';
import { readPause } from './pause.js';
import type { CycleInput, CycleOutput, CyclePorts } from './ports.js';
import { overrideOf, rememberCycle } from './memory/remember.js';
import { isStateChanged, restoreMemory, storedStateOf } from './memory/stored-memory.js';
import { whyHeld } from './why-held.js';
import type { Hold } from './why-held.js';

/** How often a cycle decides anew because somebody changed the count between the decision and the PATCH. */
const MAX_DECISIONS = 3;

/**
 * One cycle: observe, decide, act, and the record of it. Failures of the outside are part of the record; what is
 * thrown is our own fault.
 */
export async function runCycle(given: CycleInput, ports: CyclePorts): Promise<CycleOutput> {
  const startMs = ports.clock.monotonicMs();
  const reading = await ports.state.read(given.scaler);
  const degraded = reading.kind === 'unusable' ? reading.message : null;
  const input = {
    ...given,
    memory: restoreMemory(given.memory, reading, { now: given.now, spec: given.scaler.spec }),
  };
  const observation = await observe(input, ports);
  const observeSeconds = (ports.clock.monotonicMs() - startMs) / 1000;
  if ('failure' in observation) return unobserved(input, ports, { observation, observeSeconds });
  const output = await decideAndAct(input, ports, { observation, observeSeconds, degraded });
  return { ...output, memory: save(input, ports, output.memory) };
}

/** Has stored what is new: in the end only, for what was announced is there already. */
function save({ scaler, memory: before }: CycleInput, ports: CyclePorts, memory: Memory): Memory {
  const { uid } = memory;
  const isUnsaved = memory.isUnsaved || isStateChanged(before, memory, scaler.spec);
  if (!isUnsaved || uid === null) return memory;
  if (!ports.dryRun && ports.leadership.mayWrite()) {
    ports.state.putLater({ scaler, base: memory.stored, state: storedStateOf(memory, scaler.spec, { uid }) });
  }
  return { ...memory, isUnsaved };
}

function unobserved(
  { scaler, memory, now }: CycleInput,
  { dryRun }: CyclePorts,
  seen: { readonly observation: Extract<Observation, { failure: unknown }>; readonly observeSeconds: number },
): CycleOutput {
  const record: CycleRecord = {
    scaler,
    at: now,
    snapshot: null,
    decision: null,
    outcome: noChange(null),
    conditions: cannotReadTarget(seen.observation.failure),
    pause: readPause(scaler.spec, seen.observation.target?.annotations ?? {}, now),
    dryRun: dryRun || scaler.spec.dryRun,
    conflictingWriter: conflictingWriterOf(memory.writer, now) ?? undefined,
    lastScales: lastScales(memory),
    seconds: { observe: seen.observeSeconds, decide: 0, act: 0 },
  };
  return { memory, record, target: seen.observation.target };
}

async function decideAndAct(
  input: CycleInput,
  ports: CyclePorts,
  seen: {
    readonly observation: Extract<Observation, { snapshot: unknown }>;
    readonly observeSeconds: number;
    readonly degraded: string | null;
  },
): Promise<CycleOutput> {
  const { observation, observeSeconds, degraded } = seen;
  const { scaler, sharesTargetWith, now } = input;
  const { clock } = ports;
  const isDryRun = ports.dryRun || scaler.spec.dryRun;
  const decideStartMs = clock.monotonicMs();
  let { snapshot, memory } = observation;
  let decision = decide(snapshot);
  const decideSeconds = (clock.monotonicMs() - decideStartMs) / 1000;
  const { otherScaler, target } = observation;
  const pause = readPause(scaler.spec, target.annotations, now);
  let asked: Decision;
  let hold: Hold | null;
  let result: ScaleResult | null;
  for (let count = 1; ; count += 1) {
    asked = askedOf(decision, { pause, before: memory.state, now });
    hold = whyHeld({ scaler, sharesTargetWith, memory, asked, pause, otherScaler, degraded, isDryRun });
    ({ result, memory } = await carryOut(input, ports, { target, memory, asked, hold }));
    if (result?.kind !== 'moved') break;
    memory = afterMove(memory, result, { from: decision.currentReplicas, now });
    if (count === MAX_DECISIONS) break;
    snapshot = movedTo(snapshot, result, memory);
    decision = decide(snapshot);
  }
  const actSeconds = (clock.monotonicMs() - decideStartMs) / 1000 - decideSeconds;
  const record: CycleRecord = {
    scaler,
    at: now,
    snapshot,
    decision,
    outcome: outcomeOf({ decision, asked, hold, result, pause }),
    reason: changeReason(decision, { asked, pause, wasPaused: memory.wasPaused ?? false }),
    conditions: [
      ...conditionsOf(decision, result),
      heldCondition({
        hold,
        pause,
        override: overrideOf(asked, result),
        degraded: whyDegraded(degraded, result),
      }),
      observation.capacity,
      ...uniqueConditions(input.answers.duplicates?.(scalerKey(scaler)) ?? null),
    ],
    pause,
    dryRun: isDryRun,
    conflictingWriter: conflictingWriterOf(memory.writer, now) ?? undefined,
    shadow: shadowOf(decision, hold, otherScaler),
    seconds: { observe: observeSeconds, decide: decideSeconds, act: actSeconds },
  };
  const remembered = rememberCycle(memory, {
    now,
    endedAt: clock.now(),
    snapshot,
    decision: asked,
    result,
    isHeld: hold !== null,
  });
  const lasting = { ...record, lastScales: lastScales(remembered) };
  return { memory: afterPause(remembered, pause), record: lasting, target };
}

function afterPause(memory: Memory, pause: Pause | null): Memory {
  const isPaused = pause !== null;
  return isPaused === (memory.wasPaused ?? false) ? memory : { ...memory, wasPaused: isPaused };
}

/** What somebody else's change means for ours: one of ours whose outcome is not known may have been it. */
function afterMove(
  memory: Memory,
  moved: Extract<ScaleResult, { kind: 'moved' }>,
  { from, now }: { readonly from: number; readonly now: Instant },
): Memory {
  const look = { replicas: moved.specReplicas, managers: [], now };
  const isOurs = memory.unresolved !== null || moved.afterConflict;
  const writer = isOurs ? afterOwnWrite(memory.writer, null) : afterLook(memory.writer, look);
  const resolved = { ...resolveChange(memory, { ...moved, generation: null }, now), writer };
  if (!moved.afterConflict) return resolved;
  return { ...resolved, state: withMove(resolved.state, moved.specReplicas - from, now) };
}

/** Only while the dry run is what holds: a pause, or a second document, says nothing of the switch to come. */
function shadowOf(decision: Decision, hold: Hold | null, other: OtherScaler | null): Shadow | undefined {
  const theirReplicas = other?.desiredReplicas;
  if (hold?.reason !== 'DryRun' || other === null || theirReplicas === undefined) return undefined;
  const difference = decision.desiredReplicas - theirReplicas;
  return { beside: nameOtherScaler(other), theirReplicas, difference };
}

function whyDegraded(degraded: string | null, result: ScaleResult | null): string | null {
  if (result?.kind === 'unannounced') return result.message;
  return result?.kind === 'patched' && result.unannounced !== null ? result.unannounced : degraded;
}

/** The snapshot from the count that somebody else has set meanwhile. */
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

interface Dealt {
  readonly decision: Decision;
  readonly asked: Decision;
  readonly hold: Hold | null;
  readonly result: ScaleResult | null;
  readonly pause: Pause | null;
}

/** What became of the decision; of the count that a pause keeps, in a cycle that has to go there. */
function outcomeOf({ decision, asked, hold, result, pause }: Dealt): Outcome {
  const { currentReplicas: from, desiredReplicas: to } = asked;
  const order = orderText(decision, pause);
  if (asked.action === 'none' && order !== null && decision.action !== 'none') {
    return { kind: 'paused', from, to: decision.desiredReplicas, message: order };
  }
  if (asked.action === 'none') return noChange(from);
  if (hold !== null) return { kind: hold.outcome, from, to, message: hold.message };
  if (result === null) return noChange(from);
  switch (result.kind) {
    case 'patched':
      return result.replicas === to
        ? { kind: 'patched', from, to, message: order ?? '' }
        : {
            kind: 'replaced',
            from,
            to: result.replicas,
            message: `asked for ${to}, the server made it ${result.replicas}`,
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

function conditionsOf(decision: Decision, result: ScaleResult | null): Decision['conditions'] {
  if (result?.kind === 'patched') return updateSucceeded(decision, result.replicas);
  return result?.kind === 'failed' ? updateFailed(decision, result.message) : decision.conditions;
}
