import type { LiveEvent } from '../../api/answers.js';
import type { ApiError } from './api-error.js';
import type { Api } from './api.js';

export interface Freshness {
  /** The time from a load to the next periodic load; unset: there are no periodic loads. */
  readonly everyMs?: number | undefined;
  /** Delay of a load after an event. All events within this time cause a single load. Default: 300 ms. */
  readonly gatherMs?: number;
  /** The name under which `Api.loads` has the result. Unset: the result is not recorded there. */
  readonly loadName?: string | undefined;
  /** Returns whether an event causes a load. Default: false. A gap event always causes a load. */
  readonly isAffected?: ((event: LiveEvent) => boolean) | undefined;
}

/** Returns a function that returns whether an event is about this scaler. */
export function isAbout({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): (event: LiveEvent) => boolean {
  return (event) => 'namespace' in event && event.namespace === namespace && event.name === name;
}

export interface Refresher {
  /** Loads now. If a load is running, loads again after it. */
  readonly refresh: () => void;
  readonly stop: () => void;
}

interface KeepFreshOptions extends Freshness {
  readonly api: Api;
  /** Returns the error of the load; null: the load succeeded. Must not reject. `stop` aborts the signal. */
  readonly load: (signal: AbortSignal) => Promise<ApiError | null>;
}

const GATHER_MS = 300;

/**
 * Calls `load` at the start, after events, after a reconnection of the event stream, after the user has entered a
 * token, and periodically. Only one load runs at a time. While the page is hidden, loads after events and periodic
 * loads wait.
 */
export function keepFresh({
  api,
  load,
  everyMs,
  gatherMs = GATHER_MS,
  isAffected,
  loadName,
}: KeepFreshOptions): Refresher {
  const controller = new AbortController();
  const { signal } = controller;
  let isLoading = false;
  let isAgain = false;
  let cancelNext = (): void => undefined;
  let cancelSoon: (() => void) | null = null;

  const refresh = (): void => {
    if (isLoading) isAgain = true;
    else void run();
  };
  const run = async (): Promise<void> => {
    isLoading = true;
    cancelNext();
    cancelSoon?.();
    cancelSoon = null;
    const error = await load(signal);
    isLoading = false;
    if (signal.aborted) return;
    record(error, error === null ? api.clock.now() : undefined);
    if (isAgain) {
      isAgain = false;
      refresh();
    } else if (everyMs !== undefined) {
      cancelNext = api.clock.after(everyMs, () => whenVisible(refresh, signal));
    }
  };
  const record = (error: ApiError | null, loadedAt?: number): void => {
    if (loadName === undefined) return;
    const loads = api.loads.get();
    const at = loadedAt ?? loads.get(loadName)?.at ?? null;
    api.loads.set(new Map(loads).set(loadName, { at, error }));
  };
  const soon = (): void => {
    cancelSoon ??= api.clock.after(gatherMs, () => {
      cancelSoon = null;
      whenVisible(refresh, signal);
    });
  };
  let { token } = api.session.state.get();
  const stops = [
    api.live.subscribe((event) => {
      if (event.type === 'gap' || isAffected?.(event) === true) soon();
    }),
    api.live.state.subscribe(() => {
      if (api.live.state.get().kind === 'open') soon();
    }),
    api.session.state.subscribe(() => {
      const before = token;
      ({ token } = api.session.state.get());
      if (token !== null && token !== before) refresh();
    }),
  ];
  refresh();
  return {
    refresh,
    stop: () => {
      controller.abort();
      // Deletes the error, because the page no longer shows the data.
      record(null);
      cancelNext();
      cancelSoon?.();
      for (const stop of stops) stop();
    },
  };
}

/** Calls `action` now, or when the page becomes visible. */
function whenVisible(action: () => void, signal: AbortSignal): void {
  if (document.visibilityState === 'visible') action();
  else
    document.addEventListener('visibilitychange', () => whenVisible(action, signal), { once: true, signal });
}
