import type { ForecastMode, MetricSpec } from '../../scaler/spec.js';
import type { Figures } from './figures.js';
import { type Backtest, type Result, runAll, type Variant } from './variant.js';

/** A variant that is added to the variants of the user, and its result. */
export interface Added {
  readonly variant: Variant;
  readonly result: Result;
}

/**
 * Returns the results of two added variants: a variant with the other forecast mode, and a variant without a forecast,
 * whose target is lowered until it needs as many pod-hours as the mode `Raise`. Empty: the document has no forecast, or
 * no figures.
 */
export async function compareForecast(
  { scaler, name }: Variant,
  { figures }: Result,
  backtest: Backtest,
): Promise<readonly Added[]> {
  const { forecast } = scaler.spec;
  if (forecast === null || figures === null) return [];
  const mode = forecast.mode === 'Raise' ? 'Observe' : 'Raise';
  const other = withMode({ scaler, name }, mode);
  const [result] = await runAll([other], backtest);
  if (result === undefined) return [];
  const added = [{ variant: other, result }];
  if (result.figures === null) return added;
  const [without, raised] = mode === 'Raise' ? [figures, result.figures] : [result.figures, figures];
  const lower = await withLowerTarget({ scaler, name }, { without, raised }, backtest);
  return lower === null ? added : [...added, lower];
}

export function withMode({ scaler }: Variant, mode: ForecastMode): Variant {
  const { forecast } = scaler.spec;
  if (forecast === null) throw new Error('the document has no forecast');
  const spec = { ...scaler.spec, forecast: { ...forecast, mode } };
  return { name: `forecast.mode=${mode}`, scaler: { ...scaler, spec } };
}

/** The pod-hours of two variants count as equal if they differ by at most this share. */
const SAME_HOURS = 0.005;
const MOST_RUNS = 10;
const LOWEST_FACTOR = 0.2;

/**
 * Returns the variant without a forecast and with a lower target; null: even with the current target, it needs as many
 * pod-hours as with the forecast.
 */
async function withLowerTarget(
  { scaler }: Variant,
  { without, raised }: { readonly without: Figures; readonly raised: Figures },
  backtest: Backtest,
): Promise<Added | null> {
  const wanted = raised.podHours;
  let low = LOWEST_FACTOR;
  let high = 1;
  let factor = without.podHours / wanted;
  if (factor > 1 - SAME_HOURS) return null;
  let best: Added | null = null;
  let distance = Infinity;
  for (let run = 0; run < MOST_RUNS && distance > SAME_HOURS; run += 1) {
    const variant = atTarget(scaler, factor);
    const [result] = await runAll([variant], backtest);
    if (result === undefined || result.figures === null) return best;
    const more = result.figures.podHours / wanted - 1;
    if (Math.abs(more) < distance) {
      distance = Math.abs(more);
      best = { variant, result };
    }
    if (more > 0) low = factor;
    else high = factor;
    // The next factor assumes that the pod-hours are inversely proportional to the target. If the factor is not between
    // the bounds, the middle of the bounds is used instead.
    const next = factor * (1 + more);
    factor = next > low && next < high ? next : (low + high) / 2;
  }
  return best;
}

/**
 * Returns the document without its forecast, with the target multiplied by `factor`. The target may have fractions of a
 * percent, which are invalid in a document, because whole percents would not reach equal pod-hours.
 */
function atTarget(scaler: Variant['scaler'], factor: number): Variant {
  const { spec } = scaler;
  const metrics = spec.metrics.map((metric, index) =>
    index === spec.forecast?.metric ? lowered(metric, factor) : metric,
  );
  return {
    name: `without forecast, target multiplied by ${factor.toFixed(3)}`,
    scaler: { ...scaler, spec: { ...spec, forecast: null, metrics } },
  };
}

function lowered(metric: MetricSpec, factor: number): MetricSpec {
  const { target } = metric;
  const milli = (of: bigint): bigint => (of * BigInt(Math.round(factor * 1e6))) / 1_000_000n;
  return {
    ...metric,
    target:
      target.type === 'Utilization'
        ? { ...target, percent: target.percent * factor }
        : { ...target, milli: milli(target.milli) },
  };
}
