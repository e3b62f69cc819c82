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
  const held = decided.find(({ type }) => type === 'Held');
  const able = decided.find(({ type }) => type === 'AbleToScale');
  const active = decided.find(({ type }) => type === 'ScalingActive');
  if (acceptance.status === 'False') return { ...acceptance, type: 'Ready' };
  // No user has asked for this hold, and only a user can end it.
  if (held?.status === 'True' && held.reason === 'ConflictingScaler')
    return { ...held, type: 'Ready', status: 'False' };
  const failing = [able, active].find(
    (condition) => condition?.status === 'False' && !STILL_READY.has(condition.reason),
  );
  if (failing !== undefined) return { ...failing, type: 'Ready' };
  if (active?.status === 'Unknown') return { ...active, type: 'Ready' };
  if (able === undefined || active === undefined) {
    const message = 'no decision was made yet';
    return { type: 'Ready', status: 'Unknown', reason: 'NotDecided', message };
  }
  const message = 'the document is in effect and its target can be scaled';
  return { type: 'Ready', status: 'True', reason: 'Ready', message };
}
