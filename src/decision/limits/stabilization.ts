import { addSeconds, formatInstant } from '../../units/time.js';
import { sinceChange } from '../snapshot/snapshot.js';
import type { Recommendation } from '../snapshot/snapshot.js';
import type { Limit, LimitContext, Limited } from './limit.js';

/**
 * Without `behavior`, returns the largest recommendation of the last `downscaleStabilizationSeconds` (inclusive), even
 * if it is above the current count. With `behavior`, a window can keep the current count but never reverses a change.
 * Source: horizontal.go, stabilizeRecommendation and stabilizeRecommendationWithBehaviors (points 27 and 30).
 */
export const stabilize: Limit = (replicas, context) =>
  context.spec.behavior === null
    ? stabilizeDownscale(replicas, context)
    : stabilizeBothWays(replicas, context, context.spec.behavior);

function stabilizeDownscale(replicas: number, context: LimitContext): Limited | null {
  const { now, spec, recommendations, state } = context;
  const window = spec.downscaleStabilizationSeconds;
  const start = addSeconds(now, -window);
  // For speed, builds no list: in nearly every decision, no earlier recommendation is higher.
  let to = replicas;
  for (const { at, replicas: earlier } of recommendations) if (at >= start && earlier > to) to = earlier;
  if (to === replicas) return null;
  const recent = recommendations.filter(({ at }) => at >= start);
  return kept(to, { now, recent, state, windowSeconds: window });
}

function stabilizeBothWays(
  replicas: number,
  { now, current, recommendations, state }: LimitContext,
  behavior: NonNullable<LimitContext['spec']['behavior']>,
): Limited | null {
  const upWindow = behavior.scaleUp.stabilizationWindowSeconds;
  const downWindow = behavior.scaleDown.stabilizationWindowSeconds;
  const recentUp = recommendations.filter(({ at }) => at > addSeconds(now, -upWindow));
  const recentDown = recommendations.filter(({ at }) => at > addSeconds(now, -downWindow));
  const up = lowest(recentUp, replicas);
  const down = highest(recentDown, replicas);
  const upward = { now, recent: recentUp, state, windowSeconds: upWindow };
  const downward = { now, recent: recentDown, state, windowSeconds: downWindow };
  if (current < up) return up === replicas ? null : kept(up, upward);
  if (current > down) return down === replicas ? null : kept(down, downward);
  if (current === replicas) return null;
  // `up` <= current <= `down`, so the current count is kept. The reason is the window for the direction of the change.
  return replicas > current
    ? kept(current, upward, (entry) => entry.replicas <= current)
    : kept(current, downward, (entry) => entry.replicas >= current);
}

/** Not `Math.max(...list)`: 200,000 arguments would overflow the stack. */
function highest(recent: readonly Recommendation[], replicas: number): number {
  return recent.reduce((most, entry) => Math.max(most, entry.replicas), replicas);
}

function lowest(recent: readonly Recommendation[], replicas: number): number {
  return recent.reduce((least, entry) => Math.min(least, entry.replicas), replicas);
}

interface Window extends Pick<LimitContext, 'now' | 'state'> {
  readonly recent: readonly Recommendation[];
  readonly windowSeconds: number;
}

function kept(
  to: number,
  { now, recent, state, windowSeconds }: Window,
  keeps: (entry: Recommendation) => boolean = (entry) => entry.replicas === to,
): Limited {
  const index = recent.findLastIndex(keeps);
  const last = recent[index];
  if (last === undefined)
    return {
      to,
      reason: `the window contains the recommendations of the last ${windowSeconds} s`,
      until: null,
    };
  const when = formatInstant(last.at);
  // The first entry of a new list is the count of the target, not a recommendation. Only this entry has the same time
  // as the next entry, unless the first decision made no recommendation.
  const isSeed = (recent[index + 1]?.at ?? now) === last.at || last.at === state.firstCountAt;
  const changed = sinceChange(last.at, state, 'although');
  const reason = isSeed
    ? `the count at the first decision (${last.replicas} at ${when}) stays in the window for ${windowSeconds} s${changed}`
    : `${last.replicas} was recommended at ${when} and counts for ${windowSeconds} s${changed}`;
  return { to, reason, until: addSeconds(last.at, windowSeconds) };
}
