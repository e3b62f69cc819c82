import type { StatedCondition } from './object-status.js';

/**
 * What keeps `AbleToScale` or `ScalingActive` from being True although nothing is wrong: a person has set the target to
 * 0, or the document's own forbidden windows run. Who waits for Ready should not wait for those.
 */
const STILL_READY: ReadonlySet<string> = new Set([
  'ScalingDisabled',
  'BackoffUpscale',
  'BackoffDownscale',
  'BackoffBoth',
]);

/** Whether the scaler works: the one condition that `kubectl wait` and Argo CD look at. */
export function readyOf(acceptance: StatedCondition, decided: readonly StatedCondition[]): StatedCondition {
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
  const message = 'the document is in force and its target can be scaled';
  return { type: 'Ready', status: 'True', reason: 'Ready', message };
}
