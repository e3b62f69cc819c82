import { CredentialError } from '../../http/credentials.js';
import { onAbort } from '../../units/abort.js';
import { type Clock, DeadlineError, withDeadline } from '../../units/clock.js';
import { errorCode } from '../../units/failure.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A request exactly as it will be sent, because a signature covers all of it. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly body: string | null;
  readonly contentType: string | null;
}

export interface SignedHeaders {
  readonly headers: Readonly<Record<string, string>>;
  /** Strings that must not appear in any message. */
  readonly secrets: readonly string[];
  /** Returns whether the request should be sent again with new headers, because its response has this status. */
  readonly renew: (status: number) => boolean;
}

/** Returns the headers of a request. Throws a `CredentialError`, or the reason of `signal` once it is aborted. */
export type SignIn = (request: OutgoingRequest, signal: AbortSignal) => Promise<SignedHeaders>;

/** Sends a token in the Authorization header. After a response with status 401, a new token is requested. */
export function createBearer(token: Renewed<string>): SignIn {
  return async (_request, signal) => {
    const value = await token.get(signal);
    return {
      headers: { Authorization: `Bearer ${value}` },
      secrets: [value],
      renew: (status) => status === 401 && token.refuse(value),
    };
  };
}

/**
 * Loads a package of an authentication method when it is first needed. Throws a `CredentialError` if the image was
 * built without the package.
 */
export async function loadPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    throw new CredentialError(`the package ${name} is not installed: install the optional dependencies`);
  }
}

export interface Fetched<T> {
  readonly value: T;
  /** Lifetime from now. Null: it is unknown, and the value is fetched again after five minutes. */
  readonly lifetimeMs: number | null;
}

/** A token or a set of keys that is fetched again before it expires. */
export interface Renewed<T> {
  /** Throws a `CredentialError`, or the reason of `signal` once it is aborted. */
  readonly get: (signal: AbortSignal) => Promise<T>;
  /** Reports that the value was rejected. Returns whether `get` will return another value. */
  readonly refuse: (value: T) => boolean;
}

/** Time limit for all requests of one fetch, including those that the library repeats. */
const FETCH_MS = 10_000;
/** The pause after a failed fetch. Without it, each query of a round would fetch again. */
const RETRY_MS = 5000;
/** A value younger than this cannot have expired: if it is rejected, fetching a new one would not help. */
const YOUNG_MS = 30_000;
const UNKNOWN_LIFETIME_MS = 300_000;
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.2;

/**
 * Caches the result of `fetch`. A value is fetched again a minute before it expires, or after four fifths of its
 * lifetime if that is later. Meanwhile the old value is used, so that no query waits and a short outage has no effect.
 * Only one fetch runs at a time. Each error message starts with `what`.
 */
export function createRenewed<T>(options: {
  readonly clock: Clock;
  readonly what: string;
  readonly fetch: (signal: AbortSignal) => Promise<Fetched<T>>;
}): Renewed<T> {
  const { clock, what, fetch } = options;
  let current: CurrentValue<T> | null = null;
  let failure: { readonly error: CredentialError; readonly atMs: number } | null = null;
  let isRefused = false;
  let pending: Promise<void> | null = null;

  const fetchNow = async (): Promise<void> => {
    try {
      const fetched = await withDeadline(clock, { ms: FETCH_MS }, (signal) =>
        unlessAborted(fetch(signal), signal),
      );
      current = currentValue(fetched, clock.monotonicMs());
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
    if (running !== null) await unlessAborted(running, signal);
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

interface CurrentValue<T> {
  readonly value: T;
  readonly fetchedAtMs: number;
  readonly staleAtMs: number;
  readonly endMs: number;
}

function currentValue<T>({ value, lifetimeMs }: Fetched<T>, nowMs: number): CurrentValue<T> {
  if (lifetimeMs === null)
    return { value, fetchedAtMs: nowMs, staleAtMs: nowMs + UNKNOWN_LIFETIME_MS, endMs: Infinity };
  const marginMs = Math.min(MARGIN_MS, lifetimeMs * MARGIN_SHARE);
  return { value, fetchedAtMs: nowMs, staleAtMs: nowMs + lifetimeMs - marginMs, endMs: nowMs + lifetimeMs };
}

function valueOf<T>(current: CurrentValue<T> | null, failure: { readonly error: CredentialError } | null): T {
  if (failure !== null) throw failure.error;
  if (current === null) throw new Error('neither a value nor a failure after a fetch');
  return current.value;
}

/** Returns the result of `work`. Throws when `signal` is aborted, because some libraries ignore signals. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
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

/** Returns only names and codes of an error: its message may contain a request, a response or a token. */
function safeWords(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const fields: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(error));
  const { code, errorCode, status } = fields;
  const number = /\bAADSTS\d+/.exec(error.message)?.[0];
  const names = [error.name, code, errorCode, number].filter(
    (name): name is string => typeof name === 'string' && name !== 'Error' && NAME.test(name),
  );
  const http = typeof status === 'number' ? [`HTTP ${status}`] : [];
  const words = [...http, ...new Set(names)];
  return words.length === 0 ? 'unknown error' : words.join(', ');
}

const NAME = /^[A-Za-z]\w{1,40}$/;
