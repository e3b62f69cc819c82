import type { Forecast } from '../../scaler/spec.js';
import { buildCondition, type Condition } from '../result/condition.js';
import type { ForecastState } from '../snapshot/snapshot.js';
import { PART_SECONDS, PARTS } from '../../units/bounds.js';
import { sumOfParts } from './budget.js';

/**
 * Number of finished parts that are needed. Three days have 12 parts of 6 hours, of which the last one is unfinished.
 */
const FEWEST_PARTS = 11;

/** If fewer pod-seconds were missing in three days, the forecast is not worth a change of the document. */
const LEAST_SHORT_POD_SECONDS = 600;

/** `LEAST_SHORT_POD_SECONDS` as the mean number of missing pods over three days. */
export const LEAST_MISSING_PODS = LEAST_SHORT_POD_SECONDS / (PARTS * PART_SECONDS);

/**
 * Returns a condition if a forecast in mode `Observe` would have been useful: within its budget, it would have
 * prevented at least half of the pod-seconds that were missing in three days. Null: it would not have been useful, or
 * too little is known. The result changes at most every 6 hours.
 */
export function worthRaising(
  { mode, budgetPercent }: Forecast,
  { spent }: Pick<ForecastState, 'spent'>,
): Condition | null {
  const closed = spent.slice(0, -1);
  if (mode !== 'Observe' || closed.length < FEWEST_PARTS) return null;
  const { reactive, added, short, prevented } = sumOfParts(closed);
  const percent = reactive > 0 ? (100 * added) / reactive : Infinity;
  if (short < LEAST_SHORT_POD_SECONDS || prevented < short / 2 || percent > budgetPercent) return null;
  const share = Math.round((100 * prevented) / short);
  const cost = Math.round(10 * percent) / 10;
  return buildCondition(
    'ForecastUseful',
    'WorthRaising',
    `spec.forecast.mode: Raise would have prevented ${share} % of the missing pods of the last 3 days for ${cost} % more replicas (budgetPercent is ${budgetPercent})`,
  );
}
