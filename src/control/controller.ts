import type { Scaler } from '../scaler/spec.js';
import { scalerKey } from '../scaler/spec.js';
import type { RoundAnswers } from '../prometheus/planner.js';
import { onAbort } from '../units/abort.js';
import { endedWithin, sleep } from '../units/clock.js';
import type { Clock } from '../units/clock.js';
import type { Instant } from '../units/time.js';
import { findSharedTargets, targetKey } from './observe/shared-targets.js';
import { createEarlyRound } from './rounds/early-round.js';
import { createInFlight } from './rounds/in-flight.js';
import type { CycleInput, CycleOutput } from './ports/ports.js';
import { shiftMemory, watchWallClock } from './memory/clock-jump.js';
import { forNewTerm, freshMemory } from './memory/memory.js';
import type { Memory } from './memory/memory.js';
import { runRounds } from './rounds/rounds.js';
import type { Round } from './rounds/rounds.js';

export interface Controller {
  /**
   * Replaces the set of scalers. A scaler with the same name and target keeps its state. New and changed scalers are
   * decided within seconds, regardless of their period. `all`: with sharding, the scalers of all replicas; their
   * targets are watched, so that the caches are full at a takeover. Default: `scalers`.
   */
  readonly setScalers: (scalers: readonly Scaler[], all?: readonly Scaler[]) => void;
  /**
   * Runs rounds until `signal` is aborted. Resolves when no cycle is running, at most 5 s later. Each call is a new
   * term: memories restart, and unfinished cycles of the last term patch nothing.
   */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface ControllerPorts {
  readonly clock: Clock;
  /** Whether the caches are filled. The first round waits for that, at most `FIRST_ROUND_WAIT_MS`. */
  readonly isSynced: () => boolean;
  /** Whether they are being filled: then the first round waits at most `FIRST_LISTS_WAIT_MS`. */
  readonly isListing: () => boolean;
  readonly follow: (scalers: readonly Scaler[]) => void;
  readonly startRound: (
    due: readonly { readonly scaler: Scaler; readonly periodSeconds: number }[],
    signal: AbortSignal,
  ) => RoundAnswers;
  readonly runCycle: (input: CycleInput) => Promise<CycleOutput>;
  readonly onRound: (round: Round) => void;
  /** Seconds by which the wall clock was set forward; negative: back. */
  readonly onClockSet: (seconds: number) => void;
  /** A cycle threw an error: a defect of promscaler, never a failure of another system. */
  readonly onFault: (scaler: Scaler, error: unknown) => void;
  readonly onRemoved: (key: string) => void;
}

interface Entry {
  scaler: Scaler;
  memory: Memory;
  /** Total seconds by which the wall clock had been set when the memory was last updated. */
  clockSetBy: number;
  isRunning: boolean;
  /** Whether no cycle has run with this document yet. */
  isNew: boolean;
}

/** Long enough for the first lists, short enough for a first decision within 3 s of the start. */
const FIRST_ROUND_WAIT_MS = 2000;
/**
 * 100,000 pods take 10 s to list. A round before the end would query for all scalers and decide for none, and its
 * failures would delay the lists further.
 */
const FIRST_LISTS_WAIT_MS = 60_000;
const STOP_WAIT_MS = 5000;
/** About 10 ms of work. All 10,000 cycles in one turn of the event loop delay probes and the Lease by 0.5 s. */
const CYCLES_AT_ONCE = 256;

/** `scaler`: the document that `answers` are for; a reload may replace that of the entry. */
interface DueCycle {
  readonly entry: Entry;
  readonly scaler: Scaler;
  readonly round: Round;
  readonly answers: RoundAnswers;
  readonly signal: AbortSignal;
}

export function createController(ports: ControllerPorts): Controller {
  const entries = new Map<string, Entry>();
  const loops = new Map<number, { readonly stop: () => void; readonly ended: Promise<void> }>();
  const inFlight = createInFlight();
  let shared: ReadonlyMap<string, string> = new Map();
  const wallClock = watchWallClock(ports.clock, ports.onClockSet);
  let running: AbortSignal | null = null;
  /** The slots of all periods count from here: periods meet as often as they can, and share their queries. */
  let startMs = 0;

  const createEntry = (scaler: Scaler): Entry => ({
    scaler,
    memory: freshMemory(ports.clock.now(), null),
    clockSetBy: wallClock.setBySeconds(),
    isRunning: false,
    isNew: true,
  });

  /** A new object, so that an unfinished cycle of the last term cannot modify it. */
  const entryForNewTerm = (entry: Entry): Entry => {
    const next = { ...entry, isRunning: false };
    const now = ports.clock.now();
    followClock(next, wallClock.setBySeconds(), now);
    return { ...next, memory: forNewTerm(next.memory, now) };
  };

  const startLoops = (): void => {
    if (running === null || running.aborted) return;
    const wanted = new Set([...entries.values()].map(({ scaler }) => scaler.spec.syncPeriodSeconds));
    for (const [period, loop] of loops) {
      if (wanted.has(period)) continue;
      loop.stop();
      loops.delete(period);
    }
    for (const period of wanted) {
      if (!loops.has(period)) loops.set(period, startLoop(period, running));
    }
  };

  const startLoop = (period: number, parent: AbortSignal): { stop: () => void; ended: Promise<void> } => {
    const controller = new AbortController();
    const stop = (): void => controller.abort();
    const forget = onAbort(parent, stop);
    const onRound = (round: Round): void => runRound(period, round, parent);
    const ended = runRounds(ports.clock, period, { startMs, signal: controller.signal, onRound }).finally(
      forget,
    );
    return { stop, ended };
  };

  const runRound = (period: number, round: Round, signal: AbortSignal): void => {
    ports.onRound(round);
    runDue(period, round, { signal, isDue: () => true });
  };

  const runEarly = (): void => {
    if (running === null || running.aborted) return;
    const round = { at: ports.clock.now(), latenessSeconds: 0, missed: 0 };
    for (const period of loops.keys())
      runDue(period, round, { signal: running, isDue: ({ isNew }) => isNew });
    // A scaler whose last cycle is still running was skipped and stays new.
    requestEarly();
  };
  const early = createEarlyRound(ports.clock, runEarly);

  const requestEarly = (): void => {
    const isRunning = running !== null && !running.aborted;
    if (isRunning && [...entries.values()].some(({ isNew }) => isNew)) early.request();
  };

  const runDue = (
    period: number,
    round: Round,
    { signal, isDue }: { readonly signal: AbortSignal; readonly isDue: (entry: Entry) => boolean },
  ): void => {
    const due = [...entries.values()].filter(
      (entry) => entry.scaler.spec.syncPeriodSeconds === period && !entry.isRunning && isDue(entry),
    );
    if (due.length === 0) return;
    for (const entry of due) followClock(entry, wallClock.setBySeconds(), round.at);
    const requests = due.map(({ scaler }) => ({ scaler, periodSeconds: period }));
    const answers = ports.startRound(requests, signal);
    const cycles = due.map((entry) => {
      entry.isRunning = true;
      entry.isNew = false;
      return { entry, scaler: entry.scaler, round, answers, signal };
    });
    startCycles(cycles, 0);
  };

  const startCycles = (cycles: readonly DueCycle[], first: number): void => {
    const next = first + CYCLES_AT_ONCE;
    for (const cycle of cycles.slice(first, next)) {
      // The term has ended while the cycle waited for its turn.
      if (first > 0 && cycle.signal.aborted) cycle.entry.isRunning = false;
      else void runEntry(cycle);
    }
    if (next < cycles.length) ports.clock.after(0, () => startCycles(cycles, next));
  };

  /** Never rejects. */
  const runEntry = async ({ entry, scaler, round, answers, signal }: DueCycle): Promise<void> => {
    const key = scalerKey(scaler);
    inFlight.begin();
    try {
      const output = await ports.runCycle({
        scaler,
        memory: entry.memory,
        now: round.at,
        answers,
        sharesTargetWith: shared.get(key) ?? null,
        // After a scaler is removed or its document changes, its running cycle must not patch.
        isCurrent: () => entries.get(key) === entry && entry.scaler === scaler,
        signal,
      });
      entry.memory = output.memory;
      // The scaler was removed during this cycle, which has just recorded it again.
      if (!entries.has(key)) ports.onRemoved(key);
    } catch (error) {
      ports.onFault(scaler, error);
    } finally {
      entry.isRunning = false;
      inFlight.end();
    }
  };

  return {
    setScalers: (scalers, all = scalers) => {
      const keys = new Set(scalers.map(scalerKey));
      for (const key of entries.keys()) {
        if (keys.has(key)) continue;
        entries.delete(key);
        ports.onRemoved(key);
      }
      for (const scaler of scalers) keepOrAdd(entries, scaler, createEntry);
      shared = findSharedTargets(all);
      ports.follow(all);
      startLoops();
      requestEarly();
    },
    run: async (signal) => {
      await waitForSync(ports, signal);
      for (const [key, entry] of entries) entries.set(key, entryForNewTerm(entry));
      running = signal;
      startMs = ports.clock.monotonicMs();
      startLoops();
      await untilAborted(signal);
      early.cancel();
      await Promise.all([...loops.values()].map(({ ended }) => ended));
      loops.clear();
      await endedWithin(ports.clock, STOP_WAIT_MS, inFlight.untilNone());
    },
  };
}

function keepOrAdd(
  entries: Map<string, Entry>,
  scaler: Scaler,
  createEntry: (scaler: Scaler) => Entry,
): void {
  const key = scalerKey(scaler);
  const old = entries.get(key);
  // Nearly every document of a reload is an old one.
  if (old?.scaler === scaler) return;
  const isSameTarget =
    old !== undefined &&
    targetKey(old.scaler.namespace, old.scaler.spec.scaleTargetRef) ===
      targetKey(scaler.namespace, scaler.spec.scaleTargetRef);
  if (isSameTarget) {
    old.isNew = true;
    old.scaler = scaler;
  } else entries.set(key, createEntry(scaler));
}

function followClock(entry: Entry, setBySeconds: number, now: Instant): void {
  if (entry.clockSetBy === setBySeconds) return;
  entry.memory = shiftMemory(entry.memory, setBySeconds - entry.clockSetBy, now);
  entry.clockSetBy = setBySeconds;
}

async function waitForSync(
  { clock, isSynced, isListing }: ControllerPorts,
  signal: AbortSignal,
): Promise<void> {
  const startMs = clock.monotonicMs();
  const maxMs = (): number => (isListing() ? FIRST_LISTS_WAIT_MS : FIRST_ROUND_WAIT_MS);
  while (!signal.aborted && !isSynced() && clock.monotonicMs() - startMs < maxMs()) {
    await sleep(clock, 20, signal);
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => onAbort(signal, resolve));
}
