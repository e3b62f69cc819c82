import { rateLimitMs } from '../../kubernetes/requests/rate-limit.js';
import type { PutResult } from '../../kubernetes/state/batch.js';
import { announcedCounts } from '../../kubernetes/state/entry.js';
import type { Intent } from '../../kubernetes/state/entry.js';
import { KubernetesError, UNKNOWN_OUTCOME } from '../../kubernetes/types.js';
import type { Cluster, Scale, ScaleTarget } from '../../kubernetes/types.js';
import { sleep } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';
import { secondsBetween } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { Leadership } from '../election/leadership.js';
import { INTENT_SECONDS } from '../memory/unresolved-change.js';
import { MAX_REPLICAS } from '../../units/replicas.js';

/** A change of the target's count that a decision asks for. */
export interface ScaleChange {
  readonly target: ScaleTarget;
  readonly from: number;
  readonly to: number;
  /** An earlier change of it whose outcome is not known; null: none. */
  readonly pending: Intent | null;
  /** Asked just before each PATCH, since what comes before it may have taken seconds. Left out: always. */
  readonly isWanted?: () => boolean;
}

/** What a change needs. */
export interface ChangePorts {
  readonly clock: Clock;
  readonly cluster: Cluster;
  readonly leadership: Leadership;
  /** Stores what is about to be done, so that a crash in the midst of it loses nothing. */
  readonly announce: (intent: Intent) => Promise<PutResult>;
}

export type ScaleResult =
  /**
   * The server answered with the count now in force; other than asked for where an admission webhook changed it.
   * `unannounced`: why the change could not be announced; null: it was.
   */
  | { readonly kind: 'patched'; readonly replicas: number; readonly unannounced: string | null }
  /**
   * Somebody else has changed the count since the decision. `afterConflict`: seen after a PATCH of ours was refused for
   * it, so that it may have been an earlier one of ours.
   */
  | {
      readonly kind: 'moved';
      readonly message: string;
      readonly specReplicas: number;
      readonly statusReplicas: number;
      readonly resourceVersion: string;
      readonly afterConflict: boolean;
    }
  | { readonly kind: 'recreated'; readonly message: string }
  /** Nothing was sent: another replica has written or leads, or it took too long. */
  | { readonly kind: 'given-up'; readonly message: string }
  /** Nothing was sent: a scale-down that could not be announced. */
  | { readonly kind: 'unannounced'; readonly message: string }
  /** `unresolved`: the change, where it may have gone through all the same; null: it has not. */
  | { readonly kind: 'failed'; readonly message: string; readonly unresolved: Intent | null };

/** How often a PATCH is tried again when nothing but the resourceVersion has moved. */
const MAX_RETRIES = 3;

/** How long a PATCH is tried again that the server had no room for: all of it comes to an end while a service stops. */
const RATE_LIMITED_MS = 5000;

/** Why a change is given up whose document is gone or another one by now. */
export const NOT_WANTED = 'the scaler was removed or changed';

/** Why a change waits that would take the place of one that may have been made. */
const OUTCOME_UNKNOWN = 'the result of an earlier change is not known yet';

/**
 * Sets the replicas of a target: a live read, the intent, then one merge-patch with the uid and resourceVersion read.
 * Patches nothing where the live count is not the one that the decision started from, where this process does not lead
 * any more, later than 5 s after the read, or while an earlier change may have been made that its precondition does not
 * exclude. A conflict is read and announced anew, never sent again as it was; so is a PATCH that was answered with 429,
 * after its `Retry-After`. Where nothing can be stored a scale-up goes on without an intent, a scale-down does not.
 * Throws on a count that is no count: that is our own fault and must not reach the server. Source: reliability.md, W3,
 * W4, W10, W11, W12.
 */
export async function changeReplicas(
  ports: ChangePorts,
  change: ScaleChange,
  signal: AbortSignal,
): Promise<ScaleResult> {
  assertCount(change.to);
  const { target, to } = change;
  const progress: Progress = { sent: null, unannounced: null, conflicts: 0 };
  const endMs = ports.clock.monotonicMs() + RATE_LIMITED_MS;
  try {
    while (progress.conflicts <= MAX_RETRIES) {
      const prepared = await prepare(ports, change, { signal, progress });
      if ('kind' in prepared) return prepared;
      progress.sent = prepared.intent;
      const precondition = { uid: target.uid, resourceVersion: prepared.intent.resourceVersion };
      const answer = await tryPatch(ports.cluster, target, { ...precondition, replicas: to }, signal);
      if (typeof answer === 'number')
        return { kind: 'patched', replicas: answer, unannounced: progress.unannounced };
      progress.sent = null;
      if (answer === null) progress.conflicts += 1;
      else await waitForRoom(ports.clock, answer, { endMs, signal });
    }
  } catch (error) {
    if (!(error instanceof KubernetesError)) throw error;
    const unresolved = UNKNOWN_OUTCOME.includes(error.kind) ? progress.sent : null;
    return { kind: 'failed', message: error.message, unresolved };
  }
  const message = `the target changed ${MAX_RETRIES + 1} times while setting its replicas`;
  return { kind: 'failed', message, unresolved: null };
}

interface Progress {
  /** The PATCH that is on its way. */
  sent: Intent | null;
  unannounced: string | null;
  conflicts: number;
}

/** All that comes before a PATCH; the result where there must be none. */
async function prepare(
  ports: ChangePorts,
  change: ScaleChange,
  { signal, progress }: { readonly signal: AbortSignal; readonly progress: Progress },
): Promise<{ readonly intent: Intent } | ScaleResult> {
  const { clock, cluster, leadership } = ports;
  const { target, from, to } = change;
  for (;;) {
    const begun = { at: clock.now(), ms: clock.monotonicMs() };
    const scale = await cluster.readScale(target.namespace, target.ref, signal);
    const moved = whatMoved(change, scale, progress.conflicts > 0);
    if (moved !== null) return moved;
    const { resourceVersion } = scale;
    if (!isExcluded(change.pending, resourceVersion)) return { kind: 'given-up', message: OUTCOME_UNKNOWN };
    const generation = target.generation ?? null;
    const earlier = earlierCounts(change);
    const intent = {
      epoch: leadership.epoch(),
      from,
      to,
      earlier,
      resourceVersion,
      generation,
      at: begun.at,
    };
    const wasUnannounced = progress.unannounced !== null;
    const announced = wasUnannounced ? null : await ports.announce(intent);
    if (announced?.kind === 'refused') return { kind: 'given-up', message: announced.message };
    if (announced?.kind === 'failed') {
      if (to < from) return { kind: 'unannounced', message: announced.message };
      progress.unannounced = announced.message;
    }
    if (change.isWanted?.() === false) return { kind: 'given-up', message: NOT_WANTED };
    if (!leadership.mayWrite()) return { kind: 'given-up', message: 'another replica leads' };
    const seconds = ageSeconds(clock, begun);
    if (seconds <= INTENT_SECONDS) return { intent };
    // What failed may have taken long to do so: without the intent there is another try, on a count read anew.
    if (announced?.kind !== 'failed') return { kind: 'given-up', message: tooLate(seconds) };
  }
}

/**
 * Whether of an earlier change and ours one can go through at most, for they have the same precondition. Else the earlier
 * one may have been made and taken back since: ours would take the place of its intent, and its window would be lost.
 */
function isExcluded(pending: Intent | null, resourceVersion: string): boolean {
  return pending === null || pending.resourceVersion === resourceVersion;
}

/** What an earlier PATCH may still come to: it has the same precondition as ours. */
function earlierCounts({ to, pending }: ScaleChange): readonly number[] {
  if (pending === null) return [];
  return [...new Set(announcedCounts(pending))].filter((count) => count !== to);
}

/** By the clock that went further: a virtual machine that was stopped may show it by one of them alone. */
function ageSeconds(clock: Clock, begun: { readonly at: Instant; readonly ms: number }): number {
  return Math.max(secondsBetween(begun.at, clock.now()), (clock.monotonicMs() - begun.ms) / 1000);
}

function tooLate(seconds: number): string {
  return `reading the target and storing the intent took ${seconds.toFixed(1)} s, at most ${INTENT_SECONDS} s are allowed`;
}

function assertCount(replicas: number): void {
  if (!Number.isInteger(replicas) || replicas < 0 || replicas > MAX_REPLICAS) {
    throw new Error(`a replica count must be an integer from 0 to ${MAX_REPLICAS}, not ${replicas}`);
  }
}

function whatMoved(
  { target, from }: ScaleChange,
  scale: Scale,
  afterConflict: boolean,
): Extract<ScaleResult, { kind: 'moved' | 'recreated' }> | null {
  if (scale.uid !== target.uid) {
    return { kind: 'recreated', message: 'the target was deleted and recreated' };
  }
  if (scale.specReplicas === from) return null;
  const { specReplicas, statusReplicas, resourceVersion } = scale;
  const message = `replicas are ${specReplicas} now, but the decision started from ${from}`;
  return { kind: 'moved', message, specReplicas, statusReplicas, resourceVersion, afterConflict };
}

/** Throws the error where the server has no room in time. */
async function waitForRoom(
  clock: Clock,
  error: KubernetesError,
  { endMs, signal }: { readonly endMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const waitMs = rateLimitMs(error);
  if (waitMs === null || clock.monotonicMs() + waitMs > endMs) throw error;
  await sleep(clock, waitMs, signal);
}

/** The count that the server answers with; null where a precondition did not hold; a 429 where it had no room. */
async function tryPatch(
  cluster: Cluster,
  { namespace, ref }: ScaleTarget,
  change: { readonly uid: string; readonly resourceVersion: string; readonly replicas: number },
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
