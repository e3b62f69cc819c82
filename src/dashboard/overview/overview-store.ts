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
  /** Null: no answer yet. */
  readonly fleet: Fleet | null;
  /** Why the last request failed; null: it succeeded. */
  readonly error: ApiError | null;
}

/** Keeps the rows of all scalers while another page is shown. */
export interface OverviewStore {
  readonly state: ReadableCell<OverviewState>;
  /** Updates the rows until `stop` is called. */
  readonly start: () => Refresher;
}

/** A cycle that changes no replicas causes no event, but can change a metric. */
const EVERY_MS = 10_000;
/** A thousand scalers can change within a second. */
const GATHER_MS = 500;

export function createOverviewStore(api: Api): OverviewStore {
  const state = createCell<OverviewState>({ fleet: null, error: null });
  const load = async (signal: AbortSignal): Promise<void> => {
    const { fleet } = state.get();
    try {
      const answer = await api.read(overviewRequest(fleet?.facts.revision ?? null), signal);
      state.set({ fleet: mergeOverview(fleet, answer), error: null });
    } catch (error) {
      if (!signal.aborted) state.set({ fleet, error: apiErrorOf(error) });
    }
  };
  return {
    state,
    start: () => keepFresh({ api, load, everyMs: EVERY_MS, gatherMs: GATHER_MS, isAffected: () => true }),
  };
}
