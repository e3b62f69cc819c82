import { type Clock, sleep } from '../../units/clock.js';
import { retryAfterSeconds, withoutTrailingSlashes } from '../../http/http-client.js';
import { CANCELED, failureAt, type FailureReason, isServerFailure } from '../../units/failure.js';
import { createSemaphore } from '../../units/semaphore.js';
import type { Instant } from '../../units/time.js';
import { classifyRange, type RangeAnswer } from '../answers/classify.js';
import type { SourceConfig } from '../data-source/source-config.js';
import type { Environment } from '../sign-in/sign-in.js';
import { FLAVOR_PARAMETERS } from './engine.js';
import { createSend, hostOf } from './request.js';

/** Evaluates `query` at `start`, `start + stepSeconds` and so on up to `end`. */
export interface RangeQuery {
  readonly query: string;
  readonly start: Instant;
  readonly end: Instant;
  readonly stepSeconds: number;
}

export interface RangeClient {
  /** Never throws. Waits while `maxConcurrentQueries` other range queries are running. */
  readonly queryRange: (range: RangeQuery, options: RangeOptions) => Promise<RangeAnswer>;
}

interface RangeOptions {
  /** The time limit of each attempt. Waiting for other queries does not count. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const RANGE_PATH = '/api/v1/query_range';
const ATTEMPTS = 3;
const RETRY_PAUSE_MS = 500;
const MAX_RETRY_AFTER_SECONDS = 60;

/** Creates a client for range queries. It tries the URLs in order, and all of them again if all servers failed. */
export function createRangeClient(config: SourceConfig, clock: Clock, env: Environment = {}): RangeClient {
  const send = createSend(config, clock, env);
  const slots = createSemaphore(config.maxConcurrentQueries);
  const servers = config.urls.map((url) => ({
    host: hostOf(url),
    url: withoutTrailingSlashes(url) + RANGE_PATH,
  }));

  const once = async (range: RangeQuery, options: RangeOptions): Promise<Attempt> => {
    let last: Attempt = { answer: CANCELED, retryAfterSeconds: 0 };
    for (const server of servers) {
      last = await attempt(server, range, options);
      if (last.answer.class === 'matrix' || !isServerFailure(last.answer.reason)) return last;
    }
    return last;
  };

  const attempt = async (
    { host, url }: (typeof servers)[number],
    range: RangeQuery,
    { timeoutMs, signal }: RangeOptions,
  ): Promise<Attempt> => {
    const parameters = { ...parametersOf(range, timeoutMs), ...flavor };
    const result = await send({ url, parameters, isQuery: true, timeoutMs, signal });
    if (result.class === 'failed') return { answer: failureAt(host, result), retryAfterSeconds: 0 };
    const time = { now: clock.now(), most: MAX_RETRY_AFTER_SECONDS };
    const seconds = retryAfterSeconds(result.retryAfter, time) ?? 0;
    const answer = classifyRange(result);
    if (answer.class === 'matrix') return { answer, retryAfterSeconds: seconds };
    const message = result.redact(answer.message);
    return { answer: failureAt(host, { ...answer, message }), retryAfterSeconds: seconds };
  };
  const flavor = FLAVOR_PARAMETERS[config.flavor];

  const queryRange: RangeClient['queryRange'] = async (range, options) => {
    const release = await slots.acquire();
    try {
      for (let attempts = 1; ; attempts += 1) {
        if (options.signal?.aborted === true) return CANCELED;
        const { answer, retryAfterSeconds: seconds } = await once(range, options);
        const isFinal = answer.class === 'matrix' || !MAY_PASS.has(answer.reason);
        if (isFinal || attempts === ATTEMPTS) return answer;
        await sleep(clock, Math.max(RETRY_PAUSE_MS * attempts, seconds * 1000), options.signal);
      }
    } finally {
      release();
    }
  };
  return { queryRange };
}

interface Attempt {
  readonly answer: RangeAnswer;
  readonly retryAfterSeconds: number;
}

/** Failures after which the same query is tried again. After a timeout only a query of a shorter range may succeed. */
const MAY_PASS: ReadonlySet<FailureReason> = new Set(['connection', 'server_error', 'rate_limited']);

function parametersOf(
  { query, start, end, stepSeconds }: RangeQuery,
  ms: number,
): Readonly<Record<string, string>> {
  return {
    query,
    start: String(start / 1000),
    end: String(end / 1000),
    step: String(stepSeconds),
    timeout: `${Math.ceil(ms)}ms`,
  };
}

/** How often `untilIdle` checks for running queries, and for how long at most. */
const IDLE_CHECK_MS = 250;
const LONGEST_WAIT_MS = 30_000;

/** Waits at most 30 s until no query of a round is running. Returns whether none is running. */
export async function untilIdle(
  { isBusy, clock }: { readonly isBusy: () => boolean; readonly clock: Clock },
  signal: AbortSignal,
): Promise<boolean> {
  const startMs = clock.monotonicMs();
  while (isBusy() && !signal.aborted && clock.monotonicMs() - startMs < LONGEST_WAIT_MS)
    await sleep(clock, IDLE_CHECK_MS, signal);
  return !isBusy() && !signal.aborted;
}
