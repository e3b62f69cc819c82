import { Worker } from 'node:worker_threads';
import type { Range } from '../backtest/history/fetch-series.js';
import type { RangeAnswer } from '../prometheus/answers/classify.js';
import type { RangeQuery } from '../prometheus/client/range-client.js';
import type { SourceConfig } from '../prometheus/data-source/source-config.js';
import type { Scaler } from '../scaler/spec.js';
import { onAbort } from '../units/abort.js';
import { type Clock, sleep } from '../units/clock.js';
import { errorCode, errorMessage } from '../units/failure.js';
import { formatSeconds } from '../units/format.js';
import type { Instant } from '../units/time.js';
import type { Suggestion } from './suggest.js';

export interface BackTestData {
  readonly scaler: Scaler;
  readonly range: Range;
  readonly now: Instant;
  /** The data sources, without addresses and credentials. */
  readonly sources: readonly SourceConfig[];
  readonly turns: Turns;
}

export type WorkerMessage =
  | { readonly kind: 'query'; readonly number: number; readonly source: string; readonly query: RangeQuery }
  | { readonly kind: 'found'; readonly suggestion: Suggestion }
  | { readonly kind: 'impossible'; readonly why: string };

export interface WorkerAnswer {
  readonly number: number;
  readonly answer: RangeAnswer;
}

/** `why`: why there is no suggestion. Null: the back-test was stopped. */
export type BackTestResult = { readonly suggestion: Suggestion } | { readonly why: string } | null;

export interface BackTestParts {
  readonly clock: Clock;
  readonly sources: readonly SourceConfig[];
  readonly queryRange: (source: string, query: RangeQuery, signal: AbortSignal) => Promise<RangeAnswer>;
  /** How much CPU time the worker may take, in percent of one core. */
  readonly cpuPercent: number;
  readonly signal: AbortSignal;
  /** The module that the worker runs. Default: back-test-worker.js. */
  readonly entry?: URL | undefined;
}

/**
 * Limits the memory of the worker, which takes 60 to 100 MiB for 7 days. The memory limit of the container is higher,
 * so only the worker fails if it needs too much.
 */
const MEMORY_MIB = 256;
const LONGEST_MS = 2 * 3_600_000;
const MOST_QUERIES = 1000;
/** Limits the number of values in all answers together. */
const MOST_POINTS = 2_000_000;

/**
 * Back-tests a document in a worker thread. The thread is terminated at the end of the back-test, or when it exceeds a
 * limit. Never throws.
 */
export async function runBackTest(
  scaler: Scaler,
  range: Range,
  { clock, sources, queryRange, cpuPercent, signal, entry }: BackTestParts,
): Promise<BackTestResult> {
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal]);
  const turns = createTurns();
  const data: BackTestData = {
    scaler,
    range,
    now: clock.now(),
    sources: sources.map(withoutAccess),
    turns,
  };
  const worker = new Worker(entry ?? new URL('./back-test-worker.js', import.meta.url), {
    // The worker gets no environment variables: they may contain secrets, and it needs none.
    env: {},
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB },
  });
  const answer = createAnswering(queryRange, stop);
  let cancel = (): void => undefined;
  const result = await new Promise<BackTestResult>((resolve) => {
    const late = `the back-test takes longer than ${formatSeconds(LONGEST_MS / 1000)}`;
    cancel = clock.after(LONGEST_MS, () => resolve(failed(late)));
    onAbort(signal, () => resolve(null));
    if (signal.aborted) resolve(null);
    worker
      .on('message', (message: WorkerMessage) => {
        if (message.kind === 'found') resolve({ suggestion: message.suggestion });
        else if (message.kind === 'impossible')
          resolve({ why: `the document cannot be back-tested: ${message.why}` });
        else void answer(message).then((sent) => stop.aborted || worker.postMessage(sent));
      })
      .on('error', (error) => resolve(failed(describe(error))))
      .on('exit', () => resolve(failed('the worker thread exited')));
    void limitShare(turns, { percent: cpuPercent, clock, signal: stop });
  });
  cancel();
  ended.abort();
  await worker.terminate();
  return result;
}

function failed(why: string): BackTestResult {
  return { why: `the back-test failed: ${why}` };
}

function describe(error: unknown): string {
  if (errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY')
    return `the back-test takes more than ${MEMORY_MIB} MiB of memory`;
  return errorMessage(error);
}

/** Returns a function that answers the queries of the worker. Once a limit is exceeded, no further query is sent. */
function createAnswering(
  queryRange: BackTestParts['queryRange'],
  signal: AbortSignal,
): (asked: Extract<WorkerMessage, { readonly kind: 'query' }>) => Promise<WorkerAnswer> {
  let queries = 0;
  let points = 0;
  return async ({ number, source, query }) => {
    queries += 1;
    if (queries > MOST_QUERIES || points > MOST_POINTS) {
      const message = `the history has more than ${MOST_POINTS} points or needs more than ${MOST_QUERIES} queries`;
      return { number, answer: { class: 'failed', reason: 'canceled', message } };
    }
    const answer = await queryRange(source, query, signal);
    if (answer.class === 'matrix') for (const series of answer.series) points += series.points.length;
    return { number, answer };
  };
}

function withoutAccess(config: SourceConfig): SourceConfig {
  return {
    ...config,
    urls: [],
    headers: {},
    bearerTokenFile: null,
    basicAuth: null,
    signIn: null,
    tls: null,
  };
}

/**
 * Memory that the service shares with a worker thread to limit its CPU time. The service sets one element to request a
 * pause of the worker. The worker sets the other element while it is idle, because it pauses or waits for an answer.
 */
export type Turns = Int32Array<SharedArrayBuffer>;

const MUST_PAUSE = 0;
const IS_IDLE = 1;

export function createTurns(): Turns {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}

/** Called by the worker between two steps of its work. Blocks as long as the worker must pause. */
export function takeTurn(turns: Turns): void {
  while (Atomics.load(turns, MUST_PAUSE) === 1) {
    Atomics.store(turns, IS_IDLE, 1);
    Atomics.wait(turns, MUST_PAUSE, 1);
  }
  Atomics.store(turns, IS_IDLE, 0);
}

/** Called by the worker before it waits for an answer. */
export function beginWait(turns: Turns): void {
  Atomics.store(turns, IS_IDLE, 1);
}

const TURN_MS = 50;

/**
 * Limits the worker to a share of a core, in percent, until `signal` is aborted. The worker pauses only between two
 * steps. A long step is therefore followed by a long pause.
 */
export async function limitShare(
  turns: Turns,
  {
    percent,
    clock,
    signal,
  }: { readonly percent: number; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const pausePerMs = (100 - percent) / percent;
  const measure = async (ms: number): Promise<number> => {
    const startMs = clock.monotonicMs();
    await sleep(clock, ms, signal);
    return clock.monotonicMs() - startMs;
  };
  const hasEnded = (): boolean => signal.aborted;
  while (!hasEnded()) {
    Atomics.store(turns, MUST_PAUSE, 0);
    Atomics.notify(turns, MUST_PAUSE);
    let leftMs = (await measure(TURN_MS)) * pausePerMs;
    if (leftMs > 0) Atomics.store(turns, MUST_PAUSE, 1);
    while (leftMs > 0 && !hasEnded()) {
      const passedMs = await measure(Math.min(leftMs, TURN_MS));
      leftMs += Atomics.load(turns, IS_IDLE) === 1 ? -passedMs : passedMs * pausePerMs;
    }
  }
}
