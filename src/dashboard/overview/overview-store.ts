import type { Api } from '../data/api.js';
import { apiErrorOf } from '../data/api-error.js';
import type { ApiError } from '../data/api-error.js';
import { createCell } from '../data/cell.js';
import type { ReadableCell } from '../data/cell.js';
import { keepFresh } from '../data/keep-fresh.js';
import type { Refresher } from '../data/keep-fresh.js';
import { overviewRequest } from '../data/requests.js';
import { mergeOverview } from './merge-overview.js';
import type { Fleet } from './merge-overview.js';

export interface OverviewState {
  /** All scalers; null: there was no answer yet. */
  readonly fleet: Fleet | null;
  /** Why the last request failed; null: it succeeded. */
  readonly error: ApiError | null;
}

/** Holds the rows of all scalers, even while another page is shown. */
export interface OverviewStore {
  readonly state: ReadableCell<OverviewState>;
  /** Keeps the rows up to date until `stop` of the returned object is called. */
  readonly start: () => Refresher;
}

/** Interval of periodic loads. They are needed because a cycle may change the value of a metric without an event. */
const EVERY_MS = 10_000;
/** How long events are gathered before a load. A thousand scalers may change within a second. */
const GATHER_MS = 500;

export function createOverviewStore(api: Api): OverviewStore {
  const state = createCell<OverviewState>({ fleet: null, error: null });
  const load = async (signal: AbortSignal): Promise<ApiError | null> => {
    const { fleet } = state.get();
    try {
      const answer = await api.read(overviewRequest(fleet?.facts.revision ?? null), signal);
      state.set({ fleet: mergeOverview(fleet, answer), error: null });
      return null;
    } catch (error) {
      const why = apiErrorOf(error);
      if (!signal.aborted) state.set({ fleet, error: why });
      return why;
    }
  };
  return {
    state,
    start: () =>
      keepFresh({
        api,
        load,
        everyMs: EVERY_MS,
        gatherMs: GATHER_MS,
        isAffected: () => true,
        loadName: 'overview',
      }),
  };
}
