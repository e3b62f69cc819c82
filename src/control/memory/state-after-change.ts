import type { State } from '../../decision/snapshot/snapshot.js';
import { intendedCounts } from '../../kubernetes/state/state-entry.js';
import type { Intent } from '../../kubernetes/state/state-entry.js';
import { laterOf } from '../../units/time.js';
import type { Instant } from '../../units/time.js';

/** Starts the window of the direction of the change. */
export function withChange(state: State, change: number, at: Instant): State {
  const { lastScaleUp, lastScaleDown } = state;
  return {
    ...state,
    lastScaleUp: change > 0 ? laterOf(lastScaleUp, at) : lastScaleUp,
    lastScaleDown: change < 0 ? laterOf(lastScaleDown, at) : lastScaleDown,
  };
}

/**
 * Returns the state after an intent that may have been carried out: every change that it may have caused starts its
 * window.
 */
export function withIntent(state: State, intent: Intent, at: Instant): State {
  return intendedCounts(intent).reduce((after, count) => withChange(after, count - intent.from, at), state);
}

/**
 * Returns the state after a decision that was not carried out: it keeps the recommendation, not the change. Above 0
 * replicas `zeroedBySelf` is false, because the next 0 may be set by another client.
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
