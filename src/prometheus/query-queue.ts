import type { Clock } from '../units/clock.js';
import { createSemaphore } from '../units/semaphore.js';
import { secondsBetween } from '../units/time.js';
import type { Instant } from '../units/time.js';
import type { Answer, FailureReason } from './answer.js';
import { createBreaker } from './breaker.js';
import type { PrometheusClient } from './client.js';
import type { SourceConfig } from './source-config.js';

/** One query that was sent, for the metrics. */
export interface QueryReport {
  readonly source: string;
  /** From sending to answer, all urls together; waiting for a slot is not in it. */
  readonly seconds: number;
  readonly answerClass: Answer['class'];
  /** Null unless the class is `failed`. */
  readonly reason: FailureReason | null;
  /** By how much the server's clock is ahead of ours, as far as the way there and back can tell; null: no value came. */
  readonly clockAheadSeconds: number | null;
}

export interface AskOptions {
  /** From now to the answer, waiting for a slot included: a round must not outlive its period. */
  readonly seconds: number;
  readonly signal: AbortSignal;
}

export interface QueryOrder extends AskOptions {
  /** The round it belongs to, a number that grows: see `Breaker`. */
  readonly round: number;
}

/** A data source asked within its budget. */
export interface QueryQueue {
  /** The answer; while the same query is on its way, that one's. Never throws. */
  readonly ask: (query: string, options: QueryOrder) => Promise<Answer>;
  readonly startTime: (options: AskOptions) => Promise<Instant | null>;
}

/** With less time than this left a query would only be load. */
const LEAST_QUERY_MS = 10;

/**
 * At most `maxConcurrentQueries` of the source in flight, the others wait in order; and no more than one a round while
 * the source answers nothing.
 */
export function createQueryQueue(options: {
  readonly config: SourceConfig;
  readonly client: PrometheusClient;
  readonly clock: Clock;
  readonly onQuery: (report: QueryReport) => void;
}): QueryQueue {
  const { config, client, clock, onQuery } = options;
  const underWay = new Map<string, Promise<Answer>>();
  const slots = createSemaphore(config.maxConcurrentQueries);
  const breaker = createBreaker();

  const askNow = (query: string, { seconds, signal, round }: QueryOrder): Promise<Answer> => {
    const deadlineMs = clock.monotonicMs() + seconds * 1000;
    return breaker.run(round, () => askInTurn(query, { seconds, signal, deadlineMs }));
  };

  const askInTurn = async (
    query: string,
    { seconds, signal, deadlineMs }: AskOptions & { readonly deadlineMs: number },
  ): Promise<Answer> => {
    const release = await slots.acquire();
    try {
      const startMs = clock.monotonicMs();
      if (signal.aborted) return { class: 'failed', reason: 'canceled', message: 'the query was canceled' };
      // Those in flight end by their own deadlines, so whoever waits is here soon after his.
      if (deadlineMs - startMs < LEAST_QUERY_MS) return noSlot(config, seconds);
      const mayRetry = breaker.mayRetry();
      const sentAt = clock.now();
      const answer = await client.query(query, { timeoutMs: deadlineMs - startMs, signal, mayRetry });
      breaker.learn(answer);
      onQuery({
        source: config.name,
        seconds: (clock.monotonicMs() - startMs) / 1000,
        answerClass: answer.class,
        reason: answer.class === 'failed' ? answer.reason : null,
        clockAheadSeconds: clockAhead(answer, sentAt, clock.now()),
      });
      return answer;
    } catch {
      // A fault of our own: nobody may be waiting for this promise, and a rejection would end the whole service.
      return { class: 'failed', reason: 'bad_answer', message: 'the query failed by an internal error' };
    } finally {
      release();
    }
  };

  return {
    ask: (query, askOptions) => {
      const known = underWay.get(query);
      if (known !== undefined) return known;
      const answer = askNow(query, askOptions).finally(() => underWay.delete(query));
      underWay.set(query, answer);
      return answer;
    },
    startTime: ({ seconds, signal }) => client.startTime({ timeoutMs: seconds * 1000, signal }),
  };
}

/** 0 where the server evaluated the query between our sending and its answer. */
function clockAhead(answer: Answer, sentAt: Instant, answeredAt: Instant): number | null {
  if (answer.class !== 'value' && answer.class !== 'partial') return null;
  const { evaluatedAt } = answer;
  return evaluatedAt > answeredAt
    ? secondsBetween(answeredAt, evaluatedAt)
    : Math.min(0, secondsBetween(sentAt, evaluatedAt));
}

function noSlot(config: SourceConfig, seconds: number): Answer {
  const message = `not asked: no free slot within ${seconds} s (maxConcurrentQueries is ${config.maxConcurrentQueries})`;
  return { class: 'failed', reason: 'timeout', message };
}
