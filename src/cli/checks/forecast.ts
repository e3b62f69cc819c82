import { FEWEST_SEASONS } from '../../decision/forecast/seasons.js';
import { selectLoad, totalLoad } from '../../prometheus/queries/total-load.js';
import type { Answer } from '../../prometheus/answers/answer.js';
import { largestWrittenRangeSeconds } from '../../promql/ranges.js';
import { scalerKey } from '../../scaler/spec.js';
import { countOf, formatSeconds } from '../../units/format.js';
import { formatInstant, instantFromMs } from '../../units/time.js';
import type { CheckResult, ResultBuilder, CheckResults, Checked } from './check-result.js';
import type { ScalerFacts } from './scaler-facts.js';

const DAY_SECONDS = 86_400;
/**
 * Steps of the two queries that find the start of the load. The first query has points only at full hours, so the
 * second query reads the hour before the first point.
 */
const STEP = '1h';
const FINE_STEP = '1m';

/** Minimum number of forecasts for a warning: their range queries over rates are then a considerable load. */
const MANY_FORECASTS = 1000;

/**
 * Checks for how long the load for the forecast is known. For the first scaler with a forecast, also counts the
 * forecasts whose query calculates a rate.
 */
export async function checkForecast(facts: Checked<ScalerFacts>): Promise<CheckResults> {
  const { scaler, sources, make } = facts;
  const { forecast, metrics } = scaler.spec;
  const metric = metrics[forecast?.metric ?? -1];
  if (forecast === null || metric === undefined) return make.ok('');
  const context = sources.get(metric.source);
  if (context === undefined) return make.skipped('the data source does not answer');
  const load = totalLoad(metric, scaler, context.source);
  if (load === null) return make.skipped(`the data source has no query for ${metric.identity}`);
  const { lookbackDays } = forecast;
  const answer = await context.runQuery(`min_over_time(timestamp(${load.query})[${lookbackDays}d:${STEP}])`);
  const what = `the load of ${metric.identity}`;
  if (answer.class === 'failed' || answer.class === 'invalid')
    return make.warning(
      `${what} in the last ${lookbackDays} d (lookback) cannot be read: ${answer.message}`,
      'use a recording rule for the query, so that range queries of this length are cheaper; until the data source answers them, the forecast proposes nothing',
    );
  const now = context.clock.now() / 1000;
  const firstOf = (found: Answer): number =>
    'series' in found ? Math.min(...selectLoad(load, found.series).map(({ value }) => value)) : Infinity;
  const hour = firstOf(answer);
  const offset = Math.max(0, Math.floor(now - Math.min(hour, now)));
  const fine = await context.runQuery(
    `min_over_time(timestamp(${load.query})[${STEP}:${FINE_STEP}]${offset === 0 ? '' : ` offset ${offset}s`})`,
  );
  const since = Math.min(hour, firstOf(fine));
  const seconds = Math.min(Math.round(now - since), lookbackDays * DAY_SECONDS);
  if (seconds >= FEWEST_SEASONS * DAY_SECONDS)
    return [
      make.ok(`${what} is known for ${formatSeconds(seconds)} of the last ${lookbackDays} d (lookback)`),
      ...adviseRules(facts, make),
    ];
  const start = since === Infinity ? null : formatInstant(instantFromMs(since * 1000));
  const known =
    start === null ? 'is not known' : `is known only since ${start}, for ${formatSeconds(seconds)}`;
  return make.warning(
    `${what} ${known}. The forecast needs at least ${FEWEST_SEASONS} days of history, and proposes nothing until then`,
    `wait, or increase the retention of the data source to at least the lookback of ${lookbackDays} d`,
  );
}

function adviseRules(
  { scaler, allScalers, sources }: ScalerFacts,
  make: ResultBuilder,
): readonly CheckResult[] {
  const first = allScalers.find(({ spec }) => spec.forecast !== null);
  if (first === undefined || scalerKey(first) !== scalerKey(scaler)) return [];
  const ofRates = allScalers.filter((one) => {
    const metric = one.spec.metrics[one.spec.forecast?.metric ?? -1];
    const source = metric === undefined ? undefined : sources.get(metric.source)?.source;
    const load = metric === undefined || source === undefined ? null : totalLoad(metric, one, source);
    return load !== null && largestWrittenRangeSeconds(load.query) > 0;
  });
  if (ofRates.length < MANY_FORECASTS) return [];
  return [
    make.warning(
      `${countOf(ofRates.length, 'document')} have a forecast whose query calculates a rate. The data source calculates this rate again for each point of each earlier day, in eight range queries an hour`,
      'record the rate with a recording rule, and query the series of the rule',
    ),
  ];
}
