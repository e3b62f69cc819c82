import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Api } from './api.js';
import { apiErrorOf } from './api-error.js';
import type { ApiError } from './api-error.js';
import { keepFresh } from './keep-fresh.js';
import type { Freshness, Refresher } from './keep-fresh.js';
import type { ApiRequest } from './requests.js';

/** The last answer of the API, and whether the last request succeeded. */
export interface Loaded<T> {
  /** The last answer to this request; null: there is none yet. */
  readonly value: T | null;
  /** Why the last request failed, so that `value` is outdated; null: it succeeded. */
  readonly error: ApiError | null;
  readonly refresh: () => void;
}

interface Answered<T> {
  readonly path: string;
  readonly value: T | null;
  readonly error: ApiError | null;
}

/** Reads an answer, and reads it again when it may have changed: see `keepFresh`. */
export function useAnswer<T>(
  api: Api,
  request: ApiRequest<T>,
  { everyMs, isAffected, loadName }: Freshness = {},
): Loaded<T> {
  const { path } = request;
  const [answer, setAnswer] = useState<Answered<T>>({ path, value: null, error: null });
  const latest = useRef({ request, isAffected });
  latest.current = { request, isAffected };
  const refresher = useRef<Refresher | null>(null);

  useEffect(() => {
    const load = async (signal: AbortSignal): Promise<ApiError | null> => {
      try {
        const value = await api.read(latest.current.request, signal);
        setAnswer({ path, value, error: null });
        return null;
      } catch (error) {
        const why = apiErrorOf(error);
        if (!signal.aborted)
          setAnswer((before) => ({
            path,
            value: before.path === path ? before.value : null,
            error: why,
          }));
        return why;
      }
    };
    const one = keepFresh({
      api,
      load,
      everyMs,
      loadName,
      isAffected: (event) => latest.current.isAffected?.(event) === true,
    });
    refresher.current = one;
    return one.stop;
  }, [api, path, everyMs, loadName]);

  const refresh = useCallback(() => refresher.current?.refresh(), []);
  const isCurrent = answer.path === path;
  return { value: isCurrent ? answer.value : null, error: isCurrent ? answer.error : null, refresh };
}
