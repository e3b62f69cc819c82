import type { Condition } from '../../decision/result/decision.js';
import type { StateReading } from '../../kubernetes/state/state-store.js';
import type { CycleRecord } from '../../telemetry/cycle-record.js';
import type { Awaitable } from '../../units/awaitable.js';
import { buildRecord, buildUnreadRecord } from './record.js';
import { lastScales } from '../memory/memory.js';
import type { Memory } from '../memory/memory.js';
import { rememberCycle } from './next-memory.js';
import { isStateChanged, storedStateOf } from '../memory/stored-state.js';
import { restoreMemory } from '../memory/stored-memory.js';
import { observe } from './observe.js';
import type { Observation } from './observe.js';
import type { Circumstances } from './circumstances.js';
import { readPause } from './pause.js';
import { addServers, readAges } from './readings.js';
import type { AnsweredCycle, CycleInput, CycleOutput, CyclePorts } from './ports.js';
import { settle } from './settle.js';
import type { Settled } from './settle.js';

/** Waits for the answers of a scaler and runs its cycle. */
export async function runCycle(given: CycleInput, ports: CyclePorts): Promise<CycleOutput> {
  const { scaler, answers } = given;
  const sinceMs = ports.clock.monotonicMs();
  const results = await answers.of(scaler);
  const ages = await readAges(addServers(new Map(), scaler.spec.metrics, results), answers);
  return runAnsweredCycle({ ...given, readings: { results, ages, sinceMs } }, ports);
}

/**
 * Runs one cycle: observe, decide, act, record. Failures of other systems become part of the record. An error that is
 * thrown, or with which the promise rejects, is a defect of promscaler. Returns a promise only if there is something to
 * wait for: in nearly every cycle, caches have everything and nothing is to be changed.
 */
export function runAnsweredCycle(given: AnsweredCycle, ports: CyclePorts): Awaitable<CycleOutput> {
  const reading = ports.state.read(given.scaler);
  return reading instanceof Promise
    ? reading.then((known) => observeAndSettle(given, ports, known))
    : observeAndSettle(given, ports, reading);
}

function observeAndSettle(
  given: AnsweredCycle,
  ports: CyclePorts,
  reading: StateReading,
): Awaitable<CycleOutput> {
  const { scaler, now } = given;
  const degraded = reading.kind === 'unusable' ? reading.message : null;
  const memory = restoreMemory(given.memory, reading, { now, spec: scaler.spec });
  const input = memory === given.memory ? given : { ...given, memory };
  const observation = observe(input, ports);
  return observation instanceof Promise
    ? observation.then((seen) => settleObserved(input, ports, { observation: seen, degraded }))
    : settleObserved(input, ports, { observation, degraded });
}

function settleObserved(
  input: AnsweredCycle,
  ports: CyclePorts,
  { observation, degraded }: { readonly observation: Observation; readonly degraded: string | null },
): Awaitable<CycleOutput> {
  const { scaler, now, readings } = input;
  const settleMs = ports.clock.monotonicMs();
  const observeSeconds = (settleMs - readings.sinceMs) / 1000;
  const pause = readPause(scaler.spec, observation.target?.annotations ?? {}, now);
  const isDryRun = ports.dryRun || scaler.spec.dryRun;
  if ('failure' in observation) {
    const record = buildUnreadRecord(input, { observation, pause, isDryRun, observeSeconds });
    return { memory: input.memory, record, target: observation.target };
  }
  const { target, otherScaler, snapshot } = observation;
  const circumstances = { target, otherScaler, pause, degraded, isDryRun };
  const settling = settle(input, ports, { snapshot, memory: observation.memory, circumstances });
  const begun = { circumstances, capacity: observation.capacity, observeSeconds, settleMs };
  return settling instanceof Promise
    ? finishLater(input, ports, { settling, begun })
    : finish(input, ports, { settled: settling, begun });
}

interface BegunCycle {
  readonly circumstances: Circumstances;
  readonly capacity: Condition;
  readonly observeSeconds: number;
  /** Monotonic time after it. */
  readonly settleMs: number;
}

async function finishLater(
  input: CycleInput,
  ports: CyclePorts,
  { settling, begun }: { readonly settling: Promise<Settled>; readonly begun: BegunCycle },
): Promise<CycleOutput> {
  return finish(input, ports, { settled: await settling, begun });
}

function finish(
  input: CycleInput,
  ports: CyclePorts,
  { settled, begun }: { readonly settled: Settled; readonly begun: BegunCycle },
): CycleOutput {
  const { circumstances, capacity, observeSeconds, settleMs } = begun;
  const { decideSeconds } = settled;
  const actSeconds = (ports.clock.monotonicMs() - settleMs) / 1000 - decideSeconds;
  const remembered = rememberCycle(settled.memory, {
    now: input.now,
    endedAt: ports.clock.now(),
    snapshot: settled.snapshot,
    decision: settled.order,
    result: settled.result,
    isHeld: settled.hold !== null,
  });
  const record = buildRecord(input, {
    settled,
    circumstances,
    capacity,
    lastScales: lastScales(remembered),
    seconds: { observe: observeSeconds, decide: decideSeconds, act: actSeconds },
  });
  const memory = afterRecord(remembered, record);
  return { memory: save(input, ports, memory), record, target: circumstances.target };
}

function afterRecord(memory: Memory, { pause, dryRun, conditions }: CycleRecord): Memory {
  const wasPaused = pause !== null;
  const wasDryRun = dryRun || (memory.wasDryRun ?? false);
  const isSame =
    wasPaused === (memory.wasPaused ?? false) &&
    wasDryRun === (memory.wasDryRun ?? false) &&
    conditions === memory.conditions;
  return isSame ? memory : { ...memory, wasPaused, wasDryRun, conditions };
}

/** Stores a changed state at the end of the cycle. The intent of a change was stored before its PATCH. */
function save({ scaler, memory: before }: CycleInput, ports: CyclePorts, memory: Memory): Memory {
  const { uid } = memory;
  const isUnsaved = memory.isUnsaved || isStateChanged(before, memory, scaler.spec);
  if (!isUnsaved || uid === null) return memory;
  if (!ports.dryRun && ports.leadership.mayWrite()) {
    ports.state.putLater({ scaler, base: memory.stored, state: storedStateOf(memory, scaler.spec, { uid }) });
  }
  return isUnsaved === memory.isUnsaved ? memory : { ...memory, isUnsaved };
}
