import type { Instant } from '../../units/time.js';
import { addSeconds, instantFromMs, secondsBetween } from '../../units/time.js';
import { BadRequest, readInteger, readText, readTime } from './query.js';
import type { Query } from './query.js';
import { LIMITS } from '../../api/routes.js';

/** Points at `start`, `start + stepSeconds` and so on until `end`: whole multiples of the step, at most 1,000. */
export interface LongRange {
  readonly start: Instant;
  readonly end: Instant;
  readonly stepSeconds: number;
}

const DAY_SECONDS = 86_400;
const MOST_DAYS = 90;
/** A default step is a multiple of it, so charts of slightly different ranges share their points. */
const STEP_UNIT_SECONDS = 15;

/** Returns whether the history is read from Prometheus. Throws `BadRequest` for an unknown source. */
export function asksPrometheus(query: Query): boolean {
  const source = readText(query, 'source') ?? 'memory';
  if (source === 'memory' || source === 'prometheus') return source === 'prometheus';
  throw new BadRequest('source must be memory or prometheus');
}

/** Reads `since` (default: one day ago), `step` (default: the smallest that fits) and `limit`. Throws `BadRequest`. */
export function readLongRange(query: Query, now: Instant): LongRange {
  const since = readTime(query, 'since') ?? addSeconds(now, -DAY_SECONDS);
  const limit = readInteger(query, 'limit', { ...LIMITS.points, standard: null });
  const seconds = secondsBetween(since, now);
  if (seconds < 0) throw new BadRequest('since must not be in the future');
  if (seconds > MOST_DAYS * DAY_SECONDS)
    throw new BadRequest(`since must be within the last ${MOST_DAYS} days with source=prometheus`);
  const least = leastStep(seconds);
  const stepSeconds = readInteger(query, 'step', LIMITS.step) ?? roundUp(least, STEP_UNIT_SECONDS);
  if (limit === null && stepSeconds < least)
    throw new BadRequest(
      `step must be at least ${least} for this since: at most ${LIMITS.points.most} points`,
    );
  const end = multipleBefore(now, stepSeconds);
  const whole = Math.floor(secondsBetween(since, end) / stepSeconds);
  if (whole < 0) throw new BadRequest(`since must be at least one step (${stepSeconds} s) ago`);
  const steps = Math.min(whole, (limit ?? LIMITS.points.most) - 1);
  return { start: addSeconds(end, -steps * stepSeconds), end, stepSeconds };
}

function leastStep(seconds: number): number {
  return Math.max(1, Math.ceil(seconds / (LIMITS.points.most - 1)));
}

function roundUp(seconds: number, unit: number): number {
  return Math.ceil(seconds / unit) * unit;
}

function multipleBefore(instant: Instant, stepSeconds: number): Instant {
  const stepMs = stepSeconds * 1000;
  return instantFromMs(Math.floor(instant / stepMs) * stepMs);
}
