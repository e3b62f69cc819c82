import type { UntimedCondition } from './object-status.js';

/**
 * Reasons of `AbleToScale` or `ScalingActive` whose False is no failure: the target was set to 0, or a forbidden window
 * is active. `Ready` stays True.
 */
const STILL_READY: ReadonlySet<string> = new Set([
  'ScalingDisabled',
  'BackoffUpscale',
  'BackoffDownscale',
  'BackoffBoth',
]);

export function readyOf(
  acceptance: UntimedCondition,
  decided: readonly UntimedCondition[],
): UntimedCondition {
  const able = decided.find(({ type }) => type === 'AbleToScale');
  const active = decided.find(({ type }) => type === 'ScalingActive');
  const failing = [acceptance, able, active].find(
    (condition) => condition?.status === 'False' && !STILL_READY.has(condition.reason),
  );
  if (failing !== undefined) return { ...failing, type: 'Ready' };
  if (able === undefined || active === undefined) {
    const message = 'no decision was made yet';
    return { type: 'Ready', status: 'Unknown', reason: 'NotDecided', message };
  }
  const message = 'the document is in effect and its target can be scaled';
  return { type: 'Ready', status: 'True', reason: 'Ready', message };
}
