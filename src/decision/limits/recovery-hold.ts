import type { Limit } from './limit.js';

/**
 * No scale-down while a metric has not given values for long enough to be believed; scale-up is never held. Works on
 * `state.holdScaleDownUntil`, which the loop finds out (algorithm.md, section 4).
 */
export const applyRecoveryHold: Limit = (replicas, { now, current, state }) => {
  const until = state.holdScaleDownUntil;
  if (until === null || until <= now || replicas >= current) return null;
  return { to: current, reason: state.holdReason ?? 'a metric has only just come back', until };
};
