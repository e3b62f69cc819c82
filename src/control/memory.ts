import { EMPTY_STATE } from '../decision/snapshot.js';
import type { State } from '../decision/snapshot.js';
import { NO_HOLDS } from '../prometheus/recovery-hold.js';
import type { ScalerHolds } from '../prometheus/recovery-hold.js';
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
}

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
 * What became of a PATCH whose answer was lost, by the count seen now: at `to` it went through and counts for windows
 * and policies; anything else and it did not.
 */
export function resolveChange(memory: Memory, specReplicas: number): Memory {
  const { unresolved, state } = memory;
  if (unresolved === null) return memory;
  if (specReplicas !== unresolved.to) return { ...memory, unresolved: null };
  const change = unresolved.to - unresolved.from;
  return {
    ...memory,
    unresolved: null,
    state: {
      ...state,
      lastScaleUp: change > 0 ? unresolved.at : state.lastScaleUp,
      lastScaleDown: change < 0 ? unresolved.at : state.lastScaleDown,
      scaleEvents: [...state.scaleEvents, { at: unresolved.at, change }],
      zeroedBySelf: unresolved.to === 0,
    },
  };
}
