import { decide } from '../../decision/decide.js';
import { highestMax } from '../../decision/limits/bounds.js';
import type { Decision } from '../../decision/result/decision.js';
import type { Sample, Snapshot } from '../../decision/snapshot/snapshot.js';
import type { Instant } from '../../units/time.js';
import { afterOwnWrite, afterRead } from '../memory/conflicting-writer.js';
import { quarterOf, lastScales, withChange, withoutChange, type Memory } from '../memory/memory.js';
import { isStateChanged, restoreMemory, storedStateOf } from '../memory/stored-memory.js';
import { resolveChange } from '../memory/unresolved-change.js';
import { applyDecision } from './change.js';
import { whyHeld } from './holds.js';
import { setsCount } from './pause.js';
import { nextMemory, withRecord } from './next-memory.js';
import { observe } from './observe.js';
import { buildRecord, buildUnreadRecord } from './build-record.js';
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

/**
 * Maximum number of decisions in a cycle. The cycle decides again if another client changes the count between a
 * decision and its PATCH.
 */
const MAX_DECISIONS = 3;

/**
 * Runs one cycle of a scaler: read, decide, act, record. Failures of other systems become part of the record. The
 * promise rejects only because of a defect of promscaler. Nearly every cycle finds everything in memory, changes
 * nothing, and completes within one event-loop iteration.
 */
export async function runCycle(given: CycleInput, ports: CyclePorts): Promise<CycleOutput> {
  const { scaler, now, readings } = given;
  const { clock } = ports;
  const stored = await ports.state.read(scaler);
  const degraded = stored.kind === 'unusable' ? stored.message : null;
  const restored = restoreMemory(given.memory, stored, { now, spec: scaler.spec });
  const input = restored === given.memory ? given : { ...given, memory: restored };
  const observed = await observe(input, ports, degraded);
  const { target } = observed;
  const observedMs = clock.monotonicMs();
  const observeSeconds = (observedMs - readings.sinceMs) / 1000;
  if ('failure' in observed) {
    const record = buildUnreadRecord(input, observed, observeSeconds);
    return end(input, ports, { memory: restored, record, target });
  }

  const settled = await decideAndAct(input, ports, observed);

  const { decideSeconds } = settled;
  const actSeconds = (clock.monotonicMs() - observedMs) / 1000 - decideSeconds;
  const next = nextMemory(settled, { now, endedAt: clock.now() });
  const record = buildRecord(input, settled, {
    lastScales: lastScales(next),
    seconds: { observe: observeSeconds, decide: decideSeconds, act: actSeconds },
  });
  const memory = save(input, ports, withRecord(next, record));
  return end(input, ports, { memory, record, target });
}

/**
 * Decides and applies the decision. Decides again, up to `MAX_DECISIONS` times, if another client changes the count
 * before the PATCH. Also decides again if a scale-down is based on old samples. The metrics of these samples are then
 * partial.
 */
async function decideAndAct(input: CycleInput, ports: CyclePorts, first: Observed): Promise<Settled> {
  const { clock } = ports;
  let observed = first;
  let decideSeconds = 0;
  const decideOn = (given: Observed): Decided => {
    const startMs = clock.monotonicMs();
    const decision = decide(given.snapshot, given.memory.podFacts);
    decideSeconds += (clock.monotonicMs() - startMs) / 1000;
    const toApply = decisionToApply(decision, given, input.now);
    return { observed: given, decision, toApply, hold: whyHeld(input, given, toApply) };
  };
  for (let decisionsLeft = MAX_DECISIONS; ; decisionsLeft -= 1) {
    let decided = decideOn(observed);
    const reasons = await findOldSamples(input, decided);
    if (reasons?.some((why) => why !== null) === true) decided = decideOn(withDoubts(observed, reasons));
    const changed = await applyDecision(input, ports, decided);
    if (changed === null) {
      const { decision, toApply, hold } = decided;
      // Lists the fields for speed: a spread takes V8 3 us, which is a tenth of a cycle.
      return { observed: decided.observed, decision, toApply, hold, result: null, decideSeconds };
    }
    const { result, memory } = changed;
    const { snapshot } = decided.observed;
    if (result?.kind !== 'moved')
      return { ...decided, observed: { ...decided.observed, memory }, result, decideSeconds };
    const moved = memoryAfterMove(memory, result, { from: decided.decision.currentReplicas, now: input.now });
    observed = { ...decided.observed, memory: moved };
    if (decisionsLeft <= 1) return { ...decided, observed, result, decideSeconds };
    observed = { ...observed, snapshot: snapshotAfterMove(snapshot, result, moved) };
  }
}

/**
 * Returns the decision to apply: the decision itself or, in a pause with a fixed count, a change to that count. The
 * fixed count overrides the bounds; windows and policies include the change. A fixed 0 sets `zeroedBySelf` even if the
 * target is already at 0, so that the target is scaled up again after the pause.
 */
function decisionToApply(decision: Decision, { pause, memory }: Observed, now: Instant): Decision {
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
 * Returns for each metric why its samples are too old for a scale-down; null: they are recent enough. Only a scale-down
 * needs recent samples and queries their ages. If no query is needed, returns null instead of a promise.
 */
function findOldSamples(
  { scaler, followUps }: CycleInput,
  { observed: { snapshot, pause }, decision, hold }: Decided,
): Promise<readonly (string | null)[]> | null {
  if (decision.action !== 'scale-down' || setsCount(pause)) return null;
  if (decision.desiredReplicas >= highestMax(scaler.spec, snapshot.now, snapshot.state.lastScaleUp))
    return null;
  const metrics = new Set<number>();
  for (const [index, sample] of snapshot.samples.entries())
    if (sample.form !== 'error' && sample.partial === null) metrics.add(index);
  const pods = new Set(snapshot.pods.map(({ name }) => name));
  return followUps.whyOld(scaler, { metrics, pods, mayBeKept: hold !== null });
}

function withDoubts(observed: Observed, reasons: readonly (string | null)[]): Observed {
  const samples = observed.snapshot.samples.map((sample, index): Sample => {
    const partial = reasons[index] ?? null;
    return partial === null || sample.form === 'error' ? sample : { ...sample, partial };
  });
  return { ...observed, snapshot: { ...observed.snapshot, samples } };
}

/**
 * Returns the memory after the live count was found to differ. The live count is treated as set by another client,
 * unless an earlier PATCH of this process with an unknown result may have set it.
 */
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

/**
 * Stores the state at the end of a cycle if it has changed. The intent of a change was already stored before its PATCH.
 */
function save(input: CycleInput, ports: CyclePorts, ended: Memory): Memory {
  const { scaler, memory: before, leadership, now } = input;
  const { uid, forecastMarks: marks } = ended;
  const quarter = marks === undefined ? null : quarterOf(scaler, now);
  const isForecastDue = marks !== undefined && quarter !== null && quarter !== marks.quarter;
  const memory = isForecastDue ? { ...ended, forecastMarks: { ...marks, quarter } } : ended;
  const isUnsaved = isForecastDue || memory.isUnsaved || isStateChanged(before, memory, scaler.spec);
  if (!isUnsaved || uid === null) return memory;
  if (!ports.dryRun && leadership.mayWrite()) {
    ports.state.putLater({ scaler, base: memory.stored, state: storedStateOf(memory, scaler.spec, { uid }) });
  }
  return isUnsaved === memory.isUnsaved ? memory : { ...memory, isUnsaved };
}

function end({ signal }: CycleInput, { reporting }: CyclePorts, output: CycleOutput): CycleOutput {
  if (reporting !== undefined) reportCycle(output, { isCanceled: signal.aborted }, reporting);
  return output;
}
