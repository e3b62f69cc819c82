import { INTENT_SECONDS, joinEvents, movedEvent } from '../../kubernetes/state/scale-events.js';
import { intendedCounts } from '../../kubernetes/state/state-entry.js';
import type { Intent } from '../../kubernetes/state/state-entry.js';
import { addSeconds, type Instant, secondsBetween } from '../../units/time.js';
import { withChange, withIntent } from './memory.js';
import type { Memory } from './memory.js';

/** How long after its intent a PATCH may still be applied: an API server ends a request after at most 60 s. */
const MAX_REQUEST_SECONDS = 60;

interface LiveScale {
  readonly specReplicas: number;
  readonly resourceVersion: string;
  /** The generation of the target when it had this count; null: unknown. */
  readonly generation: number | null;
}

/** Returns whether another process may still send the PATCH of the unresolved intent. Source: reliability.md, W12. */
export function isUnderWay({ unresolved }: Memory, epoch: string, now: Instant): boolean {
  return (
    unresolved !== null && unresolved.epoch !== epoch && secondsBetween(unresolved.at, now) <= INTENT_SECONDS
  );
}

/**
 * Resolves a PATCH whose response was lost, or whose sender has stopped, by a live read of the target:
 * - If it has the resourceVersion of the precondition, the PATCH is not applied yet, and may be applied for up to 60 s.
 * - If it has a count of the intent, the PATCH was applied, and is added to windows and policies.
 * - If it has the count `from` and the same generation, its `spec` is unchanged: the PATCH was not applied and will not
 *   be applied.
 * - If it has any other count, another client set that count, perhaps after this PATCH. The PATCH is added to windows
 *   and policies, the change of the other client to windows only. A 0 is attributed to promscaler only if the change
 *   started from a 0 of promscaler.
 *
 * The time of the change is the latest possible one: now, or 60 s after the intent. W12 says 5 s, but the
 * server may work on a request for longer, and an earlier time would shorten the window. Source:
 * reliability.md, W12 and F35.
 */
export function resolveChange(memory: Memory, live: LiveScale, now: Instant): Memory {
  const { unresolved, state } = memory;
  if (unresolved === null) return memory;
  const { from, at, resourceVersion, generation } = unresolved;
  const isSame = live.resourceVersion === resourceVersion;
  const isAtFrom = live.specReplicas === from;
  // The generation of this count is unknown until the watch delivers it. The change stays unresolved until a later
  // cycle.
  const isUnsure = isAtFrom && generation !== null && live.generation === null;
  if ((isSame || isUnsure) && secondsBetween(at, now) < MAX_REQUEST_SECONDS) return memory;
  const isUntouched = isAtFrom && generation !== null && live.generation === generation;
  if (isSame || isUntouched) return { ...memory, unresolved: null };
  const latest = addSeconds(at, MAX_REQUEST_SECONDS);
  const happenedAt = now < latest ? now : latest;
  const change = live.specReplicas - from;
  const started = withChange(withIntent(state, unresolved, happenedAt), change, happenedAt);
  const isOurs = intendedCounts(unresolved).includes(live.specReplicas);
  const changes = isOurs ? [change] : widestChanges(unresolved);
  const events = changes.map((one) => movedEvent({ at, change: one }, happenedAt));
  const scaleEvents = joinEvents(state.scaleEvents, events);
  const zeroedBySelf = live.specReplicas === 0 && (isOurs || (isAtFrom && state.zeroedBySelf));
  return { ...memory, unresolved: null, state: { ...started, scaleEvents, zeroedBySelf } };
}

function widestChanges(intent: Intent): readonly number[] {
  const changes = intendedCounts(intent).map((count) => count - intent.from);
  return [Math.max(...changes, 0), Math.min(...changes, 0)].filter((change) => change !== 0);
}
