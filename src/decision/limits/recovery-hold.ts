import type { Limit } from './limit.js';

/**
 * Holds a scale-down until every metric has returned values for long enough. Never holds a scale-up. Uses
 * `state.holdScaleDownUntil`, which the control loop computes (algorithm.md, section 4).
 */
export const applyRecoveryHold: Limit = (replicas, { now, current, state }) => {
  const until = state.holdScaleDownUntil;
  if (until === null || until <= now || replicas >= current) return null;
  return {
    to: current,
    reason: state.holdReason ?? 'a metric has returned values for too short a time',
    until,
  };
};
