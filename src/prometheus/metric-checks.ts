import type { Freshness } from '../scaler/spec.js';
import { secondsBetween, instantFromSeconds } from '../units/time.js';
import type { Answer } from './answer.js';

/** What a metric asks beside its query before its value is believed; variables are replaced. */
export interface MetricChecks {
  readonly guard: string | null;
  readonly freshness: Freshness | null;
  /** `onMissing: zero`: a check that fails must not become 0, so it is no `missing` then. */
  readonly isMissingZero: boolean;
}

/** The answers to a metric's query and to its checks; null: that check is not asked for. */
export interface CheckedAnswers {
  readonly answer: Answer;
  readonly guard: Answer | null;
  readonly freshness: Answer | null;
}

/** How far ahead of the server a sample may be: clocks differ. More is no time of a sample. */
const MAX_AHEAD_SECONDS = 120;

/** 2001-09-09: a time before that is a duration, or is in another unit. */
const LEAST_PLAUSIBLE_SECONDS = 1_000_000_000;

type Verdict =
  | { readonly kind: 'good' }
  | { readonly kind: 'doubtful'; readonly why: string }
  | { readonly kind: 'bad'; readonly answer: Answer };

const GOOD: Verdict = { kind: 'good' };

/**
 * The answer of a metric after its guard and its freshness: as it is where both hold; `partial` where one of them
 * holds on a partial answer; `failed` where one of them failed; else `missing`, and `invalid` instead where the
 * document reads missing as 0: of data that is known to be absent or old nobody can say that it is 0.
 * Source: contract.md, section 2; reliability.md, P6 and P9.
 */
export function applyChecks(checks: MetricChecks, answers: CheckedAnswers): Answer {
  const { answer } = answers;
  if (answer.class === 'failed') return answer;
  const verdicts = [
    answers.guard === null ? GOOD : judgeGuard(answers.guard, checks),
    answers.freshness === null || checks.freshness === null
      ? GOOD
      : judgeFreshness(answers.freshness, checks.freshness, checks),
  ];
  const doubts: string[] = [];
  for (const verdict of verdicts) {
    if (verdict.kind === 'bad') return verdict.answer;
    if (verdict.kind === 'doubtful') doubts.push(verdict.why);
  }
  return doubts.length === 0 ? answer : inDoubt(answer, doubts.join('; '));
}

/** True is: at least one series, and none of them 0 or NaN. */
function judgeGuard(answer: Answer, checks: MetricChecks): Verdict {
  if (answer.class === 'failed' || answer.class === 'invalid') return unusable('guard', answer);
  const series = answer.class === 'missing' ? [] : answer.series;
  const fault = series.find(({ value }) => value === 0 || Number.isNaN(value));
  const why = answer.class === 'partial' ? `guard: ${answer.why}` : null;
  if (series.length > 0 && fault === undefined) return believed(why);
  const found = fault === undefined ? 'no series' : `the value ${fault.value}`;
  const hint = fault?.value === 0 ? ' (compare with "bool" where 0 itself is good)' : '';
  return bad(`the guard is not true: ${found}${hint}${why === null ? '' : `, and ${why}`}`, checks);
}

/** Each series counts, as all of them are added up: the oldest one says how old the data is. */
function judgeFreshness(answer: Answer, freshness: Freshness, checks: MetricChecks): Verdict {
  if (answer.class === 'failed' || answer.class === 'invalid') return unusable('freshness', answer);
  if (answer.class === 'missing' || answer.series.length === 0) {
    return bad('its age is not known: the freshness query gave no series', checks);
  }
  const times = answer.series.map(({ value }) => value);
  const wrong = times.find((time) => !Number.isFinite(time));
  if (wrong !== undefined) return bad(`its age is not known: the freshness query gave ${wrong}`, checks);
  const evaluatedAt = answer.evaluatedAt;
  const age = (time: number): number => secondsBetween(instantFromSeconds(time), evaluatedAt);
  const oldest = times.reduce((least, time) => Math.min(least, time));
  const newest = times.reduce((most, time) => Math.max(most, time));
  if (age(newest) < -MAX_AHEAD_SECONDS) {
    const ahead = `${Math.round(-age(newest))} s in the future`;
    return bad(`its newest sample is ${ahead}: clocks apart, or a freshness query not in seconds`, checks);
  }
  const { maxAgeSeconds } = freshness;
  if (age(oldest) > maxAgeSeconds) {
    const hint = oldest < LEAST_PLAUSIBLE_SECONDS ? ': the freshness query must give a time since 1970' : '';
    const old = `${formatAge(age(oldest))} s old, more than maxAgeSeconds (${maxAgeSeconds})`;
    return bad(`its newest sample is ${old}${hint}`, checks);
  }
  return believed(answer.class === 'partial' ? `freshness: ${answer.why}` : null);
}

/** Rounded up, so that 120.2 s against 120 does not read as 120 against 120. */
function formatAge(seconds: number): number {
  return Math.ceil(seconds);
}

function believed(why: string | null): Verdict {
  return why === null ? GOOD : { kind: 'doubtful', why };
}

function bad(message: string, { isMissingZero }: MetricChecks): Verdict {
  return { kind: 'bad', answer: { class: isMissingZero ? 'invalid' : 'missing', message } };
}

/** A check that could not be made: nothing is known of the metric, as if its own query had gone the same way. */
function unusable(name: string, answer: Extract<Answer, { readonly class: 'failed' | 'invalid' }>): Verdict {
  return { kind: 'bad', answer: { ...answer, message: `${name}: ${answer.message}` } };
}

function inDoubt(answer: Answer, why: string): Answer {
  if (answer.class === 'value') return { ...answer, class: 'partial', why };
  if (answer.class === 'partial') return { ...answer, why: `${answer.why}; ${why}` };
  // No series, and doubt about the check: whether there are none cannot be said, so it must not become 0.
  return answer.class === 'missing' ? { class: 'invalid', message: `${answer.message}, and ${why}` } : answer;
}
