import { judgeValues } from '../../decision/snapshot/judge-sample.js';
import { instantFromSeconds, secondsBetween } from '../../units/time.js';
import type { Failure } from '../../units/failure.js';
import { type Answer, withFields } from '../answers/answer.js';

/**
 * The queries of a metric besides its own. The value must pass `guard` and `freshness`. The numbers `backlog`,
 * `capacity` (of a pod) and `served` (the load that the pods serve) are added to it.
 */
type CheckName = 'guard' | 'freshness' | 'backlog' | 'capacity' | 'served';

export interface MetricChecks {
  /** The queries, with all variables replaced. */
  readonly queries: Readonly<Partial<Record<CheckName, string>>>;
  /** The limit of `freshness`; unset: the metric has no such query. */
  readonly maxAgeSeconds?: number;
  /**
   * Whether the document counts a missing value as 0. If so, the answer after a failed check is `invalid` instead of
   * `missing`, because missing data must not become 0.
   */
  readonly isMissingZero: boolean;
}

type CheckLimits = Omit<MetricChecks, 'queries'>;

/** How far in the future the newest sample may be, to allow for clock differences. */
const MAX_AHEAD_SECONDS = 120;

/** 2001-09-09 in Unix seconds. A smaller result of a freshness query is a duration, or a time in another unit. */
const LEAST_PLAUSIBLE_SECONDS = 1_000_000_000;

/** `value`: the backlog or the capacity; unset: the check returns no number, or the number is unknown. */
type Verdict = { readonly value?: number } & (
  | { readonly kind: 'good' }
  | { readonly kind: 'doubtful'; readonly why: string }
  | { readonly kind: 'bad'; readonly answer: Answer }
);

const GOOD: Verdict = { kind: 'good' };

/**
 * Returns the answer of a metric after its checks, with its backlog and capacity. If the query for guard or freshness
 * failed, the answer is `failed`. If the check itself fails, the answer is `missing`, or `invalid` if the document
 * counts a missing value as 0. If a check has only a partial answer, the answer is `partial`.
 * If the backlog is unknown, the metric has no value. If the capacity is unknown, the answer is `partial`. Source:
 * contract.md, section 2; reliability.md, P6 and P9.
 */
export function applyChecks(
  limits: CheckLimits,
  answer: Answer,
  answers: Readonly<Partial<Record<CheckName, Answer>>>,
): Answer {
  if (answer.class === 'failed') return answer;
  const { guard, freshness, served } = answers;
  if (served !== undefined) return withServed(answer, served);
  const backlog = answers.backlog === undefined ? GOOD : judgeBacklog(answers.backlog, limits);
  const capacity = answers.capacity === undefined ? GOOD : judgeCapacity(answers.capacity);
  const verdicts = [
    guard === undefined ? GOOD : judgeGuard(guard, limits),
    freshness === undefined ? GOOD : judgeFreshness(freshness, limits),
    backlog,
    capacity,
  ];
  const doubts: string[] = [];
  for (const verdict of verdicts) {
    if (verdict.kind === 'bad') return verdict.answer;
    if (verdict.kind === 'doubtful') doubts.push(verdict.why);
  }
  const judged = doubts.length === 0 ? answer : inDoubt(answer, doubts.join('; '));
  const hasNumber = backlog.value !== undefined || capacity.value !== undefined;
  if (!hasNumber || !('series' in judged)) return judged;
  return withFields(judged, {
    ...(backlog.value === undefined ? {} : { backlog: backlog.value }),
    ...(capacity.value === undefined ? {} : { capacity: capacity.value }),
  });
}

/**
 * Adds the served load to the answer. If it is unknown, returns the answer itself, so that only the saturation step is
 * skipped.
 */
function withServed(answer: Answer, served: Answer): Answer {
  if (answer.class !== 'value' && answer.class !== 'partial') return answer;
  if (served.class !== 'value') return answer;
  const [only, second] = served.series;
  if (only === undefined || second !== undefined || !Number.isFinite(only.value) || only.value < 0)
    return answer;
  return withFields(answer, { served: only.value });
}

function judgeBacklog(answer: Answer, limits: CheckLimits): Verdict {
  if (answer.class === 'failed' || answer.class === 'invalid') return unusable('backlog', answer);
  if (answer.class === 'missing' || answer.series.length === 0) return bad('backlog: no series', limits);
  const { error, partial } = judgeValues(answer.series.map(({ value }) => value));
  if (error !== null)
    return { kind: 'bad', answer: { class: 'invalid', message: `backlog: ${error.failure.message}` } };
  const value = answer.series.reduce((sum, one) => sum + (Number.isNaN(one.value) ? 0 : one.value), 0);
  const why = [answer.class === 'partial' ? answer.why : null, partial].filter((one) => one !== null);
  return { ...believed(why.length === 0 ? null : `backlog: ${why.join('; ')}`), value };
}

/** If the capacity is unknown, the target of the document applies, but cannot cause a scale-down. */
function judgeCapacity(answer: Answer): Verdict {
  const unknown = (why: string): Verdict => ({
    kind: 'doubtful',
    why: `capacity: ${why}, so target.averageValue applies`,
  });
  if (answer.class === 'failed' || answer.class === 'invalid') return unknown(answer.message);
  const [only, second] = answer.class === 'missing' ? [] : answer.series;
  if (only === undefined) return unknown('no series');
  if (second !== undefined) return unknown('more than one series');
  const { value } = only;
  if (!Number.isFinite(value) || value <= 0) return unknown(`the value ${value} is not above 0`);
  return { ...believed(answer.class === 'partial' ? `capacity: ${answer.why}` : null), value };
}

/** A guard passes if it has at least one series and no value is 0 or NaN. */
function judgeGuard(answer: Answer, limits: CheckLimits): Verdict {
  if (answer.class === 'failed' || answer.class === 'invalid') return unusable('guard', answer);
  const series = answer.class === 'missing' ? [] : answer.series;
  const fault = series.find(({ value }) => value === 0 || Number.isNaN(value));
  const why = answer.class === 'partial' ? `guard: ${answer.why}` : null;
  if (series.length > 0 && fault === undefined) return believed(why);
  const found = fault === undefined ? 'no series' : `the value ${fault.value}`;
  const hint = fault?.value === 0 ? ' (use a comparison with "bool" if 0 is a valid value)' : '';
  return bad(`the guard is not true: ${found}${hint}${why === null ? '' : `, and ${why}`}`, limits);
}

/** Judges the age of the oldest series, because the decision uses the sum of all series. */
function judgeFreshness(answer: Answer, limits: CheckLimits): Verdict {
  if (answer.class === 'failed' || answer.class === 'invalid') return unusable('freshness', answer);
  if (answer.class === 'missing' || answer.series.length === 0) {
    return bad('the age of the data is unknown: the freshness query returned no series', limits);
  }
  const times = answer.series.map(({ value }) => value);
  const wrong = times.find((time) => !Number.isFinite(time));
  if (wrong !== undefined)
    return bad(`the age of the data is unknown: the freshness query returned ${wrong}`, limits);
  const evaluatedAt = answer.evaluatedAt;
  const age = (time: number): number => secondsBetween(instantFromSeconds(time), evaluatedAt);
  const oldest = times.reduce((least, time) => Math.min(least, time));
  const newest = times.reduce((most, time) => Math.max(most, time));
  if (age(newest) < -MAX_AHEAD_SECONDS) {
    const ahead = `${Math.round(-age(newest))} s in the future`;
    return bad(
      `the newest sample is ${ahead}: the clocks differ, or the freshness query does not return seconds`,
      limits,
    );
  }
  const { maxAgeSeconds = Infinity } = limits;
  if (age(oldest) > maxAgeSeconds) {
    const hint =
      oldest < LEAST_PLAUSIBLE_SECONDS ? ': the freshness query must return a time since 1970' : '';
    const old = `${formatAge(age(oldest))} s old, more than maxAgeSeconds (${maxAgeSeconds})`;
    return bad(`the newest sample is ${old}${hint}`, limits);
  }
  return believed(answer.class === 'partial' ? `freshness: ${answer.why}` : null);
}

/** Rounds up, so that an age of 120.2 s is not reported as 120 s, which would be within the limit. */
function formatAge(seconds: number): number {
  return Math.ceil(seconds);
}

function believed(why: string | null): Verdict {
  return why === null ? GOOD : { kind: 'doubtful', why };
}

function bad(message: string, { isMissingZero }: CheckLimits): Verdict {
  return { kind: 'bad', answer: { class: isMissingZero ? 'invalid' : 'missing', message } };
}

/** The verdict for a check without a usable answer: the metric has no value, as if its own query had failed. */
function unusable(name: string, answer: Failure | Extract<Answer, { readonly class: 'invalid' }>): Verdict {
  return { kind: 'bad', answer: { ...answer, message: `${name}: ${answer.message}` } };
}

function inDoubt(answer: Answer, why: string): Answer {
  if (answer.class === 'value') return withFields(answer, { class: 'partial', why } as const);
  if (answer.class === 'partial') return withFields(answer, { why: `${answer.why}; ${why}` });
  // With partial data, it is unknown whether series exist, so the answer must not count as 0.
  return answer.class === 'missing' ? { class: 'invalid', message: `${answer.message}, and ${why}` } : answer;
}
