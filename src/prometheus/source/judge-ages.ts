import { formatSeconds, inSeconds } from '../../units/format.js';

/** A scrape target whose samples a query reads, or one pod of such a target. */
export interface TargetAge {
  /** Age of the newest sample; null: the target has no current sample, because its scrapes fail. */
  readonly ageSeconds: number | null;
  /** Seconds between two samples of the target. */
  readonly intervalSeconds: number;
  /** Whether the range begins without samples although the target had earlier ones. False for a new target. */
  readonly hasGap: boolean;
  /** Whether the first sample of the target is within the range and the value is too low for that reason. */
  readonly isYoung: boolean;
}

export interface AgeRules {
  /** The range of the selector; 0: the query reads the newest sample only. */
  readonly rangeSeconds: number;
  /** The maximum age that the document or the service config sets; null: it follows from the interval and the range. */
  readonly maxAgeSeconds: number | null;
}

/** Accepted relative error of a value: the default tolerance of the HPA, within which a scaler does nothing. */
const MAX_ERROR = 0.1;

/** Added to two intervals, because some samples arrive late. */
const MARGIN_SECONDS = 5;

/**
 * If the newest sample is nearer to the end of the range than this many intervals, Prometheus extrapolates a rate to
 * the end of the range, otherwise only by half an interval. Source: Prometheus, promql/functions.go, extrapolatedRate.
 */
const EXTRAPOLATED_INTERVALS = 1.1;

/** Returns how many seconds at the start of a range may lack samples before its rate is 10 % too low. */
export function allowedGapSeconds(rangeSeconds: number, intervalSeconds: number): number {
  return Math.max(EXTRAPOLATED_INTERVALS * intervalSeconds, MAX_ERROR * rangeSeconds + intervalSeconds / 2);
}

/** Returns the age in seconds above which the newest sample is late: two intervals and a margin. */
export function lateAfterSeconds(intervalSeconds: number): number {
  return 2 * intervalSeconds + MARGIN_SECONDS;
}

/** Returns how many seconds old the newest sample may be before the value counts as based on old samples. */
export function oldAfterSeconds(intervalSeconds: number, { rangeSeconds, maxAgeSeconds }: AgeRules): number {
  if (maxAgeSeconds !== null) return maxAgeSeconds;
  return rangeSeconds === 0
    ? lateAfterSeconds(intervalSeconds)
    : allowedGapSeconds(rangeSeconds, intervalSeconds);
}

/**
 * Returns why a value is based on old samples; null: it is not. For a target with late samples, a rate is too low by
 * `(age - interval / 2) / range`. A target whose scrapes fail is missing in the rate completely. The rate is based on
 * old samples if the average error of all targets exceeds 10 %; a single late target does not suffice, because some of
 * many targets are always a little late. A value without a range is based on old samples if more than 10 % of its
 * targets have old samples.
 */
export function judgeAges(targets: readonly TargetAge[], rules: AgeRules): string | null {
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
  const some = (count: number): string =>
    targets.length === 1 ? 'its target' : `${count} of ${targets.length} targets`;
  if (late.length > 0) reasons.push(`the newest sample of ${some(late.length)} ${sayAge(late)}`);
  if (failing > 0)
    reasons.push(`${some(failing)} ${failing === 1 ? 'has' : 'have'} no samples because scrapes fail`);
  if (gaps > 0) reasons.push(`${some(gaps)} ${gaps === 1 ? 'has' : 'have'} a gap at the start of the range`);
  if (young > 0) reasons.push(`${some(young)} ${young === 1 ? 'is' : 'are'} younger than the range`);
  const range = rules.rangeSeconds > 0 ? ` in a range of ${formatSeconds(rules.rangeSeconds)}` : '';
  return `the value is based on old samples${range}: ${reasons.join(', ')}`;
}

/** Returns the relative error that a target causes, from 0 (none) to 1 (its samples are missing or must not count). */
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
  return `is up to ${age} s old (scrape interval ${inSeconds(oldest.intervalSeconds)})`;
}
