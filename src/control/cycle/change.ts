import { widestBounds } from '../../decision/limits/bounds.js';
import { KubernetesError, UNKNOWN_OUTCOME } from '../../kubernetes/api/types.js';
import type { Cluster, Scale, ScalePatch, ScaleTarget } from '../../kubernetes/api/types.js';
import { rateLimitMs } from '../../kubernetes/requests/retry.js';
import type { PutResult } from '../../kubernetes/state/choose-writes.js';
import { intendedCounts } from '../../kubernetes/state/state-entry.js';
import type { Intent } from '../../kubernetes/state/state-entry.js';
import { sleep } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';
import { MAX_REPLICAS } from '../../units/bounds.js';
import { createSemaphore } from '../../units/semaphore.js';
import { type Instant, secondsBetween } from '../../units/time.js';
import type { Leadership } from '../election/leadership.js';
import type { Memory } from '../memory/memory.js';
import { storedStateOf } from '../memory/stored-memory.js';
import { INTENT_SECONDS } from '../../kubernetes/state/scale-events.js';
import { isUnderWay } from '../memory/unresolved-change.js';
import { setsCount } from './pause.js';
import type { CycleInput, CyclePorts, Decided, ScaleResult } from './types.js';

interface Applied {
  /** The result of the PATCH; null: nothing was changed, only checked. */
  readonly result: ScaleResult | null;
  /**
   * The memory after the change. Its `stored` contains the intent (the change as stored before its PATCH) if it was
   * stored.
   */
  readonly memory: Memory;
}

/**
 * Applies a decision. Returns null if the decision is held, or if there is nothing to change or to check, which is the
 * usual case.
 */
export async function applyDecision(
  input: CycleInput,
  ports: CyclePorts,
  decided: Decided,
): Promise<Applied | null> {
  const { observed, toApply, hold } = decided;
  const { target, memory } = observed;
  const { currentReplicas: from, desiredReplicas: to } = toApply;
  const costs = ports.deletionCosts?.update(input, { target, from, to, isHeld: hold !== null });
  if (hold !== null) return null;
  if (toApply.action === 'none') {
    const isUnchecked = memory.wasDryRun === true && input.leadership.mayWrite();
    return isUnchecked ? tryCurrentCount(input, ports, decided) : null;
  }
  await costs;
  return changeInSlot(input, ports, decided);
}

/**
 * Checks once after a dry run whether the current count could be written. A missing permission, or a webhook that
 * rejects the change, is then reported now and not only when the count has to change.
 */
async function tryCurrentCount(
  { signal }: CycleInput,
  ports: CyclePorts,
  { observed: { target, memory }, toApply }: Decided,
): Promise<Applied> {
  const { namespace, ref, uid, resourceVersion } = target;
  const freeSlot = await ports.takeSlot();
  try {
    const count = { uid, resourceVersion, replicas: toApply.currentReplicas };
    await ports.cluster.tryScale(namespace, ref, count, signal);
    return { result: null, memory: { ...memory, wasDryRun: false } };
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    return { result: { kind: 'failed', message: error.message, unresolved: null }, memory };
  } finally {
    freeSlot();
  }
}

/** Waits for a free slot, checks whether the change is still wanted, and makes it. */
async function changeInSlot(input: CycleInput, ports: CyclePorts, decided: Decided): Promise<Applied> {
  const { scaler, leadership, isCurrent } = input;
  const { clock, cluster } = ports;
  const { observed, toApply } = decided;
  const { target } = observed;
  let { memory } = observed;
  const freeSlot = await ports.takeSlot();
  try {
    const message = whyGivenUp(input, memory);
    if (message !== null) return { result: { kind: 'given-up', message }, memory };
    const announce = async (intent: Intent): Promise<PutResult> => {
      const state = storedStateOf(memory, scaler.spec, { uid: target.uid, intent });
      const answer = await ports.state.put({ scaler, base: memory.stored, state });
      if (answer.kind === 'written')
        memory = { ...memory, stored: answer.stored, isUnannounced: false, isUnsaved: true };
      if (answer.kind === 'failed') memory = { ...memory, isUnannounced: true };
      return answer;
    };
    const wanted = {
      target,
      from: toApply.currentReplicas,
      to: toApply.desiredReplicas,
      bounds: setsCount(observed.pause) ? null : widestBounds(scaler.spec),
      pending: memory.unresolved,
      isWanted: isCurrent,
    };
    const result = await changeReplicas({ clock, cluster, leadership, announce }, wanted);
    return { result, memory: result.kind === 'patched' ? { ...memory, wasDryRun: false } : memory };
  } finally {
    freeSlot();
  }
}

function whyGivenUp({ leadership, now, isCurrent, signal }: CycleInput, memory: Memory): string | null {
  if (signal.aborted || !isCurrent()) return NOT_WANTED;
  const why = leadership.whyNoWrites();
  if (why !== null) return why;
  // Uses the start of the round instead of the current time. A change that was unresolved at the start stays
  // unresolved, even after a long wait for a slot.
  return isUnderWay(memory, leadership.epoch(), now)
    ? 'another replica, or this replica in an earlier term as leader, has begun a change whose result is not known yet'
    : null;
}

export interface ChangeSlots {
  /** Waits for a free slot and a responsive event loop. Resolves with the function that frees the slot. */
  readonly take: () => Promise<() => void>;
  readonly isIdle: () => boolean;
}

const MAX_CHANGES_IN_FLIGHT = 10;

export function createChangeSlots(untilSteady: () => Promise<void>): ChangeSlots {
  const changes = createSemaphore(MAX_CHANGES_IN_FLIGHT);
  return {
    take: async () => {
      const release = await changes.acquire();
      await untilSteady();
      return release;
    },
    isIdle: () => changes.held() === 0,
  };
}

interface ScaleChange {
  readonly target: ScaleTarget;
  readonly from: number;
  readonly to: number;
  /** The widest bounds of the document and its schedules; null: a pause sets the count, which overrides all bounds. */
  readonly bounds: { readonly minReplicas: number; readonly maxReplicas: number } | null;
  readonly pending: Intent | null;
  /**
   * Whether the change is still wanted. It is called directly before each PATCH, because the earlier steps may take
   * seconds.
   */
  readonly isWanted: () => boolean;
}

interface ChangePorts {
  readonly clock: Clock;
  readonly cluster: Cluster;
  readonly leadership: Leadership;
  /**
   * Stores the change as an intent before its PATCH: otherwise a crash before the response would lose the forbidden
   * window that the change starts.
   */
  readonly announce: (intent: Intent) => Promise<PutResult>;
}

/** Maximum number of retries after a 409 for a target whose count is unchanged. */
const MAX_RETRIES = 3;

/** How long a PATCH is retried after a 429. It is short because a stopping service waits for these retries. */
const RATE_LIMITED_MS = 5000;

const NOT_WANTED = 'the scaler was removed or changed';

const OUTCOME_UNKNOWN = 'the result of an earlier change is not known yet';

/**
 * Sets the replicas of a target in three steps: reads the target live, stores the intent, and sends one merge-patch.
 * The uid and resourceVersion that were read are the preconditions of the PATCH. Sends no PATCH if the live count
 * differs from `from`, if this process is not the leader, or if more than 5 s have passed since the read. Also sends
 * none if an earlier change with a different precondition is unresolved. After a conflict, or after a 429 and its
 * `Retry-After`, starts again with the read. If the intent cannot be stored, a scale-up continues without it, but a
 * scale-down does not. Throws if `to` is not a valid count or outside of `bounds`, which is a defect of promscaler.
 * Source: reliability.md, W3, W4, W6, W10, W11, W12.
 */
export async function changeReplicas(ports: ChangePorts, change: ScaleChange): Promise<ScaleResult> {
  assertCount(change);
  const { target, to } = change;
  // Never aborted: a change in flight finishes even while the service stops. Each request has its own deadline.
  const { signal } = new AbortController();
  const progress: Progress = { sent: null, unannounced: null, conflicts: 0 };
  const endMs = ports.clock.monotonicMs() + RATE_LIMITED_MS;
  try {
    while (progress.conflicts <= MAX_RETRIES) {
      const prepared = await readAndStoreIntent(ports, change, { signal, progress });
      if ('kind' in prepared) return prepared;
      progress.sent = prepared.intent;
      const precondition = { uid: target.uid, resourceVersion: prepared.intent.resourceVersion };
      const answer = await tryPatch(ports.cluster, target, { ...precondition, replicas: to }, signal);
      if (typeof answer === 'number') {
        const { unannounced } = progress;
        return { kind: 'patched', replicas: answer, unannounced, intendedAt: prepared.intent.at };
      }
      progress.sent = null;
      if (answer === null) progress.conflicts += 1;
      else await waitForRetry(ports.clock, answer, { endMs, signal });
    }
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    const unresolved = UNKNOWN_OUTCOME.includes(error.kind) ? progress.sent : null;
    return { kind: 'failed', message: error.message, unresolved };
  }
  const message = `the target changed ${MAX_RETRIES + 1} times while promscaler was setting the replicas`;
  return { kind: 'failed', message, unresolved: null };
}

interface Progress {
  sent: Intent | null;
  unannounced: string | null;
  conflicts: number;
}

/** Does all steps before a PATCH. Returns the stored intent, or the final result if no PATCH may be sent. */
async function readAndStoreIntent(
  ports: ChangePorts,
  change: ScaleChange,
  { signal, progress }: { readonly signal: AbortSignal; readonly progress: Progress },
): Promise<{ readonly intent: Intent } | ScaleResult> {
  const { clock, cluster, leadership } = ports;
  const { target, from, to } = change;
  for (;;) {
    const start = { at: clock.now(), ms: clock.monotonicMs() };
    const scale = await cluster.readScale(target.namespace, target.ref, signal);
    const moved = findMove(change, scale, progress.conflicts > 0);
    if (moved !== null) return moved;
    const { resourceVersion } = scale;
    if (!cannotBothApply(change.pending, resourceVersion))
      return { kind: 'given-up', message: OUTCOME_UNKNOWN };
    const generation = target.generation ?? null;
    const earlier = earlierCounts(change);
    const intent = {
      epoch: leadership.epoch(),
      from,
      to,
      earlier,
      resourceVersion,
      generation,
      at: start.at,
    };
    const wasUnannounced = progress.unannounced !== null;
    const announced = wasUnannounced ? null : await ports.announce(intent);
    if (announced?.kind === 'refused') return { kind: 'given-up', message: announced.message };
    if (announced?.kind === 'failed') {
      if (to < from) return { kind: 'unannounced', message: announced.message };
      progress.unannounced = announced.message;
    }
    if (!change.isWanted()) return { kind: 'given-up', message: NOT_WANTED };
    const why = leadership.whyNoWrites();
    if (why !== null) return { kind: 'given-up', message: why };
    const seconds = ageSeconds(clock, start);
    if (seconds <= INTENT_SECONDS) return { intent };
    // Storing the intent failed and took too long: the next attempt reads the target again, but does not store the
    // intent.
    if (announced?.kind !== 'failed') return { kind: 'given-up', message: tooLate(seconds) };
  }
}

/**
 * Returns true if no change is unresolved, or if the unresolved change has the precondition of this change: the API
 * server then applies at most one of the two. If false, the unresolved change may have been applied and then reverted
 * by another client. Replacing its intent would lose the forbidden window that it started.
 */
function cannotBothApply(pending: Intent | null, resourceVersion: string): boolean {
  return pending === null || pending.resourceVersion === resourceVersion;
}

function earlierCounts({ to, pending }: ScaleChange): readonly number[] {
  if (pending === null) return [];
  return [...new Set(intendedCounts(pending))].filter((count) => count !== to);
}

/**
 * Returns the seconds since `start` on the clock that has advanced more: while a virtual machine is paused, one of the
 * clocks may stop.
 */
function ageSeconds(clock: Clock, start: { readonly at: Instant; readonly ms: number }): number {
  return Math.max(secondsBetween(start.at, clock.now()), (clock.monotonicMs() - start.ms) / 1000);
}

function tooLate(seconds: number): string {
  return `reading the target and storing the intended change took ${seconds.toFixed(1)} s, but at most ${INTENT_SECONDS} s are allowed`;
}

function assertCount({ to, bounds }: ScaleChange): void {
  const { minReplicas: min, maxReplicas: max } = bounds ?? { minReplicas: 0, maxReplicas: MAX_REPLICAS };
  if (!Number.isInteger(to) || to < min || to > max) {
    throw new Error(`a replica count must be an integer from ${min} to ${max}, not ${to}`);
  }
}

function findMove(
  { target, from }: ScaleChange,
  scale: Scale,
  afterConflict: boolean,
): Extract<ScaleResult, { kind: 'moved' | 'recreated' }> | null {
  if (scale.uid !== target.uid) {
    return { kind: 'recreated', message: 'the target was deleted and recreated' };
  }
  if (scale.specReplicas === from) return null;
  const { specReplicas, statusReplicas, resourceVersion } = scale;
  const message = `spec.replicas is ${specReplicas} now, but the decision started from ${from}`;
  return { kind: 'moved', message, specReplicas, statusReplicas, resourceVersion, afterConflict };
}

/** Waits for the `Retry-After` of a 429. Throws `error` if it is not a 429, or if the wait would end after `endMs`. */
async function waitForRetry(
  clock: Clock,
  error: KubernetesError,
  { endMs, signal }: { readonly endMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const waitMs = rateLimitMs(error);
  if (waitMs === null || clock.monotonicMs() + waitMs > endMs) throw error;
  await sleep(clock, waitMs, signal);
}

/** Returns the count in the response; null: the response was a 409. Returns the error of a 429, throws any other. */
async function tryPatch(
  cluster: Cluster,
  { namespace, ref }: ScaleTarget,
  change: ScalePatch,
  signal: AbortSignal,
): Promise<number | KubernetesError | null> {
  try {
    const scale = await cluster.patchScale(namespace, ref, change, signal);
    return scale.specReplicas;
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    if (error.kind === 'conflict') return null;
    if (error.kind === 'rate_limited') return error;
    throw error;
  }
}
