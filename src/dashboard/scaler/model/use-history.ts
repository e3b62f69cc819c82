import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../data/api-error.js';
import type { Api } from '../../data/api.js';
import { isAbout, keepFresh } from '../../data/keep-fresh.js';
import { historyRequest } from '../../data/requests.js';
import { parseTime } from '../../ui/formats.js';
import { replaceParameters, useHash } from '../../ui/hooks.js';
import { type ChartData, joinHistories, NO_CHART_DATA, readHistory } from './chart-data.js';

interface ScalerName {
  readonly namespace: string;
  readonly name: string;
}

const PERIOD_MS = 15_000;

/**
 * Reads the points in the memory of the service, and afterwards only new points. If the service has none, `data` is
 * empty and there is no error.
 */
export function useRecentHistory(
  api: Api,
  { namespace, name }: ScalerName,
): { readonly data: ChartData; readonly error: ApiError | null } {
  const [state, setState] = useState<{ readonly data: ChartData; readonly error: ApiError | null }>({
    data: NO_CHART_DATA,
    error: null,
  });
  useEffect(() => {
    let data = NO_CHART_DATA;
    const load = async (signal: AbortSignal): Promise<ApiError | null> => {
      const last = data.at.at(-1);
      const since = last === undefined ? undefined : new Date(last * 1000).toISOString();
      try {
        const answer = await api.read(historyRequest(namespace, name, { since }), signal);
        data = joinHistories(data, readHistory(answer), Infinity);
        setState({ data, error: null });
        return null;
      } catch (error) {
        const known = error instanceof ApiError ? error : null;
        if (!signal.aborted) setState({ data, error: known?.kind === 'not-found' ? null : known });
        return known;
      }
    };
    return keepFresh({ api, load, everyMs: PERIOD_MS, isAffected: isAbout({ namespace, name }) }).stop;
  }, [api, namespace, name]);
  return state;
}

/**
 * Reads the last hours or days from Prometheus. `data` is null if `range` is null, while the history is read, and if
 * reading it failed (`error`).
 */
export function useLongHistory(
  api: Api,
  { namespace, name }: ScalerName,
  range: { readonly since: number; readonly stepSeconds: number } | null,
): { readonly data: ChartData | null; readonly error: ApiError | null } {
  const [state, setState] = useState<{ readonly data: ChartData | null; readonly error: ApiError | null }>({
    data: null,
    error: null,
  });
  const since = range?.since ?? null;
  const step = range?.stepSeconds ?? 0;
  useEffect(() => {
    setState({ data: null, error: null });
    if (since === null) return undefined;
    const controller = new AbortController();
    const request = historyRequest(namespace, name, {
      source: 'prometheus',
      since: new Date(since * 1000).toISOString(),
      step,
    });
    api.read(request, controller.signal).then(
      (answer) => setState({ data: readHistory(answer), error: null }),
      (error: unknown) => {
        if (!controller.signal.aborted)
          setState({ data: null, error: error instanceof ApiError ? error : null });
      },
    );
    return () => controller.abort();
  }, [api, namespace, name, since, step]);
  return state;
}

/** The selected time, which is the parameter `at` of the address. `at` is in RFC 3339; null: the last decision. */
export interface Moment {
  readonly at: string | null;
  /** `at` in Unix seconds; null: the last decision. */
  readonly second: number | null;
  readonly select: (second: number | null) => void;
}

export function useMoment(): Moment {
  const hash = useHash();
  const mark = hash.indexOf('?');
  const given = mark === -1 ? null : new URLSearchParams(hash.slice(mark + 1)).get('at');
  const ms = given === null ? null : parseTime(given);
  const select = useCallback((second: number | null) => {
    const at =
      second === null ? null : new Date(Math.round(second * 1000)).toISOString().replace('.000Z', 'Z');
    replaceParameters(new URLSearchParams(at === null ? {} : { at }));
  }, []);
  return {
    at: ms === null ? null : new Date(ms).toISOString().replace('.000Z', 'Z'),
    second: ms === null ? null : ms / 1000,
    select,
  };
}
