import type { Clock } from '../units/clock.js';
import { secondsBetween } from '../units/time.js';
import type { Instant } from '../units/time.js';
import { createWorkQueue } from '../units/work-queue.js';
import type { Answer, FailureReason } from './answers/answer.js';
import { createBreaker } from './client/breaker.js';
import type { PrometheusClient } from './client/client.js';
import type { SourceConfig } from './data-source/source-config.js';

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

export interface AskOptions {
  /** Time limit until the answer, including the wait for a slot: a round must not last longer than its period. */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

interface QueryOrder extends AskOptions {
  /** A number that increases from round to round: see `Breaker`. */
  readonly round: number;
  /** Called before the answer is returned, with the time since the query was sent. Not called if it was not sent. */
  readonly onSeconds?: (seconds: number) => void;
}

/** A query without a slot. */
interface WaitingQuery {
  readonly query: string;
  readonly order: QueryOrder;
  readonly deadlineMs: number;
  readonly resolve: (answer: Answer) => void;
}

export interface QueryQueue {
  /** Returns the answer. Equal queries that run at the same time share it. Never throws. */
  readonly ask: (query: string, options: QueryOrder) => Promise<Answer>;
  readonly startTime: (options: AskOptions) => Promise<Instant | null>;
}

/** With less time left, a query would only add load. */
const LEAST_QUERY_MS = 10;

/**
 * Runs at most `maxConcurrentQueries` queries of the source at a time, the others wait in order. While the source does
 * not answer, at most one query per round is sent.
 */
export function createQueryQueue(options: {
  readonly config: SourceConfig;
  readonly client: PrometheusClient;
  readonly clock: Clock;
  readonly onQuery: (report: QueryReport) => void;
}): QueryQueue {
  const { config, client, clock, onQuery } = options;
  const underWay = new Map<string, Promise<Answer>>();
  const breaker = createBreaker();

  /** Never throws. */
  const askNow = async ({ query, order, deadlineMs }: WaitingQuery): Promise<Answer> => {
    const { seconds, signal, onSeconds } = order;
    try {
      const startMs = clock.monotonicMs();
      if (signal.aborted) return { class: 'failed', reason: 'canceled', message: 'the query was canceled' };
      // All queries end by their deadlines, so a waiting query gets a slot soon after its own deadline at the
      // latest.
      if (deadlineMs - startMs < LEAST_QUERY_MS) return noSlot(config, seconds);
      const mayRetry = breaker.mayRetry();
      const sentAt = clock.now();
      const answer = await client.query(query, { timeoutMs: deadlineMs - startMs, signal, mayRetry });
      breaker.learn(answer);
      const took = (clock.monotonicMs() - startMs) / 1000;
      onSeconds?.(took);
      onQuery({
        source: config.name,
        seconds: took,
        answerClass: answer.class,
        reason: answer.class === 'failed' ? answer.reason : null,
        message: answer.class === 'failed' ? answer.message : null,
        clockAheadSeconds: clockAhead(answer, sentAt, clock.now()),
      });
      return answer;
    } catch {
      // Without this catch, an internal error would leave the caller waiting.
      return { class: 'failed', reason: 'bad_answer', message: 'the query failed with an internal error' };
    }
  };

  const slots = createWorkQueue<WaitingQuery>(config.maxConcurrentQueries, async (waiting) => {
    const answer = await askNow(waiting);
    underWay.delete(waiting.query);
    waiting.resolve(answer);
  });

  return {
    ask: (query, order) => {
      const known = underWay.get(query);
      if (known !== undefined) return known;
      const deadlineMs = clock.monotonicMs() + order.seconds * 1000;
      const answer = breaker.run(
        order.round,
        () => new Promise((resolve) => slots.add({ query, order, deadlineMs, resolve })),
        () => underWay.delete(query),
      );
      underWay.set(query, answer);
      return answer;
    },
    startTime: ({ seconds, signal }) => client.startTime({ timeoutMs: seconds * 1000, signal }),
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

function noSlot(config: SourceConfig, seconds: number): Answer {
  const message = `not sent: no free slot within ${seconds} s (maxConcurrentQueries is ${config.maxConcurrentQueries})`;
  return { class: 'failed', reason: 'timeout', message };
}
