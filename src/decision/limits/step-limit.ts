import type { ScalerSpec } from '../../scaler/spec.js';
import { addSeconds } from '../../units/time.js';
import type { Limit, LimitContext, Limited } from './limit.js';

/** The HPA's default stabilization window, for a document that sets no window. */
const DEFAULT_WINDOW_SECONDS = 300;

/** Limits the window, because the state keeps every scale event within it. */
const LONGEST_WINDOW_SECONDS = 3600;

/**
 * `maxScaleDownPercentPerWindow`: within one window, a scaler may remove at most this share of the highest count in the
 * window, but always 1 pod. The limit applies to a maximum that a schedule has lowered, but not to a maximum that was
 * lowered in the document. Source: algorithm.md, step 6.6; reliability.md, D8, decisions 8 and 16.
 */
export const limitStep: Limit = (replicas, context) => {
  const limit = stepLimit(context);
  return limit === null || replicas >= context.current || replicas >= limit.to ? null : limit;
};

/**
 * Returns the lowest count that is allowed now, from 0 to the current count. `until` is when the highest count leaves
 * the window, provided that this decision is applied. Null: the document sets no such limit. The share is rounded down:
 * 50 % of 5 is 2.
 */
export function stepLimit({ now, spec, current, state }: LimitContext): Limited | null {
  const percent = spec.maxScaleDownPercentPerWindow;
  if (percent === null) return null;
  const windowSeconds = stepWindowSeconds(spec);
  const start = addSeconds(now, -windowSeconds);
  const events = state.scaleEvents.filter(({ at }) => at > start);
  let most = current;
  let before = current;
  let lastAtMost = now;
  for (const { at, change } of events.toReversed()) {
    before -= change;
    if (before > most) [most, lastAtMost] = [before, at];
  }
  const share = Math.floor((most * percent) / 100);
  return {
    to: Math.max(0, Math.min(current, most - Math.max(1, share))),
    reason: `at most ${percent} % of ${most}${share === 0 ? ', but at least 1,' : ''} in ${windowSeconds} s`,
    until: addSeconds(lastAtMost, windowSeconds),
  };
}

/**
 * Returns the forbidden window of scale-down. If it is 0, returns the stabilization window, or 300 s if that window is
 * 0, too. The result is at most one hour.
 */
export function stepWindowSeconds(spec: ScalerSpec): number {
  const stabilization =
    spec.behavior === null
      ? spec.downscaleStabilizationSeconds
      : spec.behavior.scaleDown.stabilizationWindowSeconds;
  const window = spec.downscaleForbiddenWindowSeconds || stabilization || DEFAULT_WINDOW_SECONDS;
  return Math.min(LONGEST_WINDOW_SECONDS, window);
}
