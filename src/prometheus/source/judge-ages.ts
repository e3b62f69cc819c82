import { formatSeconds, inSeconds } from '../../units/format.js';

/** A scrape target, or a pod on it, whose samples a query reads. */
export interface TargetAge {
  /** Age of its newest sample; null: it has no current sample because its scrapes fail. */
  readonly ageSeconds: number | null;
  /** Time between its samples. */
  readonly intervalSeconds: number;
  /** Whether its range begins without samples although it had earlier samples. False for a young target. */
  readonly hasGap: boolean;
  /** Whether its first sample is within the range, if that makes the value too low. */
  readonly isYoung: boolean;
}

export interface AgeRules {
  /** The range of the selector; 0: the query reads the newest sample only. */
  readonly rangeSeconds: number;
  /** Set by the document or the service config; null: follows from the interval and the range. */
  readonly maxAgeSeconds: number | null;
}

/** The default tolerance of the HPA: a smaller error of a value changes nothing. */
const MAX_ERROR = 0.1;

/** Added to two intervals for samples that are received late. */
const MARGIN_SECONDS = 5;

/**
 * Prometheus extrapolates a rate to the end of the range if the newest sample is nearer than this share of the
 * interval, otherwise by half an interval. Source: Prometheus, promql/functions.go, extrapolatedRate.
 */
const EXTRAPOLATED_INTERVALS = 1.1;

/** Returns how long a range may begin without samples before its rate is 10 % too low. */
export function allowedGapSeconds(rangeSeconds: number, intervalSeconds: number): number {
  return Math.max(EXTRAPOLATED_INTERVALS * intervalSeconds, MAX_ERROR * rangeSeconds + intervalSeconds / 2);
}

/** Returns the age above which the newest sample is late: two intervals and a margin. */
export function lateAfterSeconds(intervalSeconds: number): number {
  return 2 * intervalSeconds + MARGIN_SECONDS;
}

/** Returns the age in seconds above which the newest samples make a value old. */
export function oldAfterSeconds(intervalSeconds: number, { rangeSeconds, maxAgeSeconds }: AgeRules): number {
  if (maxAgeSeconds !== null) return maxAgeSeconds;
  return rangeSeconds === 0
    ? lateAfterSeconds(intervalSeconds)
    : allowedGapSeconds(rangeSeconds, intervalSeconds);
}

/**
 * Returns why a value is based on old samples, or null. A rate is too low by `(age - interval / 2) / range` for a
 * target with late samples, and lacks a target whose scrapes fail. The value counts as old if the average over the
 * targets is more than 10 %: with many targets, some are always a little late. A value without a range is old if more
 * than 10 % of its targets are.
 */
export function whyOld(targets: readonly TargetAge[], rules: AgeRules): string | null {
  let error = 0;
  const late: TargetAge[] = [];
  let failing = 0;
  let gaps = 0;
  let young = 0;
  for (const target of targets) {
    const tail = errorOf(target, rules);
    if (target.ageSeconds === null) failing += 1;
    else if (tail > 0) late.push(target);
    else if (target.hasGap) gaps += 1;
    else if (target.isYoung) young += 1;
    error += target.hasGap || target.isYoung ? 1 : tail;
  }
  if (targets.length === 0 || error / targets.length <= MAX_ERROR) return null;
  const reasons: string[] = [];
  if (late.length > 0) reasons.push(`${late.length} ${sayAge(late)}`);
  if (failing > 0) reasons.push(`${failing} without samples because scrapes fail`);
  if (gaps > 0) reasons.push(`${gaps} with a gap at the start of the range`);
  if (young > 0) reasons.push(`${young} younger than the range`);
  const range = rules.rangeSeconds > 0 ? ` and a range of ${formatSeconds(rules.rangeSeconds)}` : '';
  const counted = targets.length === 1 ? 'its target' : `${targets.length} targets`;
  return `it is based on old samples: of ${counted}${range}, ${reasons.join(', ')}`;
}

/** Returns 0 (no error) to 1 (the target does not count, or should not). */
function errorOf({ ageSeconds, intervalSeconds }: TargetAge, rules: AgeRules): number {
  const { rangeSeconds, maxAgeSeconds } = rules;
  if (ageSeconds === null) return 1;
  if (maxAgeSeconds !== null || rangeSeconds === 0)
    return ageSeconds > oldAfterSeconds(intervalSeconds, rules) ? 1 : 0;
  if (ageSeconds <= EXTRAPOLATED_INTERVALS * intervalSeconds) return 0;
  return Math.min(1, (ageSeconds - intervalSeconds / 2) / rangeSeconds);
}

function sayAge(late: readonly TargetAge[]): string {
  const oldest = late.reduce((most, one) => ((one.ageSeconds ?? 0) > (most.ageSeconds ?? 0) ? one : most));
  const age = Math.round(oldest.ageSeconds ?? 0);
  return `with a newest sample up to ${age} s old (scrape interval ${inSeconds(oldest.intervalSeconds)})`;
}
