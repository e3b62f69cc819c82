import { onAbort } from '../../units/abort.js';
import { type Clock, DeadlineError, withDeadline } from '../../units/clock.js';
import { CredentialError } from '../credential-files.js';

export interface Fetched<T> {
  readonly value: T;
  /** Milliseconds that it holds from now on; null: not known, it is asked for again after five minutes. */
  readonly lifetimeMs: number | null;
}

/** A token, or keys, got again before they end. */
export interface Renewed<T> {
  /** Throws a `CredentialError`, or the reason of `signal` once that is aborted. */
  readonly get: (signal: AbortSignal) => Promise<T>;
  /** The value was refused. Whether `get` gives, or will get, another one. */
  readonly refuse: (value: T) => boolean;
}

/** For all requests that one renewal makes, and the library's own attempts. */
const FETCH_MS = 10_000;
/** Who refuses is not asked by each query of a round. */
const RETRY_MS = 5000;
/** A value that is refused while it is young is not refused for its age: a new one would not help. */
const YOUNG_MS = 30_000;
const UNKNOWN_LIFETIME_MS = 300_000;
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.2;

/**
 * Keeps what `fetch` gives. A minute before its end, or a fifth of its life where that is less, it is fetched again while
 * the old one goes on being used: no query waits, and an outage shorter than that is not noticed. One fetch at a time. `what`
 * begins each message.
 */
export function createRenewed<T>(options: {
  readonly clock: Clock;
  readonly what: string;
  readonly fetch: (signal: AbortSignal) => Promise<Fetched<T>>;
}): Renewed<T> {
  const { clock, what, fetch } = options;
  let current: Kept<T> | null = null;
  let failure: { readonly error: CredentialError; readonly atMs: number } | null = null;
  let isRefused = false;
  let pending: Promise<void> | null = null;

  const fetchNow = async (): Promise<void> => {
    try {
      const fetched = await withDeadline(clock, { ms: FETCH_MS }, (signal) =>
        untilAborted(fetch(signal), signal),
      );
      current = keep(fetched, clock.monotonicMs());
      failure = null;
      isRefused = false;
    } catch (error) {
      failure = { error: asCredentialError(error, what), atMs: clock.monotonicMs() };
    }
    pending = null;
  };

  const get: Renewed<T>['get'] = async (signal) => {
    const nowMs = clock.monotonicMs();
    const isUsable = current !== null && !isRefused && nowMs < current.endMs;
    if (current !== null && isUsable && nowMs < current.staleAtMs) return current.value;
    const mayAsk = failure === null || nowMs - failure.atMs >= RETRY_MS;
    const running = pending ?? (mayAsk ? (pending = fetchNow()) : null);
    if (current !== null && isUsable) return current.value;
    if (running !== null) await untilAborted(running, signal);
    return valueOf(current, failure);
  };

  const refuse: Renewed<T>['refuse'] = (value) => {
    if (current === null || current.value !== value) return current !== null;
    if (clock.monotonicMs() - current.fetchedAtMs < YOUNG_MS) return false;
    isRefused = true;
    return true;
  };

  return { get, refuse };
}

interface Kept<T> {
  readonly value: T;
  readonly fetchedAtMs: number;
  readonly staleAtMs: number;
  readonly endMs: number;
}

function keep<T>({ value, lifetimeMs }: Fetched<T>, nowMs: number): Kept<T> {
  if (lifetimeMs === null)
    return { value, fetchedAtMs: nowMs, staleAtMs: nowMs + UNKNOWN_LIFETIME_MS, endMs: Infinity };
  const marginMs = Math.min(MARGIN_MS, lifetimeMs * MARGIN_SHARE);
  return { value, fetchedAtMs: nowMs, staleAtMs: nowMs + lifetimeMs - marginMs, endMs: nowMs + lifetimeMs };
}

function valueOf<T>(current: Kept<T> | null, failure: { readonly error: CredentialError } | null): T {
  if (failure !== null) throw failure.error;
  if (current === null) throw new Error('neither a value nor a failure after a fetch');
  return current.value;
}

/** Gives what `work` gives, or throws the reason of `signal` as soon as it is aborted: some libraries heed none. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(asError(signal.reason));
    if (signal.aborted) abort();
    const forget = onAbort(signal, abort);
    work.then(resolve, reject).finally(forget);
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted');
}

function asCredentialError(error: unknown, what: string): CredentialError {
  if (error instanceof CredentialError) return error;
  const why = error instanceof DeadlineError ? error.message : safeWords(error);
  return new CredentialError(`${what}: ${why}`, {
    cause: error instanceof DeadlineError ? error : undefined,
  });
}

/** Errors of libraries hold requests, answers and tokens: nothing but the names in them is passed on. */
function safeWords(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  const fields: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(error));
  const { code, errorCode, status } = fields;
  const number = /\bAADSTS\d+/.exec(error.message)?.[0];
  const names = [error.name, code, errorCode, number].filter(
    (name): name is string => typeof name === 'string' && name !== 'Error' && NAME.test(name),
  );
  const http = typeof status === 'number' ? [`HTTP ${status}`] : [];
  const words = [...http, ...new Set(names)];
  return words.length === 0 ? 'it failed' : `it failed (${words.join(', ')})`;
}

const NAME = /^[A-Za-z]\w{1,40}$/;
