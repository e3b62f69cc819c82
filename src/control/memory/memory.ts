import { EMPTY_STATE } from '../../decision/snapshot.js';
import type { State } from '../../decision/snapshot.js';
import { announcedCounts } from '../../kubernetes/state/entry.js';
import type { Intent } from '../../kubernetes/state/entry.js';
import { NO_HOLDS } from '../../prometheus/recovery-hold.js';
import type { ScalerHolds } from '../../prometheus/recovery-hold.js';
import type { Direction } from '../../telemetry/cycle-record.js';
import { addSeconds, secondsBetween } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import { INTENT_SECONDS } from '../change/change-replicas.js';
import type { Shortfall } from '../observe/capacity.js';
import { NO_REVERSALS } from './conflicting-writer.js';
import type { WriterWatch } from './conflicting-writer.js';

/** What the loop keeps of a scaler between two cycles. A value that is replaced as a whole. */
export interface Memory {
  /** Of the target the state belongs to; null before it was seen. */
  readonly uid: string | null;
  readonly state: State;
  /** A time of `state` that is this one is no scaling that is known of, but where its window was made to begin. */
  readonly assumedAt: Instant | null;
  /** The last scalings that are known of, of use where `state` has an assumed time in their place; absent: none is. */
  readonly knownScales?: Readonly<Record<Direction, Instant | null>>;
  readonly holds: ScalerHolds;
  /** A PATCH whose outcome is not known, ours or that of another replica or an earlier process. */
  readonly unresolved: Intent | null;
  /** What an admission webhook made of our last value. */
  readonly override: { readonly wanted: number; readonly got: number } | null;
  /** Whether others take our values back. */
  readonly writer: WriterWatch;
  /** Null while the pods that the target is set to are ready. */
  readonly shortfall: Shortfall | null;
  /** Whether a pause was in force in the last cycle; absent: none was. */
  readonly wasPaused?: boolean;
  /** False before the state store was asked for the first time. */
  readonly isRestored: boolean;
  /** The text in the state store that this is the continuation of; null: there is none. */
  readonly stored: string | null;
  /** Holds what the state store has not taken yet. */
  readonly isUnsaved: boolean;
}

/** As long as an API server works on a request at most: later than that none goes through. */
const LATEST_SECONDS = 60;

/**
 * The memory of a scaler of which nothing can be known: as if it had scaled in both directions just now. So both
 * windows begin anew, and stabilization is seeded with the present count by the first decision.
 */
export function freshMemory(now: Instant, uid: string | null): Memory {
  const state = { ...EMPTY_STATE, lastScaleUp: now, lastScaleDown: now };
  return {
    uid,
    state,
    assumedAt: now,
    holds: NO_HOLDS,
    unresolved: null,
    override: null,
    writer: NO_REVERSALS,
    shortfall: null,
    isRestored: false,
    stored: null,
    isUnsaved: false,
  };
}

/**
 * The memory of a scaler at the beginning of another term of this process. When it scaled last and what became of no
 * change that it knew of is compared with what is stored; everything else begins anew.
 */
export function forNewTerm(memory: Memory, now: Instant): Memory {
  const { uid, unresolved, isUnsaved, assumedAt, knownScales } = memory;
  if (uid === null) return freshMemory(now, null);
  const { lastScaleUp, lastScaleDown, scaleEvents } = memory.state;
  const state = { ...EMPTY_STATE, lastScaleUp, lastScaleDown, scaleEvents };
  const known = knownScales === undefined ? {} : { knownScales };
  return { ...freshMemory(now, uid), state, assumedAt, ...known, unresolved, isUnsaved };
}

/** When the target was last scaled, as far as that is known, by this process or by what was stored. */
export function lastScales(memory: Memory): Readonly<Record<Direction, Instant | null>> {
  const { state, assumedAt, knownScales } = memory;
  return {
    up: state.lastScaleUp === assumedAt ? (knownScales?.up ?? null) : state.lastScaleUp,
    down: state.lastScaleDown === assumedAt ? (knownScales?.down ?? null) : state.lastScaleDown,
  };
}

/** The same for a target that has taken the place of another one of that name. */
export function forNewTarget(memory: Memory, now: Instant, uid: string | null): Memory {
  const { isRestored, stored } = memory;
  return { ...freshMemory(now, uid), isRestored, stored, isUnsaved: true };
}

/**
 * The state after a decision that was not carried out: the recommendation stays, the scale event, the time and the
 * claim to a zero are taken back. Above 0 there is no zero to claim: the next one may be somebody else's.
 */
export function withoutChange(decided: State, before: State, replicas: number): State {
  return {
    ...decided,
    lastScaleUp: before.lastScaleUp,
    lastScaleDown: before.lastScaleDown,
    scaleEvents: before.scaleEvents,
    zeroedBySelf: before.zeroedBySelf && replicas === 0,
  };
}

/** The target as it is now. */
export interface LiveScale {
  readonly specReplicas: number;
  readonly resourceVersion: string;
  /** Null where it is not known for this resourceVersion or a later one. */
  readonly generation: number | null;
}

/** Whether another process may still be about to send the PATCH of its intent. Source: reliability.md, W12. */
export function isUnderWay({ unresolved }: Memory, epoch: string, now: Instant): boolean {
  return (
    unresolved !== null && unresolved.epoch !== epoch && secondsBetween(unresolved.at, now) <= INTENT_SECONDS
  );
}

/**
 * What became of a PATCH whose answer was lost, or whose sender is gone, by a live read.
 * - With the resourceVersion that it was sent for, it has not gone through; it still may, up to 60 s.
 * - At a count that was announced it went through and counts for windows and policies.
 * - At `from` in the same generation nothing has changed the `spec`: it never happened, and never will.
 * - Else the count is somebody else's, perhaps after ours, which counts as if it had gone through; theirs counts for
 *   the windows alone. A 0 is then ours only where the change started from a 0 of ours.
 *
 * It is taken to have happened as late as it can have: now, or 60 s after it was announced. W12 has 5 s there, by which
 * a request that the server has worked on for longer would shorten the window. Source: reliability.md, W12 and F35.
 */
export function resolveChange(memory: Memory, live: LiveScale, now: Instant): Memory {
  const { unresolved, state } = memory;
  if (unresolved === null) return memory;
  const { from, at, resourceVersion, generation } = unresolved;
  const isSame = live.resourceVersion === resourceVersion;
  const isAtFrom = live.specReplicas === from;
  // The watch will soon tell whether it is the same generation.
  const isUnsure = isAtFrom && generation !== null && live.generation === null;
  if ((isSame || isUnsure) && secondsBetween(at, now) < LATEST_SECONDS) return memory;
  const isUntouched = isAtFrom && generation !== null && live.generation === generation;
  if (isSame || isUntouched) return { ...memory, unresolved: null };
  const latest = addSeconds(at, LATEST_SECONDS);
  const happenedAt = now < latest ? now : latest;
  const change = live.specReplicas - from;
  const started = withMove(withAnnounced(state, unresolved, happenedAt), change, happenedAt);
  const isOurs = announcedCounts(unresolved).includes(live.specReplicas);
  const changes = isOurs ? [change] : widestChanges(unresolved);
  const scaleEvents = [...state.scaleEvents, ...changes.map((one) => ({ at: happenedAt, change: one }))];
  const zeroedBySelf = live.specReplicas === 0 && (isOurs || (isAtFrom && state.zeroedBySelf));
  return { ...memory, unresolved: null, state: { ...started, scaleEvents, zeroedBySelf } };
}

/** The widest change that may have been made in each direction. */
function widestChanges(intent: Intent): readonly number[] {
  const changes = announcedCounts(intent).map((count) => count - intent.from);
  return [Math.max(...changes, 0), Math.min(...changes, 0)].filter((change) => change !== 0);
}

/** The state after an announced change that may have been made: the window of each direction it can have had begins. */
export function withAnnounced(state: State, intent: Intent, at: Instant): State {
  return announcedCounts(intent).reduce((moved, count) => withMove(moved, count - intent.from, at), state);
}

/** The state after a change of the count that may have been ours: its window begins. */
export function withMove(state: State, change: number, at: Instant): State {
  const { lastScaleUp, lastScaleDown } = state;
  return {
    ...state,
    lastScaleUp: change > 0 ? laterOf(lastScaleUp, at) : lastScaleUp,
    lastScaleDown: change < 0 ? laterOf(lastScaleDown, at) : lastScaleDown,
  };
}

/** The later of two times, of which one or both may be unknown. */
export function laterOf(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}
