import type { ScalerSpec } from '../../scaler/spec.js';
import { addSeconds } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { Limit, LimitContext } from './limit.js';

/** Without any window of the document: as long as the HPA stabilizes. */
const DEFAULT_WINDOW_SECONDS = 300;

/** Longer windows would make a long list of scale events of a scaler that often scales up. */
const LONGEST_WINDOW_SECONDS = 3600;

/**
 * `maxScaleDownPercentPerWindow`: within one window no more than this share of the most replicas there were goes, but
 * always one. Source: reliability.md, D6 and D8; the short cut to a lowered maximum of the document passes it by
 * (decision 8), the way to a schedule's ceiling does not (decision 16).
 */
export const limitStep: Limit = (replicas, context) => {
  const limit = stepLimit(context);
  if (limit === null || replicas >= context.current || replicas >= limit.replicas) return null;
  return { to: limit.replicas, reason: limit.reason, until: limit.until };
};

/** How far down the count may go. */
export interface StepLimit {
  /** At least 0, not above the current count. */
  readonly replicas: number;
  readonly reason: string;
  /** When the oldest change leaves the window; null where there is none. */
  readonly until: Instant | null;
}

/** The limit in force; null where none is asked for. The share is cut off: 50 % of 5 are 2. */
export function stepLimit({ now, spec, current, state }: LimitContext): StepLimit | null {
  const percent = spec.maxScaleDownPercentPerWindow;
  if (percent === null) return null;
  const windowSeconds = stepWindowSeconds(spec);
  const start = addSeconds(now, -windowSeconds);
  const events = state.scaleEvents.filter(({ at }) => at > start);
  let most = current;
  let before = current;
  for (const { change } of events.toReversed()) {
    before -= change;
    most = Math.max(most, before);
  }
  const share = Math.floor((most * percent) / 100);
  const [oldest] = events;
  return {
    replicas: Math.max(0, Math.min(current, most - Math.max(1, share))),
    reason: `at most ${percent} % of ${most}${share === 0 ? ', but one,' : ''} in ${windowSeconds} s`,
    until: oldest === undefined ? null : addSeconds(oldest.at, windowSeconds),
  };
}

/** The window: that of scale-down, or where it is 0 that of its stabilization, or 300 s; at most an hour. */
export function stepWindowSeconds(spec: ScalerSpec): number {
  const stabilization =
    spec.behavior === null
      ? spec.downscaleStabilizationSeconds
      : spec.behavior.scaleDown.stabilizationWindowSeconds;
  const window = spec.downscaleForbiddenWindowSeconds || stabilization || DEFAULT_WINDOW_SECONDS;
  return Math.min(LONGEST_WINDOW_SECONDS, window);
}
