import type { Answer, FailureReason } from './answer.js';

type Failure = Extract<Answer, { readonly class: 'failed' }>;

/** Keeps the queries of a round from a data source that answers none. */
export interface Breaker {
  /**
   * Gives what `ask` gives, or a failure without asking. `round` is a number that grows from round to round; `ask` must
   * hand what came over the wire to `learn`.
   */
  readonly run: (round: number, ask: () => Promise<Answer>) => Promise<Answer>;
  /** Takes notice of an answer to a query that was sent. */
  readonly learn: (answer: Answer) => void;
  /** Whether something was answered lately: else a second attempt would only be more load. */
  readonly mayRetry: () => boolean;
}

/** Failures in a row after which the next round begins with one query alone. Source: reliability.md, P4. */
const MOST_FAILURES = 5;

/**
 * A breaker that is looked at when a round begins: where the last five queries or more have failed, without an answer
 * in between, the round's first query goes alone and the others wait for it. If that one fails, too, they fail
 * unasked; if it is answered, they go on, so that a source that is back loses no round. In the midst of a round nothing
 * is broken off: some queries that fail always, beside others that are answered, never close the door on those.
 */
export function createBreaker(): Breaker {
  let failuresInARow = 0;
  let last: Failure | null = null;
  let current = -1;
  let isOpen = false;
  let probe: Promise<unknown> | null = null;

  /** Asked anew behind each wait. */
  const mayAsk = (): boolean => !isOpen;

  const refusal = (): Answer => {
    const why = last === null ? '' : ` (${last.message})`;
    const message = `not asked: ${failuresInARow} queries in a row failed, one each round tries again${why}`;
    return { class: 'failed', reason: last?.reason ?? 'connection', message };
  };

  return {
    run: async (round, ask) => {
      if (round > current) {
        current = round;
        isOpen = failuresInARow >= MOST_FAILURES;
        probe = null;
      }
      if (!isOpen) return ask();
      if (probe === null) {
        const answer = ask();
        probe = answer;
        return answer;
      }
      await probe;
      return mayAsk() ? ask() : refusal();
    },
    learn: (answer) => {
      if (answer.class === 'failed' && answer.reason === 'canceled') return;
      if (answer.class === 'failed' && isServerFailure(answer.reason)) {
        failuresInARow += 1;
        last = answer;
        return;
      }
      failuresInARow = 0;
      last = null;
      isOpen = false;
    },
    mayRetry: () => failuresInARow < MOST_FAILURES,
  };
}

const SERVER_REASONS: ReadonlySet<FailureReason> = new Set([
  'timeout',
  'connection',
  'unauthorized',
  'rate_limited',
  'server_error',
  'bad_answer',
]);

/** Whether a failure is one server's, not the query's: then another url, or a later time, may do better. */
export function isServerFailure(reason: FailureReason): boolean {
  return SERVER_REASONS.has(reason);
}
