import { bucketOf } from '../kubernetes/state/state-key.js';
import { targetKey } from '../kubernetes/targets.js';
import type { Scaler, TargetRef } from '../scaler/spec.js';
import type { MetricSource } from '../prometheus/metric-source.js';
import type { OnReady } from '../prometheus/queries/round.js';
import { onAbort, untilAborted } from '../units/abort.js';
import { endedWithin, sleep } from '../units/clock.js';
import type { Clock } from '../units/clock.js';
import type { Instant } from '../units/time.js';
import { runCycle } from './cycle/cycle.js';
import { findSharedTargets } from './cycle/shared-targets.js';
import type { CycleInput, CyclePorts } from './cycle/types.js';
import { shiftMemory, watchWallClock } from './memory/clock-jump.js';
import { forNewTerm, freshMemory, type Memory } from './memory/memory.js';
import { createEarlyRound, createInFlight, type Round, runRounds } from './round-times.js';
import type { Shards } from './election/leadership.js';

export interface Controller {
  /**
   * Replaces the set of scalers. A scaler with the same name and target keeps its state. Some scalers are decided
   * within seconds, regardless of their period: new and changed ones, and those whose conflict with another scaler of
   * the target has changed. `all`: the scalers of all replicas, which differ from `scalers` only with sharding. Their
   * targets are watched, too, so that the caches are full when this replica takes over a scaler. Default: `scalers`.
   */
  readonly setScalers: (scalers: readonly Scaler[], all?: readonly Scaler[]) => void;
  /** Decides the scalers of a target within seconds, regardless of their period. */
  readonly decideSoon: (namespace: string, target: TargetRef) => void;
  /**
   * Runs rounds until `signal` is aborted, then waits up to 5 s for running cycles. Each call is a new term (a time as
   * leader): the scalers restart with the memory of `forNewTerm`, and unfinished cycles of the last term patch nothing.
   */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface ControllerPorts {
  readonly clock: Clock;
  /** Whether the caches are filled. The first round waits for them, at most `FIRST_ROUND_WAIT_MS`. */
  readonly isSynced: () => boolean;
  /** Whether the caches are being filled. The first round then waits for them up to `FIRST_LISTS_WAIT_MS`. */
  readonly isListing: () => boolean;
  readonly follow: (scalers: readonly Scaler[]) => void;
  readonly startRound: MetricSource['startRound'];
  readonly cycle: CyclePorts;
  readonly shards: Pick<Shards, 'leadershipOf' | 'track'>;
  readonly onRound: (round: Round) => void;
  /** Called with the seconds by which the wall clock was set forward; negative: back. */
  readonly onClockSet: (seconds: number) => void;
  /** Called if a cycle threw an error. Such an error is a defect of promscaler, never a failure of another system. */
  readonly onFault: (scaler: Scaler, error: unknown) => void;
  readonly onRemoved: (key: string) => void;
}

/**
 * How long the first round waits for the caches: long enough for the first lists of most clusters, short enough for a
 * first decision within 3 s of the start.
 */
const FIRST_ROUND_WAIT_MS = 2000;
/**
 * How long the first round waits while the lists are being read: 100,000 pods take 10 s. An earlier round would send
 * all queries and decide nothing, and its failures would delay the lists further.
 */
const FIRST_LISTS_WAIT_MS = 60_000;
const STOP_WAIT_MS = 5000;
/**
 * A scaler with the answers to its queries. `scaler` is the document that was queried. A reload may have replaced it in
 * the entry since the query.
 */
type AnsweredScaler = Pick<CycleInput, 'scaler' | 'now' | 'readings' | 'followUps' | 'signal'>;

interface Entry {
  readonly key: string;
  /**
   * The bucket with the state of the scaler: a ConfigMap of the state store. With sharding, the replica that owns the
   * bucket decides the scaler.
   */
  readonly bucket: number;
  scaler: Scaler;
  memory: Memory;
  /** The clock changes that are already applied to the times in `memory`: a result of `wallClock.setBySeconds()`. */
  clockSetBy: number;
  /** False once the entry was removed, or replaced by another entry with the same key. */
  isCurrent: boolean;
  /** Whether a cycle is running or waiting for the answers to its queries. */
  isRunning: boolean;
  /**
   * Whether the scaler is to be decided before its next period. True until a cycle has begun with this document and
   * with the current other scalers of its target.
   */
  isEarly: boolean;
  /** The monotonic time of the last early round with this scaler; null: there was none. */
  earlyMs: number | null;
}

/**
 * After an early round, regular rounds skip the scaler for half a period, but at most this long. Otherwise two
 * scale-ups could follow each other at once, and each may double the pods.
 */
const MOST_AFTER_EARLY_MS = 15_000;

/** Creates the control loop. Only tests replace `cycle`. */
export function createController(ports: ControllerPorts, cycle: typeof runCycle = runCycle): Controller {
  const entries = new Map<string, Entry>();
  const loops = new Map<number, { readonly stop: () => void; readonly ended: Promise<void> }>();
  const inFlight = createInFlight();
  let shared: ReturnType<typeof findSharedTargets> = new Map();
  const wallClock = watchWallClock(ports.clock, ports.onClockSet);
  let running: AbortSignal | null = null;
  /**
   * The monotonic time at which the periods of all rounds start. Because the start is common, rounds of different
   * periods often coincide and share their queries.
   */
  let startMs = 0;

  const createEntry = (scaler: Scaler): Entry => ({
    key: scaler.key,
    bucket: bucketOf(scaler),
    scaler,
    memory: freshMemory(ports.clock.now(), null),
    clockSetBy: wallClock.setBySeconds(),
    isCurrent: true,
    isRunning: false,
    isEarly: true,
    earlyMs: null,
  });

  /** Returns a new object, because an unfinished cycle of the last term must not modify the entry of the new term. */
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
    const nowMs = ports.clock.monotonicMs();
    const afterEarlyMs = Math.min(period * 500, MOST_AFTER_EARLY_MS);
    const isDue = ({ isEarly, earlyMs }: Entry): boolean =>
      isEarly || earlyMs === null || nowMs - earlyMs >= afterEarlyMs;
    runDue(period, round, { signal, isDue });
  };

  const runEarly = (): void => {
    if (running === null || running.aborted) return;
    const round = { at: ports.clock.now(), latenessSeconds: 0, missed: 0 };
    const earlyMs = ports.clock.monotonicMs();
    for (const period of loops.keys()) {
      const due = runDue(period, round, { signal: running, isDue: ({ isEarly }) => isEarly });
      for (const entry of due) entry.earlyMs = earlyMs;
    }
    // A scaler whose cycle was still running was skipped. It stays early, so another early round is needed.
    requestEarly();
  };
  const early = createEarlyRound(ports.clock, runEarly);

  const requestEarly = (): void => {
    const isRunning = running !== null && !running.aborted;
    if (isRunning && [...entries.values()].some(({ isEarly }) => isEarly)) early.request();
  };

  const runDue = (
    period: number,
    round: Round,
    { signal, isDue }: { readonly signal: AbortSignal; readonly isDue: (entry: Entry) => boolean },
  ): readonly Entry[] => {
    const due = [...entries.values()].filter(
      (entry) => entry.scaler.spec.syncPeriodSeconds === period && !entry.isRunning && isDue(entry),
    );
    if (due.length === 0) return due;
    const entryOf = new Map(due.map((entry) => [entry.scaler, entry]));
    for (const entry of due) {
      followClock(entry, wallClock.setBySeconds(), round.at);
      entry.isRunning = true;
      entry.isEarly = false;
      inFlight.begin();
    }
    const decideAnswered: OnReady = (scaler, readings, followUps) => {
      const entry = entryOf.get(scaler);
      if (entry !== undefined) void runEntry(entry, { scaler, now: round.at, readings, followUps, signal });
    };
    ports.startRound([...entryOf.keys()], signal, decideAnswered);
    return due;
  };

  /** Never rejects: a rejection would leave the entry marked as running, and it would never be decided again. */
  const runEntry = async (entry: Entry, answered: AnsweredScaler): Promise<void> => {
    const { scaler } = answered;
    try {
      // The scaler was removed, or another term began, while the cycle waited for its answers. The answers are dropped.
      if (!entry.isCurrent) return;
      const { bucket } = entry;
      const sharesTargetWith = shared.get(entry.key) ?? null;
      const input = {
        ...answered,
        memory: entry.memory,
        leadership: ports.shards.leadershipOf(bucket),
        sharesTargetWith,
        // Forbids the PATCH if the scaler was removed, its document has changed, or another scaler of the target has
        // appeared since the query.
        isCurrent: () =>
          entry.isCurrent &&
          entry.scaler === scaler &&
          shared.get(entry.key)?.name === sharesTargetWith?.name,
      };
      const output = await ports.shards.track(bucket, () => cycle(input, ports.cycle));
      entry.memory = output.memory;
      // The scaler was removed during this cycle. The cycle has added a record after that, so the record is removed.
      if (!entries.has(entry.key)) ports.onRemoved(entry.key);
    } catch (error) {
      ports.onFault(scaler, error);
    } finally {
      entry.isRunning = false;
      inFlight.end();
    }
  };

  return {
    setScalers: (scalers, all = scalers) => {
      const keys = new Set(scalers.map(({ key }) => key));
      for (const [key, entry] of entries) {
        if (keys.has(key)) continue;
        entry.isCurrent = false;
        entries.delete(key);
        ports.onRemoved(key);
      }
      for (const scaler of scalers) keepOrAdd(entries, scaler, createEntry);
      const before = shared;
      shared = findSharedTargets(all);
      for (const [key, entry] of entries)
        if (before.get(key)?.name !== shared.get(key)?.name) entry.isEarly = true;
      ports.follow(all);
      startLoops();
      requestEarly();
    },
    decideSoon: (namespace, target) => {
      for (const entry of entries.values()) {
        const { scaler } = entry;
        const { scaleTargetRef } = scaler.spec;
        // Compares names before the slower `targetKey`, because the hand-over of a fleet removes thousands of HPAs.
        if (scaler.namespace !== namespace || scaleTargetRef.name !== target.name) continue;
        entry.isEarly ||= targetKey(namespace, scaleTargetRef) === targetKey(namespace, target);
        requestEarly();
      }
    },
    run: async (signal) => {
      await waitForSync(ports, signal);
      for (const [key, entry] of entries) {
        entries.set(key, entryForNewTerm(entry));
        entry.isCurrent = false;
      }
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

function keepOrAdd(
  entries: Map<string, Entry>,
  scaler: Scaler,
  createEntry: (scaler: Scaler) => Entry,
): void {
  const { key } = scaler;
  const old = entries.get(key);
  // The usual case: a reload leaves nearly every document unchanged.
  if (old?.scaler === scaler) return;
  const isSameTarget =
    old !== undefined &&
    targetKey(old.scaler.namespace, old.scaler.spec.scaleTargetRef) ===
      targetKey(scaler.namespace, scaler.spec.scaleTargetRef);
  if (isSameTarget) {
    old.isEarly = true;
    old.scaler = scaler;
    return;
  }
  if (old !== undefined) old.isCurrent = false;
  entries.set(key, createEntry(scaler));
}

/** Shifts the times in memory if the wall clock was set. */
function followClock(entry: Entry, setBySeconds: number, now: Instant): void {
  if (entry.clockSetBy === setBySeconds) return;
  entry.memory = shiftMemory(entry.memory, setBySeconds - entry.clockSetBy, now);
  entry.clockSetBy = setBySeconds;
}
