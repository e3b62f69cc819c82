import { EMPTY_STATE } from '../decision/snapshot.js';
import type { State } from '../decision/snapshot.js';
import { NO_HOLDS } from '../prometheus/recovery-hold.js';
import type { ScalerHolds } from '../prometheus/recovery-hold.js';
import { secondsBetween } from '../units/time.js';
import type { Instant } from '../units/time.js';

/** What the loop keeps of a scaler between two cycles. A value that is replaced as a whole. */
export interface Memory {
  /** Of the target the state belongs to; null before it was seen. */
  readonly uid: string | null;
  readonly state: State;
  readonly holds: ScalerHolds;
  /** A PATCH whose outcome is not known. */
  readonly unresolved: Change | null;
  /** What an admission webhook made of our last value. */
  readonly override: { readonly wanted: number; readonly got: number } | null;
}

/** A change of replicas that was asked for. */
export interface Change {
  readonly from: number;
  readonly to: number;
  readonly at: Instant;
  /** The precondition it was sent with. */
  readonly resourceVersion: string;
}

/** As long as an API server works on a request at most: later than that none goes through. */
const LATEST_SECONDS = 60;

/**
 * The memory of a scaler that this process has not decided for: as if it had scaled in both directions just now. So
 * both windows begin anew, and stabilization is seeded with the present count by the first decision.
 */
export function freshMemory(now: Instant, uid: string | null): Memory {
  const state = { ...EMPTY_STATE, lastScaleUp: now, lastScaleDown: now };
  return { uid, state, holds: NO_HOLDS, unresolved: null, override: null };
}

/**
 * The state after a decision that was not carried out: the recommendation stays, the scale event, the time and the
 * claim to a zero are taken back.
 */
export function withoutChange(decided: State, before: State): State {
  return {
    ...decided,
    lastScaleUp: before.lastScaleUp,
    lastScaleDown: before.lastScaleDown,
    scaleEvents: before.scaleEvents,
    zeroedBySelf: before.zeroedBySelf,
  };
}

/**
 * What became of a PATCH whose answer was lost, by a live read. At `to` it went through and counts for windows and
 * policies. While the resourceVersion is the one it was sent with, it may still go through, up to 60 s. At `from` with
 * another one it never will. Any other count is somebody else's, perhaps after ours: only the windows begin.
 * Source: reliability.md, W12 and decision 7.
 */
export function resolveChange(
  memory: Memory,
  live: { readonly specReplicas: number; readonly resourceVersion: string },
  now: Instant,
): Memory {
  const { unresolved, state } = memory;
  if (unresolved === null) return memory;
  const { from, to, at } = unresolved;
  const isSame = live.resourceVersion === unresolved.resourceVersion;
  if (isSame && secondsBetween(at, now) < LATEST_SECONDS) return memory;
  if (isSame || live.specReplicas === from) return { ...memory, unresolved: null };
  const lastScaleUp = to > from ? at : state.lastScaleUp;
  const lastScaleDown = to < from ? at : state.lastScaleDown;
  const started = { ...state, lastScaleUp, lastScaleDown };
  if (live.specReplicas !== to) return { ...memory, unresolved: null, state: started };
  const scaleEvents = [...state.scaleEvents, { at, change: to - from }];
  return { ...memory, unresolved: null, state: { ...started, scaleEvents, zeroedBySelf: to === 0 } };
}
