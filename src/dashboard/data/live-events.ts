import { sleep } from '../../units/clock.js';
import type { Clock } from '../../units/clock.js';
import type { LiveEvent } from '../../api/answers.js';
import { ApiError, errorOfStatus } from './api-error.js';
import { createCell } from './cell.js';
import type { ReadableCell } from './cell.js';
import { createEventParser } from './event-parser.js';
import type { StreamMessage } from './event-parser.js';
import { readBody } from './read-body.js';
import type { Session } from './session.js';

/** The event stream of the service. It reconnects and then receives the missed events, or a `gap` event. */
export interface LiveEvents {
  /** Adds a listener; the first one opens the stream. Returns a function that removes the listener. */
  readonly subscribe: (listener: (event: LiveEvent) => void) => () => void;
  readonly state: ReadableCell<LiveState>;
  /** Reconnects now instead of waiting until `retryAt`. */
  readonly retryNow: () => void;
}

export type LiveState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  /** `since` and `retryAt` are Unix times in ms. */
  | { readonly kind: 'broken'; readonly since: number; readonly retryAt: number; readonly message: string };

interface LiveEventsOptions {
  /** Sends a request with an Authorization header. The `EventSource` of browsers cannot send this header. */
  readonly send: (
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => Promise<Response>;
  readonly clock: Clock;
  readonly session: Session;
}

/** A connection without data for this time counts as lost, because the server sends a comment every 15 s. */
const SILENCE_MS = 40_000;
const MAX_ERROR_BYTES = 64 * 1024;
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 30_000;

export function createLiveEvents({ send, clock, session }: LiveEventsOptions): LiveEvents {
  const state = createCell<LiveState>({ kind: 'connecting' });
  const listeners = new Set<(event: LiveEvent) => void>();
  let isStarted = false;
  let lastId: string | null = null;
  let failures = 0;
  let waiting = new AbortController();

  const connect = async (): Promise<void> => {
    const { token } = session.state.get();
    const controller = new AbortController();
    const silence = (): (() => void) =>
      clock.after(SILENCE_MS, () =>
        controller.abort(
          new ApiError('timeout', `the event stream has sent nothing for ${SILENCE_MS / 1000} s`),
        ),
      );
    let cancel = silence();
    try {
      const headers = lastId === null ? {} : { 'Last-Event-ID': lastId };
      const response = await send(
        'api/v1/events',
        { Accept: 'text/event-stream', ...headers },
        controller.signal,
      );
      if (!response.ok || response.body === null) {
        const error = errorOfStatus(response.status, await readBody(response, MAX_ERROR_BYTES));
        if (error.kind === 'unauthorized') session.reject(error.message, token);
        throw error;
      }
      const reader = response.body.getReader();
      const decoder = new TextDecoder();
      const parser = createEventParser();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) throw new ApiError('unreachable', 'the event stream has ended');
        cancel();
        cancel = silence();
        const messages = parser.push(decoder.decode(value, { stream: true }));
        lastId = parser.lastId() ?? lastId;
        failures = 0;
        if (state.get().kind !== 'open') state.set({ kind: 'open' });
        for (const message of messages) publish(message);
      }
    } finally {
      cancel();
      controller.abort();
    }
  };
  const publish = (message: StreamMessage): void => {
    const event = liveEventOf(message);
    if (event !== null) for (const listener of [...listeners]) listener(event);
  };
  const run = async (): Promise<never> => {
    for (;;) {
      try {
        await connect();
      } catch (error) {
        const before = state.get();
        const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failures) * (0.5 + clock.random() / 2);
        failures = Math.min(failures + 1, 10);
        state.set({
          kind: 'broken',
          since: before.kind === 'broken' ? before.since : clock.now(),
          retryAt: clock.now() + delayMs,
          message: error instanceof ApiError ? error.message : 'promscaler cannot be reached',
        });
        waiting = new AbortController();
        await sleep(clock, delayMs, waiting.signal);
      }
    }
  };
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      if (!isStarted) {
        isStarted = true;
        session.state.subscribe(() => waiting.abort());
        void run();
      }
      return () => void listeners.delete(listener);
    },
    state,
    retryNow: () => waiting.abort(),
  };
}

const TYPES: ReadonlySet<string> = new Set(['decision', 'failure', 'reload', 'gap']);

function liveEventOf({ type, data }: StreamMessage): LiveEvent | null {
  if (!TYPES.has(type)) return null;
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value !== 'object' || value === null || !('at' in value)) return null;
    return { ...value, type } as LiveEvent;
  } catch {
    return null;
  }
}
