import { secondsBetween } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { Answer, FailureReason } from '../answers/answer.js';

export interface QueryReport {
  readonly source: string;
  /** From sending to the answer, over all urls, excluding the wait for a slot. */
  readonly seconds: number;
  readonly answerClass: Answer['class'];
  readonly reason: FailureReason | null;
  /** Why the query failed; null: success. Contains no secrets. */
  readonly message: string | null;
  /**
   * How far the clock of the server is ahead of the local clock, as far as the round trip allows to measure it; null:
   * unknown.
   */
  readonly clockAheadSeconds: number | null;
}

export function reportOf(
  source: string,
  answer: Answer,
  times: { readonly sentAt: Instant; readonly answeredAt: Instant; readonly seconds: number },
): QueryReport {
  const failure = answer.class === 'failed' ? answer : null;
  return {
    source,
    seconds: times.seconds,
    answerClass: answer.class,
    reason: failure?.reason ?? null,
    message: failure?.message ?? null,
    clockAheadSeconds: clockAhead(answer, times.sentAt, times.answeredAt),
  };
}

/** Returns 0 if the evaluation time of the server lies between sending and answer on the local clock. */
function clockAhead(answer: Answer, sentAt: Instant, answeredAt: Instant): number | null {
  if (answer.class !== 'value' && answer.class !== 'partial') return null;
  const { evaluatedAt } = answer;
  return evaluatedAt > answeredAt
    ? secondsBetween(answeredAt, evaluatedAt)
    : Math.min(0, secondsBetween(sentAt, evaluatedAt));
}
