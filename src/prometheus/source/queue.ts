import { type Clock, sleep } from '../../units/clock.js';
import { type Instant, secondsBetween } from '../../units/time.js';
import {
  CANCELED,
  failed,
  type Failure,
  INTERNAL_ERROR,
  isServerFailure,
  type QueryReport,
} from '../../units/failure.js';
import type { Answer } from '../answers/answer.js';
import type { PrometheusClient } from '../client/client.js';
import type { SourceConfig } from '../data-source/source-config.js';
import { createFairSlots, type QueryOwner, type SlotRequest } from './fair-slots.js';
import { createQueryLimits } from './query-limits.js';

export interface SendOptions {
  /** Time limit in seconds from sending the query to its answer. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** A number that increases from round to round. */
  readonly round: number;
  /** Monotonic time in ms at which the round ends. A later answer would be useless. Default: after `seconds`. */
  readonly untilMs?: number;
  /** One entry for each namespace that needs the query. Default: none, because the service itself needs it. */
  readonly owners?: readonly QueryOwner[];
  /** If set, a query that the server rejected as invalid is not sent again before the fifth of these sync periods. */
  readonly periodSeconds?: number;
  /**
   * Called before the answer is returned, with the seconds since the query was sent and its time limit in seconds. Not
   * called for a query that was not sent.
   */
  readonly onSeconds?: (seconds: number, limit: number) => void;
}

export interface QueryQueue {
  /** Returns the answer to a query. Equal queries that run at the same time share it. Never throws. */
  readonly query: (text: string, options: SendOptions) => Promise<Answer>;
  /** Whether a query is running or waiting. */
  readonly isBusy: () => boolean;
}

/**
 * The answer to a query, and how many seconds the server took; null: the time is unknown, or does not show the cost of
 * the query.
 */
export interface TimedAnswer {
  readonly answer: Answer;
  readonly seconds: number | null;
  /** Time limit of the query in seconds. Default: the usual time limit. */
  readonly limit?: number;
}

/** Counts the answers of a round until all of its queries are answered. */
interface Tally {
  pending: number;
  failures: number;
  /** Whether a query of the round was answered, or failed for a reason that shows that the server works. */
  hasWorkingServer: boolean;
}

/** A query that has no answer yet. */
interface PendingQuery extends SlotRequest {
  readonly text: string;
  readonly options: SendOptions;
  readonly tally: Tally;
  readonly resolve: (answer: Answer) => void;
  attempts: number;
}

/** If less time is left, the query is not sent: it would time out and only add load. */
const LEAST_QUERY_MS = 10;
/** A query that takes longer counts as slow: see `createFairSlots`. */
const SLOW_SECONDS = 1;
/**
 * Limits the pause before the first repetition of a query that an overloaded source has rejected. The limit doubles
 * with each repetition. The pause is random, from half of the limit to the limit.
 */
const BUSY_MS = 1000;
const MOST_ATTEMPTS = 4;
/** If this many queries have failed and none was answered, a round starts with one query (reliability.md, P4). */
const MOST_FAILURES = 5;
/** A rejected query is sent again in the fifth round, which may start up to half a period early. */
const REST_PERIODS = 4.5;
/** A query counts as slow until it has been fast, or has not been sent for this time. */
const SLOW_MS = 600_000;
/** The interval at which the entries of queries of deleted documents are removed. */
const CLEAN_MS = 60_000;

/**
 * Runs at most `maxConcurrentQueries` queries of the data source at a time. The others wait for a slot (see
 * `createFairSlots`). An overloaded source is queried again within the round.
 * While the source answers no queries at all, each round first sends one query, the probe, and the others wait for its
 * result. If the probe fails, the others fail without being sent. If it is answered, the others are sent, so that no
 * round is lost after the source has recovered. The probe is the query that was answered fastest in the last round with
 * answers, because other queries may fail for other reasons.
 */
export function createQueryQueue(parts: {
  readonly config: SourceConfig;
  readonly client: Pick<PrometheusClient, 'query'>;
  readonly clock: Clock;
  readonly onQuery: (report: QueryReport) => void;
  readonly onFault: (error: unknown) => void;
  /** Called for each query that is not sent because a namespace exceeds a limit. */
  readonly onOverLimit: (namespace: string) => void;
}): QueryQueue {
  const { config, client, clock, onQuery, onFault, onOverLimit } = parts;
  const underWay = new Map<string, Promise<Answer>>();
  const rejected = new Map<string, { readonly answer: Answer; readonly untilMs: number }>();
  /** Maps the text of a slow query to the time at which it counts as fast again. */
  const slow = new Map<string, number>();
  let cleanMs = -Infinity;

  /** Counts the queries that have failed since the last answer. Queries of a round with any answer do not count. */
  let failures = 0;
  let last: Failure | null = null;
  let failingSince: Instant | null = null;
  let current = -1;
  /** Whether a round begins with one query, the probe, because no query was answered for a while. */
  let isProbing = false;
  let probe: Promise<unknown> | null = null;
  const tallies = new Map<number, Tally>();
  /** The query that was answered fastest in this round (`fastest`), and in the last round with answers (`lately`). */
  let fastest: { readonly text: string; readonly seconds: number } | null = null;
  let lately: string | null = null;

  const learn = ({ text, tally, options, attempts }: PendingQuery, answer: Answer, seconds: number): void => {
    if (seconds > SLOW_SECONDS) slow.set(text, clock.monotonicMs() + SLOW_MS);
    else if (slow.size > 0 && answer.class !== 'failed') slow.delete(text);
    if (answer.class === 'failed' && answer.reason === 'canceled') return;
    if (answer.class === 'failed' && isServerFailure(answer.reason)) {
      if (attempts === 0) tally.failures += 1;
      last = answer;
      failingSince ??= clock.now();
      return;
    }
    tally.hasWorkingServer = true;
    failures = 0;
    failingSince = null;
    isProbing = false;
    if (answer.class !== 'failed' && (fastest === null || seconds < fastest.seconds))
      fastest = { text, seconds };
    if (answer.class !== 'failed' || answer.reason !== 'bad_query' || options.periodSeconds === undefined)
      return;
    rejected.set(text, {
      answer,
      untilMs: clock.monotonicMs() + REST_PERIODS * options.periodSeconds * 1000,
    });
  };

  const end = ({ text, tally, resolve }: PendingQuery, answer: Answer): void => {
    tally.pending -= 1;
    if (tally.pending === 0 && !tally.hasWorkingServer) {
      failures += tally.failures;
      tally.failures = 0;
    }
    underWay.delete(text);
    resolve(answer);
  };

  /** Adds the start of the outage to a failure if the round began with the probe. */
  const withSince = (failure: Failure): Failure =>
    isProbing && failingSince !== null ? { ...failure, since: failingSince } : failure;

  const sendNow = async ({
    text,
    options,
    untilMs,
    owners,
  }: PendingQuery): Promise<readonly [Answer, number]> => {
    const { seconds, signal, onSeconds } = options;
    const startMs = clock.monotonicMs();
    const sentAt = clock.now();
    const timeoutMs = Math.min(seconds * 1000, untilMs - startMs);
    const answer = await client.query(text, {
      timeoutMs,
      signal,
      mayRetry: failures < MOST_FAILURES,
      namespace: owners.length === 1 ? owners[0]?.namespace : undefined,
    });
    const took = (clock.monotonicMs() - startMs) / 1000;
    onSeconds?.(took, timeoutMs / 1000);
    onQuery(reportOf(config.name, answer, { sentAt, answeredAt: clock.now(), seconds: took }));
    return [answer, took];
  };

  /** Never rejects: if it did, the caller would wait forever. After an internal error, the query fails. */
  const runWithSlot = async (pending: PendingQuery): Promise<void> => {
    const { options, untilMs } = pending;
    try {
      const unsent = whyNotSent(pending);
      if (unsent !== null) {
        end(pending, unsent);
        return;
      }
      const [answer, seconds] = await sendNow(pending);
      learn(pending, answer, seconds);
      pending.attempts += 1;
      const pauseMs = BUSY_MS * 2 ** (pending.attempts - 1) * (0.5 + clock.random() / 2);
      const mayWait = pending.attempts < MOST_ATTEMPTS && clock.monotonicMs() + pauseMs < untilMs;
      if (answer.class !== 'failed') end(pending, answer);
      else if (answer.reason === 'busy' && mayWait)
        void sleep(clock, pauseMs, options.signal).then(() => slots.add(pending));
      else end(pending, isServerFailure(answer.reason) ? withSince(answer) : answer);
    } catch (error) {
      onFault(error);
      end(pending, INTERNAL_ERROR);
    }
  };

  /** Returns the failure of a query that is not sent although it has a slot; null: it is sent. */
  const whyNotSent = (pending: PendingQuery): Answer | null => {
    const overLimit = limits?.whyNoTime(pending.owners) ?? null;
    if (overLimit !== null) return overLimit;
    if (pending.options.signal.aborted) return CANCELED;
    return pending.untilMs - clock.monotonicMs() < LEAST_QUERY_MS ? noSlot(pending) : null;
  };

  const noSlot = ({ isSlow }: PendingQuery): Answer => {
    const most = `maxConcurrentQueries is ${config.maxConcurrentQueries}`;
    const why = isSlow
      ? `${most}; queries that take more than ${SLOW_SECONDS} s may use only some of these slots`
      : most;
    return failed('busy', `the query was not sent, because the round had no free slot (${why})`);
  };

  const slots = createFairSlots<PendingQuery>({
    most: config.maxConcurrentQueries,
    clock,
    runWithSlot,
    expire: (pending) => end(pending, noSlot(pending)),
  });

  const limits = createQueryLimits({ config, accountOf: slots.accountOf, onOverLimit });

  const enqueue = (text: string, options: SendOptions, tally: Tally): Promise<Answer> => {
    const untilMs = options.untilMs ?? clock.monotonicMs() + options.seconds * 1000;
    const { owners = [] } = options;
    tally.pending += 1;
    const answer = new Promise<Answer>((resolve) =>
      slots.add({ text, options, tally, resolve, owners, untilMs, isSlow: slow.has(text), attempts: 0 }),
    );
    underWay.set(text, answer);
    return answer;
  };

  const beginRound = (round: number): void => {
    current = round;
    isProbing = failures >= MOST_FAILURES;
    probe = null;
    lately = fastest?.text ?? lately;
    fastest = null;
    for (const [each, { pending }] of tallies) if (pending === 0) tallies.delete(each);
    const nowMs = clock.monotonicMs();
    if (nowMs < cleanMs) return;
    cleanMs = nowMs + CLEAN_MS;
    for (const [text, { untilMs }] of rejected) if (untilMs <= nowMs) rejected.delete(text);
    for (const [text, untilMs] of slow) if (untilMs <= nowMs) slow.delete(text);
  };

  const tallyOf = (round: number): Tally => {
    let tally = tallies.get(round);
    if (tally === undefined)
      tallies.set(round, (tally = { pending: 0, failures: 0, hasWorkingServer: false }));
    return tally;
  };

  const sendAfter = async (
    probing: Promise<unknown>,
    text: string,
    options: SendOptions,
  ): Promise<Answer> => {
    await probing;
    if (!isProbing) return enqueue(text, options, tallyOf(options.round));
    underWay.delete(text);
    return withSince(last ?? failed('connection', 'the query was not sent'));
  };

  const query: QueryQueue['query'] = (text, options) => {
    const known = underWay.get(text);
    if (known !== undefined) return known;
    if (options.round > current) beginRound(options.round);
    const rejection = options.periodSeconds === undefined ? undefined : rejected.get(text);
    if (rejection !== undefined && rejection.untilMs > clock.monotonicMs())
      return Promise.resolve(rejection.answer);
    const overLimit = limits?.count(options.round, options.owners ?? []) ?? null;
    if (overLimit !== null) return Promise.resolve(overLimit);
    const tally = tallyOf(options.round);
    if (!isProbing) return enqueue(text, options, tally);
    if (probe === null) {
      if (lately === null || lately === text) {
        const own = enqueue(text, options, tally);
        probe = own;
        return own;
      }
      const { seconds, signal, round } = options;
      probe = underWay.get(lately) ?? enqueue(lately, { seconds, signal, round }, tally);
    }
    const answer = sendAfter(probe, text, options);
    underWay.set(text, answer);
    return answer;
  };

  return { query, isBusy: () => underWay.size > 0 };
}

/** Returns the answer to a query with its time. The time of an answer that another caller also waits for is unknown. */
export async function queryTimed(
  { query }: Pick<QueryQueue, 'query'>,
  text: string,
  options: SendOptions,
): Promise<TimedAnswer> {
  let time: Omit<TimedAnswer, 'answer'> = { seconds: null };
  const onSeconds: SendOptions['onSeconds'] = (seconds, limit) => (time = { seconds, limit });
  const answer = await query(text, { ...options, onSeconds });
  return { answer, ...time };
}

function reportOf(
  source: string,
  answer: Answer,
  times: { readonly sentAt: Instant; readonly answeredAt: Instant; readonly seconds: number },
): QueryReport {
  return {
    source,
    seconds: times.seconds,
    failure: answer.class === 'failed' ? answer : null,
    clockAheadSeconds: clockAhead(answer, times.sentAt, times.answeredAt),
  };
}

/**
 * Returns the minimum difference in seconds between the clocks, which is negative if the clock of the server is behind;
 * null: unknown. It is 0 if the evaluation time lies between the request and the answer on the local clock.
 */
function clockAhead(answer: Answer, sentAt: Instant, answeredAt: Instant): number | null {
  if (answer.class !== 'value' && answer.class !== 'partial') return null;
  const { evaluatedAt } = answer;
  return evaluatedAt > answeredAt
    ? secondsBetween(answeredAt, evaluatedAt)
    : Math.min(0, secondsBetween(sentAt, evaluatedAt));
}
