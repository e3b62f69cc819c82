import { addSeconds, formatInstant } from '../../units/time.js';
import type { Recommendation } from '../snapshot/snapshot.js';
import type { Limit, LimitContext, Limited } from './limit.js';

/**
 * Without `behavior`, uses the largest recommendation of the last `downscaleStabilizationSeconds` (inclusive), even if
 * it is above the current count. With `behavior`, a window never reverses the direction of a change. Source:
 * horizontal.go, stabilizeRecommendation and stabilizeRecommendationWithBehaviors (points 27 and 30).
 */
export const stabilize: Limit = (replicas, context) =>
  context.spec.behavior === null
    ? stabilizeDownscale(replicas, context)
    : stabilizeBothWays(replicas, context, context.spec.behavior);

function stabilizeDownscale(replicas: number, context: LimitContext): Limited | null {
  const { now, spec, recommendations } = context;
  const window = spec.downscaleStabilizationSeconds;
  const start = addSeconds(now, -window);
  // Builds no list: in nearly every decision, no recommendation is higher.
  let to = replicas;
  for (const { at, replicas: earlier } of recommendations) if (at >= start && earlier > to) to = earlier;
  if (to === replicas) return null;
  return held(
    to,
    recommendations.filter(({ at }) => at >= start),
    window,
  );
}

function stabilizeBothWays(
  replicas: number,
  { now, current, recommendations }: LimitContext,
  behavior: NonNullable<LimitContext['spec']['behavior']>,
): Limited | null {
  const upWindow = behavior.scaleUp.stabilizationWindowSeconds;
  const downWindow = behavior.scaleDown.stabilizationWindowSeconds;
  const recentUp = recommendations.filter(({ at }) => at > addSeconds(now, -upWindow));
  const recentDown = recommendations.filter(({ at }) => at > addSeconds(now, -downWindow));
  const up = lowest(recentUp, replicas);
  const down = highest(recentDown, replicas);
  if (current < up) return up === replicas ? null : held(up, recentUp, upWindow);
  if (current > down) return down === replicas ? null : held(down, recentDown, downWindow);
  if (current === replicas) return null;
  // The current count is between the two windows: the window that opposes the change keeps it.
  return replicas > current
    ? held(current, recentUp, upWindow, (entry) => entry.replicas <= current)
    : held(current, recentDown, downWindow, (entry) => entry.replicas >= current);
}

/** A loop instead of Math.max(...list): 200,000 arguments overflow the stack. */
function highest(recent: readonly Recommendation[], replicas: number): number {
  return recent.reduce((most, entry) => Math.max(most, entry.replicas), replicas);
}

function lowest(recent: readonly Recommendation[], replicas: number): number {
  return recent.reduce((least, entry) => Math.min(least, entry.replicas), replicas);
}

function held(
  to: number,
  recent: readonly Recommendation[],
  windowSeconds: number,
  holds: (entry: Recommendation) => boolean = (entry) => entry.replicas === to,
): Limited {
  const last = recent.findLast(holds);
  const reason =
    last === undefined
      ? `held by the recommendations of the last ${windowSeconds} s`
      : `${last.replicas} was recommended at ${formatInstant(last.at)}${windowSeconds === 0 ? '' : `, which counts for ${windowSeconds} s`}`;
  return { to, reason, until: last === undefined ? null : addSeconds(last.at, windowSeconds) };
}
