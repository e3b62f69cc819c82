import type { Answer, FailureReason } from '../answers/answer.js';

type Failure = Extract<Answer, { readonly class: 'failed' }>;

/** Limits the queries of a round to one while a data source does not answer. */
export interface Breaker {
  /**
   * Returns the result of `ask`, or a failure without calling it. `round` increases from round to round. `ask` must
   * pass its answer to `learn`. `onRefused` is called before the failure without `ask` is returned.
   */
  readonly run: (round: number, ask: () => Promise<Answer>, onRefused?: () => void) => Promise<Answer>;
  readonly learn: (answer: Answer) => void;
  /** Whether the source has answered recently. If not, a retry would only add load. */
  readonly mayRetry: () => boolean;
}

/** Consecutive failures after which the next round starts with a single query. Source: reliability.md, P4. */
const MOST_FAILURES = 5;

/**
 * Creates a breaker. After five consecutive failures, it sends the first query of the next round alone, and the others
 * wait for it. If that query fails, the others fail without being sent. If it is answered, they are sent, so that a
 * source that has recovered misses no round. The breaker never interrupts a running round: queries that always fail
 * must not block queries that are answered.
 */
export function createBreaker(): Breaker {
  let failuresInARow = 0;
  let last: Failure | null = null;
  let current = -1;
  let isOpen = false;
  let probe: Promise<unknown> | null = null;

  /** A function, because the value may change during an await. */
  const mayAsk = (): boolean => !isOpen;

  const refusal = (): Answer => {
    const why = last === null ? '' : ` (${last.message})`;
    const message = `not sent: ${failuresInARow} consecutive queries have failed, so only one query per round is sent${why}`;
    return { class: 'failed', reason: last?.reason ?? 'connection', message };
  };

  const runAfter = async (
    probing: Promise<unknown>,
    ask: () => Promise<Answer>,
    onRefused?: () => void,
  ): Promise<Answer> => {
    await probing;
    if (mayAsk()) return ask();
    onRefused?.();
    return refusal();
  };

  return {
    run: (round, ask, onRefused) => {
      if (round > current) {
        current = round;
        isOpen = failuresInARow >= MOST_FAILURES;
        probe = null;
      }
      if (!isOpen) return ask();
      if (probe !== null) return runAfter(probe, ask, onRefused);
      const answer = ask();
      probe = answer;
      return answer;
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

/** Whether the server, not the query, causes the failure, so that another url or a later attempt may succeed. */
export function isServerFailure(reason: FailureReason): boolean {
  return SERVER_REASONS.has(reason);
}
