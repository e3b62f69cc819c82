import type { Pause } from '../telemetry/cycle-record.js';
import { buildRecord, buildUnreadRecord } from './record/build-record.js';
import { lastScales } from './memory/memory.js';
import type { Memory } from './memory/memory.js';
import { rememberCycle } from './record/remember.js';
import { isStateChanged, storedStateOf } from './memory/stored-state.js';
import { restoreMemory } from './memory/restore-memory.js';
import { observe } from './observe/observe.js';
import type { Observation } from './observe/observe.js';
import { readPause } from './change/pause.js';
import type { CycleInput, CycleOutput, CyclePorts } from './ports/ports.js';
import { settle } from './change/settle.js';

/**
 * Runs one cycle: observe, decide, act, record. Failures of other systems become part of the record. A thrown error is
 * a defect of promscaler.
 */
export async function runCycle(given: CycleInput, ports: CyclePorts): Promise<CycleOutput> {
  const startMs = ports.clock.monotonicMs();
  const { scaler, now } = given;
  const reading = await ports.state.read(scaler);
  const degraded = reading.kind === 'unusable' ? reading.message : null;
  const input = { ...given, memory: restoreMemory(given.memory, reading, { now, spec: scaler.spec }) };
  const observation = await observe(input, ports);
  const observeSeconds = (ports.clock.monotonicMs() - startMs) / 1000;
  const pause = readPause(scaler.spec, observation.target?.annotations ?? {}, now);
  const isDryRun = ports.dryRun || scaler.spec.dryRun;
  if ('failure' in observation) {
    const record = buildUnreadRecord(input, { observation, pause, isDryRun, observeSeconds });
    return { memory: input.memory, record, target: observation.target };
  }
  const output = await decideAndAct(input, ports, { observation, observeSeconds, degraded, pause, isDryRun });
  return { ...output, memory: save(input, ports, output.memory) };
}

async function decideAndAct(
  input: CycleInput,
  ports: CyclePorts,
  seen: {
    readonly observation: Extract<Observation, { snapshot: unknown }>;
    readonly observeSeconds: number;
    readonly degraded: string | null;
    readonly pause: Pause | null;
    readonly isDryRun: boolean;
  },
): Promise<CycleOutput> {
  const { clock } = ports;
  const { observation, pause, degraded, isDryRun } = seen;
  const { target, otherScaler, capacity } = observation;
  const startMs = clock.monotonicMs();
  const circumstances = { target, otherScaler, pause, degraded, isDryRun };
  const settled = await settle(input, ports, { ...observation, circumstances });
  const { decideSeconds } = settled;
  const actSeconds = (clock.monotonicMs() - startMs) / 1000 - decideSeconds;
  const seconds = { observe: seen.observeSeconds, decide: decideSeconds, act: actSeconds };
  const record = buildRecord(input, { settled, circumstances, capacity, seconds });
  const remembered = rememberCycle(settled.memory, {
    now: input.now,
    endedAt: clock.now(),
    snapshot: settled.snapshot,
    decision: settled.order,
    result: settled.result,
    isHeld: settled.hold !== null,
  });
  const memory = afterPause(remembered, pause !== null);
  return { memory, record: { ...record, lastScales: lastScales(remembered) }, target };
}

function afterPause(memory: Memory, isPaused: boolean): Memory {
  return isPaused === (memory.wasPaused ?? false) ? memory : { ...memory, wasPaused: isPaused };
}

/** Stores a changed state at the end of the cycle. The intent of a change was stored before its PATCH. */
function save({ scaler, memory: before }: CycleInput, ports: CyclePorts, memory: Memory): Memory {
  const { uid } = memory;
  const isUnsaved = memory.isUnsaved || isStateChanged(before, memory, scaler.spec);
  if (!isUnsaved || uid === null) return memory;
  if (!ports.dryRun && ports.leadership.mayWrite()) {
    ports.state.putLater({ scaler, base: memory.stored, state: storedStateOf(memory, scaler.spec, { uid }) });
  }
  return { ...memory, isUnsaved };
}
