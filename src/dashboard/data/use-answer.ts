import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { LiveEvent } from './answers.js';
import type { Api } from './api.js';
import { ApiError } from './api-error.js';
import type { ApiRequest } from './requests.js';
import { useCell } from './use-cell.js';

/** An answer of the API and what became of the last request. */
export interface Loaded<T> {
  /** The last answer; null: none yet, or the request is another one. */
  readonly value: T | null;
  /** Why the last request failed; null: it did not. With a value, that value is outdated. */
  readonly error: ApiError | null;
  readonly refresh: () => void;
}

export interface Refreshing {
  /** Time between two requests; unset: only when something happens. */
  readonly everyMs?: number;
  /** Events after which the answer is read again. */
  readonly isAffected?: (event: LiveEvent) => boolean;
}

/** Several events within this time cause one request. */
const GATHER_MS = 300;

/**
 * Reads an answer, and reads it again after events, after breaks of the event stream, when the user enters a token and
 * periodically. A hidden page waits until it is shown.
 */
export function useAnswer<T>(
  api: Api,
  request: ApiRequest<T>,
  { everyMs, isAffected }: Refreshing = {},
): Loaded<T> {
  const { path } = request;
  const [answer, setAnswer] = useState<{
    readonly path: string;
    readonly value: T | null;
    readonly error: ApiError | null;
  }>({ path, value: null, error: null });
  const [round, setRound] = useState(0);
  const { token } = useCell(api.session.state);
  const refresh = useCallback(() => setRound((before) => before + 1), []);
  const latest = useRef({ request, isAffected });
  latest.current = { request, isAffected };

  useEffect(() => {
    const controller = new AbortController();
    let cancel = (): void => undefined;
    const done = (next: { value: T } | { error: ApiError }): void => {
      if (controller.signal.aborted) return;
      setAnswer((before) => ({
        path,
        value: 'value' in next ? next.value : before.path === path ? before.value : null,
        error: 'error' in next ? next.error : null,
      }));
      if (everyMs !== undefined)
        cancel = api.clock.after(everyMs, () => whenVisible(refresh, controller.signal));
    };
    api.read(latest.current.request, controller.signal).then(
      (value) => done({ value }),
      (error: unknown) =>
        done({ error: error instanceof ApiError ? error : new ApiError('invalid', 'unknown') }),
    );
    return () => {
      controller.abort();
      cancel();
    };
  }, [api, path, round, token, everyMs, refresh]);

  useEffect(() => {
    let cancel: (() => void) | null = null;
    const soon = (): void => {
      cancel ??= api.clock.after(GATHER_MS, () => {
        cancel = null;
        refresh();
      });
    };
    const stops = [
      api.live.subscribe((event) => {
        if (event.type === 'gap' || latest.current.isAffected?.(event) === true) soon();
      }),
      api.live.state.subscribe(() => {
        if (api.live.state.get().kind === 'open') soon();
      }),
    ];
    return () => {
      cancel?.();
      for (const stop of stops) stop();
    };
  }, [api, refresh]);

  const isCurrent = answer.path === path;
  return { value: isCurrent ? answer.value : null, error: isCurrent ? answer.error : null, refresh };
}

/** Calls `action` now, or when the page is shown. */
function whenVisible(action: () => void, signal: AbortSignal): void {
  if (document.visibilityState === 'visible') action();
  else
    document.addEventListener('visibilitychange', () => whenVisible(action, signal), { once: true, signal });
}
