import type { ForecastState, ReactiveCount, State } from '../../decision/snapshot/snapshot.js';
import { bucketOf, STATE_BUCKETS } from '../../kubernetes/state/state-key.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Instant } from '../../units/time.js';

export interface ForecastMarks {
  /** The replicas after the last cycle. */
  readonly replicas: number;
  /** The quarter of an hour in which the state was stored last. */
  readonly quarter: number;
}

const QUARTER_MS = 900_000;

/**
 * Returns the number of the quarter of an hour in which `now` is. Quarters start at different times for different
 * ConfigMaps, but at the same time for all scalers of a ConfigMap, which are then stored with one write. So a service
 * makes at most 64 such writes an hour.
 */
export function quarterOf(scaler: Scaler, now: Instant): number {
  return Math.floor((now + (bucketOf(scaler) * QUARTER_MS) / STATE_BUCKETS) / QUARTER_MS);
}

/**
 * Sets the count without a forecast to `replicas`, after something else than a decision has set that count. Otherwise
 * the difference would count as a cost of the forecast.
 */
export function rebased<S extends State>(state: S, replicas: number): S {
  const { forecast, lastScaleUp, lastScaleDown, scaleEvents } = state;
  if (forecast === undefined || forecast.reactive.replicas === replicas) return state;
  const reactive: ReactiveCount = { replicas, lastScaleUp, lastScaleDown, scaleEvents };
  return { ...state, forecast: { ...forecast, reactive } };
}

/** Returns the forecast state of the later decision. */
export function laterForecast(
  a: Pick<State, 'forecast'>,
  b: Pick<State, 'forecast'>,
): Pick<State, 'forecast'> {
  const later = laterOf(a.forecast, b.forecast);
  return later === undefined ? {} : { forecast: later };
}

function laterOf(a: ForecastState | undefined, b: ForecastState | undefined): ForecastState | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.at < b.at ? b : a;
}
