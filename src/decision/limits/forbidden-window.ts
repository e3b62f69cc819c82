import { addSeconds, formatInstant, type Instant, laterOf } from '../../units/time.js';
import type { Limit, LimitContext } from './limit.js';

/**
 * The forbidden windows of CHPA: no scale-up within `upscaleForbiddenWindowSeconds` after the last scale-up, and no
 * scale-down within `downscaleForbiddenWindowSeconds` after the last scale-down. With `forbiddenWindowsSince:
 * AnyRescale`, any change starts both windows. A window includes its end; 0 disables it.
 */
export const applyForbiddenWindow: Limit = (replicas, context) => {
  const { current } = context;
  if (replicas === current) return null;
  const isUp = replicas > current;
  const until = isUp ? upscaleForbiddenUntil(context) : downscaleForbiddenUntil(context);
  if (until === null) return null;
  const which = isUp ? 'upscale' : 'downscale';
  return { to: current, reason: `the ${which} forbidden window lasts until ${formatInstant(until)}`, until };
};

type WindowContext = Pick<LimitContext, 'now' | 'spec' | 'state'>;

export function upscaleForbiddenUntil(context: WindowContext): Instant | null {
  const { spec, state } = context;
  return runsUntil(context, spec.upscaleForbiddenWindowSeconds, state.lastScaleUp);
}

export function downscaleForbiddenUntil(context: WindowContext): Instant | null {
  const { spec, state } = context;
  return runsUntil(context, spec.downscaleForbiddenWindowSeconds, state.lastScaleDown);
}

function runsUntil(
  { now, spec, state }: WindowContext,
  windowSeconds: number,
  lastSameDirection: Instant | null,
): Instant | null {
  const isAny = spec.forbiddenWindowsSince === 'AnyRescale';
  const last = isAny ? laterOf(state.lastScaleUp, state.lastScaleDown) : lastSameDirection;
  if (windowSeconds === 0 || last === null) return null;
  const until = addSeconds(last, windowSeconds);
  return now <= until ? until : null;
}
