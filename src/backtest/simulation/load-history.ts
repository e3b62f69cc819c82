import { type Load, loadOf } from '../../decision/forecast/load.js';
import { pointsAround, seasonOf, seasonSeconds, seasonTimes } from '../../decision/forecast/seasons.js';
import type { LoadHistory, Season, Snapshot } from '../../decision/snapshot/snapshot.js';
import type { Scaler } from '../../scaler/spec.js';
import { addSeconds, type Instant, instantFromMs } from '../../units/time.js';
import type { MetricModel } from './samples.js';
import type { PodStart } from './settings.js';

/** Records the load that a simulated workload has served, as the range queries of a forecast would return it. */
export interface ServedLoad {
  /** Adds the samples of a round and returns the history, which changes at most once a minute. */
  readonly addRound: (now: Instant, observed: Pick<Snapshot, 'pods' | 'samples'>) => LoadHistory;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
/**
 * The times of the seasons are computed once per quarter of an hour: offsets of time zones change only at such times.
 */
const QUARTER_MS = 15 * MINUTE_MS;
const MAX_GAP_SECONDS = 150;

/**
 * Records the served load of each minute. Before `begin`, the known load of the input is used. Returns null if the
 * document has no forecast, or if the metric of the forecast is constant.
 */
export function createServedLoad(
  { spec }: Scaler,
  {
    begin,
    end,
    models,
    podStart,
  }: {
    readonly begin: Instant;
    readonly end: Instant;
    readonly models: readonly MetricModel[];
    readonly podStart: PodStart;
  },
): ServedLoad | null {
  const { forecast, syncPeriodSeconds } = spec;
  const metric = spec.metrics[forecast?.metric ?? -1];
  const model = models[forecast?.metric ?? -1];
  if (forecast === null || metric === undefined || model === undefined || model.kind === 'constant')
    return null;
  const leadSeconds = forecast.leadSeconds ?? Math.ceil(podStart.p95Seconds) + model.windowSeconds;
  const maxGapSeconds = Math.max(MAX_GAP_SECONDS, 2 * syncPeriodSeconds);
  const lookbackMinutes = forecast.lookbackDays * DAY_MINUTES;
  const { from } = seasonSeconds(leadSeconds);
  // The history starts an hour before the first season, because a season also needs the minutes before its time.
  const first = Math.floor(begin / MINUTE_MS) - lookbackMinutes + Math.floor(from / 60) - 60;
  const loads = new Float64Array(Math.floor(end / MINUTE_MS) - first + 1).fill(NaN);
  const minutes = { start: instantFromMs(first * MINUTE_MS), values: loads };
  const highestOfDay: number[] = [];
  let last = -1;
  let known: LoadHistory | null = null;
  let times: { readonly quarter: number; readonly of: readonly Instant[] } | null = null;

  const add = (index: number, load: number): void => {
    loads[index] = load;
    const day = Math.floor(index / DAY_MINUTES);
    highestOfDay[day] = Math.max(highestOfDay[day] ?? 0, load);
  };
  for (let index = 0; (first + index) * MINUTE_MS < begin; index += 1) {
    const load = recordedAt(model, instantFromMs((first + index) * MINUTE_MS));
    if (load !== null) add(index, load);
  }

  const timesOf = (now: Instant): readonly Instant[] => {
    const quarter = Math.floor(now / QUARTER_MS) * QUARTER_MS;
    if (times?.quarter !== quarter) times = { quarter, of: seasonTimes(instantFromMs(quarter), forecast) };
    return times.of.map((at) => instantFromMs(at + now - quarter));
  };

  return {
    addRound: (now, { pods, samples }) => {
      const minute = Math.floor(now / MINUTE_MS);
      if (known !== null && minute === last) return known;
      last = minute;
      const sample = samples[forecast.metric];
      const load: Load | { readonly unknown: string } =
        sample === undefined
          ? { unknown: '' }
          : loadOf(metric, sample, { pods, fillPercent: forecast.fillPercent });
      if ('total' in load) add(minute - first, load.total);
      const seasons = timesOf(now)
        .map((at) => seasonOf(at, pointsAround(minutes, at, leadSeconds), { leadSeconds, maxGapSeconds }))
        .filter((season): season is Season => season !== null);
      const firstDay = Math.floor((minute - first - lookbackMinutes) / DAY_MINUTES);
      const highest = highestOfDay.slice(Math.max(0, firstDay)).reduce((most, one) => Math.max(most, one), 0);
      known = { leadSeconds, highest, seasons, unusable: null };
      return known;
    },
  };
}

/**
 * Returns the value of the metric at a time before the run, as if there had been enough pods; null: the load is
 * unknown.
 */
function recordedAt(model: Exclude<MetricModel, { readonly kind: 'constant' }>, at: Instant): number | null {
  if (model.kind === 'measured') return null;
  const load =
    model.loadIs === 'mean' ? model.load.at(at) : model.load.mean(addSeconds(at, -model.windowSeconds), at);
  return load === null ? null : load * (model.kind === 'share' ? model.unitsPerLoad : 1);
}
