import type { ForecastState, ReactiveCount, State } from '../../decision/snapshot/snapshot.js';
import { bucketOf, STATE_BUCKETS } from '../../kubernetes/state/state-key.js';
import type { Scaler } from '../../scaler/spec.js';
import type { Instant } from '../../units/time.js';

/** What the loop remembers of a forecast between two cycles. */
export interface ForecastMarks {
  /** The count that the last cycle left. */
  readonly replicas: number;
  /** The quarter of an hour in which the state was stored last. */
  readonly quarter: number;
}

const QUARTER_MS = 900_000;

/**
 * Returns the quarter of an hour, which begins at another time for each ConfigMap. All scalers of a ConfigMap are then
 * stored with one write, and those of a service with 64 an hour.
 */
export function quarterOf(scaler: Scaler, now: Instant): number {
  return Math.floor((now + (bucketOf(scaler) * QUARTER_MS) / STATE_BUCKETS) / QUARTER_MS);
}

/**
 * Returns the state in which the count without a forecast is the count that the target has. For a count that no decision
 * of the scaler has set: what a forecast costs would otherwise include the difference.
 */
export function rebased<S extends State>(state: S, replicas: number): S {
  const { forecast, lastScaleUp, lastScaleDown, scaleEvents } = state;
  if (forecast === undefined || forecast.reactive.replicas === replicas) return state;
  const reactive: ReactiveCount = { replicas, lastScaleUp, lastScaleDown, scaleEvents };
  return { ...state, forecast: { ...forecast, reactive } };
}

/** Returns the state of a later decision. */
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
