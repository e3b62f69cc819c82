import type { Answer, FailureReason } from '../answers/answer.js';

/** The answer to a query, and how long the server took; null: the query was not sent. */
export interface TimedAnswer {
  readonly answer: Answer;
  readonly seconds: number | null;
  /** How long the server could have taken. Default: the time limit of a query. */
  readonly limit?: number | null;
}

/** What members of a query must have in common to share it. `clean`: a value, or no series. */
export type AnswerKind = 'clean' | 'partial' | 'invalid' | FailureReason;

/** Often failures of the whole source, and expensive. They are searched for slowly: one query more in each round. */
export const SLOW_KINDS: ReadonlySet<AnswerKind | 'apart'> = new Set<AnswerKind>([
  'timeout',
  'server_error',
  'bad_answer',
  'unauthorized',
]);

/** Failures that say nothing about the query. */
const OF_SOURCE: ReadonlySet<FailureReason> = new Set<FailureReason>([
  'busy',
  'connection',
  'rate_limited',
  'canceled',
]);

/** Returns null if the answer says nothing about the members of the query. */
export function kindOf({ answer, seconds }: TimedAnswer): AnswerKind | null {
  if (answer.class === 'value' || answer.class === 'missing') return 'clean';
  if (seconds === null) return null;
  if (answer.class !== 'failed') return answer.class;
  return OF_SOURCE.has(answer.reason) ? null : answer.reason;
}

export function isBadQuery(answer: Answer): boolean {
  return answer.class === 'failed' && answer.reason === 'bad_query';
}

/** Returns the answer to a query for several members for one of them that may not be the cause of its kind. */
export function sharedAnswer(answer: Answer, count: number, noun: string): Answer {
  if (count === 1) return answer;
  const note = ` (one query for ${count} ${noun}; which of them is the cause is not known yet)`;
  if (answer.class === 'partial') return withWhy(answer, answer.why + note);
  return 'message' in answer ? { ...answer, message: answer.message + note } : answer;
}

/** Returns the answer for a member that shares a query with others of its kind: with the message of the last answer to its own query. */
export function withOwnWords(answer: Answer, own: Answer): Answer {
  if (answer.class === 'partial' && own.class === 'partial') return withWhy(answer, own.why);
  return 'message' in answer ? own : answer;
}

/** A copy by spreading would create an object for each series. */
function withWhy(answer: Extract<Answer, { readonly class: 'partial' }>, why: string): Answer {
  const { evaluatedAt, columns, urlIndex } = answer;
  return {
    class: 'partial',
    evaluatedAt,
    columns,
    urlIndex,
    why,
    get series() {
      return answer.series;
    },
  };
}
