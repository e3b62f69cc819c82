import { decide } from '../../decision/decide.js';
import type { Decision } from '../../decision/result/decision.js';
import type { LimitName } from '../../decision/result/limit-names.js';
import {
  EMPTY_STATE,
  type Snapshot,
  type State,
  type LoadHistory,
  type Season,
} from '../../decision/snapshot/snapshot.js';
import type { MetricSpec, Scaler } from '../../scaler/spec.js';
import { addSeconds, type Instant, instantFromMs } from '../../units/time.js';
import { type CountStep, countsSince } from './count-steps.js';
import type { QueueLog } from './queue.js';
import { createWorkload, type Workload, type WorkloadInput } from './workload.js';
import type { Load } from './load.js';
import type { MetricModel } from './samples.js';
import { loadOf } from '../../decision/forecast/load.js';
import { pointsAround, seasonOf, seasonSeconds, seasonTimes } from '../../decision/forecast/seasons.js';
import type { PodStart } from './settings.js';

export interface RunInput<L = Load> extends WorkloadInput<L> {
  /** Time of the first round. Default: one sync period after the simulation begins. */
  readonly firstRoundAt?: Instant;
}

/** The replicas and decisions of a document on a load. */
export interface Run {
  readonly start: Instant;
  readonly end: Instant;
  /** The values of `.spec.replicas`. The first step is at `start`. */
  readonly replicas: readonly CountStep[];
  readonly ready: readonly CountStep[];
  readonly changes: readonly Change[];
  readonly rounds: number;
  /** Number of rounds in which maxReplicas limited the recommendation. */
  readonly roundsAtMaximum: number;
  /** For each limit, the number of rounds in which it changed the count. */
  readonly roundsByLimit: ReadonlyMap<LimitName, number>;
  readonly roundsWithoutValue: number;
  /** Null: the back-test has no queue. */
  readonly queue: QueueLog | null;
}

/**
 * A change of the count, with only the part of the decision that reports need: a month may have thousands of changes,
 * and a whole decision has an entry for each pod.
 */
export interface Change extends Pick<Decision, 'action' | 'currentReplicas' | 'desiredReplicas' | 'reason'> {
  readonly at: Instant;
}

export type OnRound = (decision: Decision, snapshot: Snapshot) => void;

/**
 * Runs a document over a load with the function `decide` of the service. Each decision is applied and thus changes the
 * next samples. A pause or dry run of the document is ignored.
 */
export function runVariant(document: Scaler, input: RunInput, onRound?: OnRound): Run {
  const rounds = runRounds(document, input, onRound);
  let round = rounds.next();
  while (round.done !== true) round = rounds.next();
  return round.value;
}

/** Runs a document as `runVariant` does, but yields after each decision, so that the caller can do other work. */
export function* runRounds(
  document: Scaler,
  input: RunInput,
  onRound?: OnRound,
): Generator<undefined, Run, undefined> {
  const { start, end } = input;
  const scaler = withMetrics(document, modelledMetrics(document, input));
  const workload = createWorkload(scaler, input);
  const { begin } = workload;
  const models = input.models.filter((model) => model !== null);
  const served = createServedLoad(scaler, { begin, end, models, podStart: input.podStart });
  const log = createLog(workload, start);
  let state: State = EMPTY_STATE;
  const { syncPeriodSeconds } = scaler.spec;
  let now = input.firstRoundAt ?? addSeconds(begin, syncPeriodSeconds);
  while (now <= begin) now = addSeconds(now, syncPeriodSeconds);
  for (; now <= end; now = addSeconds(now, syncPeriodSeconds)) {
    workload.advanceTo(now);
    const observed = workload.observe(now);
    const loadHistory = served?.addRound(now, observed);
    const snapshot = {
      scaler,
      now,
      ...observed,
      ...(loadHistory === undefined ? {} : { loadHistory }),
      state,
    };
    const decision = decide(snapshot);
    state = decision.state;
    workload.scaleTo(decision.desiredReplicas, now);
    log.addDecision(decision, now);
    if (now > start) onRound?.(decision, snapshot);
    yield;
  }
  workload.advanceTo(end);
  return log.finish(end);
}

/** Returns the metrics of the document that have a model. */
export function modelledMetrics({ spec }: Scaler, { models }: RunInput): readonly MetricSpec[] {
  return spec.metrics.filter((_, index) => models[index] !== null);
}

function withMetrics(scaler: Scaler, metrics: readonly MetricSpec[]): Scaler {
  const { spec } = scaler;
  if (metrics.length === spec.metrics.length) return scaler;
  const ofForecast = spec.metrics[spec.forecast?.metric ?? -1];
  const metric = ofForecast === undefined ? -1 : metrics.indexOf(ofForecast);
  const forecast = spec.forecast === null ? null : { ...spec.forecast, metric };
  return { ...scaler, spec: { ...spec, metrics, forecast } };
}

interface Log {
  readonly addDecision: (decision: Decision, now: Instant) => void;
  readonly finish: (end: Instant) => Run;
}

function createLog({ replicas, ready, queue }: Workload, start: Instant): Log {
  const changes: Change[] = [];
  const roundsByLimit = new Map<LimitName, number>();
  const counts = { rounds: 0, roundsAtMaximum: 0, roundsWithoutValue: 0 };
  return {
    addDecision: (decision, now) => {
      if (now <= start) return;
      counts.rounds += 1;
      const isCapped = decision.limits.some(({ limit }) => limit === 'max_replicas');
      if (isCapped && decision.desiredReplicas === decision.maxReplicas) counts.roundsAtMaximum += 1;
      if (decision.metrics.length > 0 && decision.metrics.every(({ proposal }) => proposal === null))
        counts.roundsWithoutValue += 1;
      for (const limit of new Set(decision.limits.map((step) => step.limit)))
        roundsByLimit.set(limit, (roundsByLimit.get(limit) ?? 0) + 1);
      const { action, currentReplicas, desiredReplicas, reason } = decision;
      if (action !== 'none') changes.push({ at: now, action, currentReplicas, desiredReplicas, reason });
    },
    finish: (end) => {
      const steps = { replicas: countsSince(replicas, start), ready: countsSince(ready, start) };
      return { start, end, ...steps, changes, roundsByLimit, ...counts, queue: queue?.log() ?? null };
    },
  };
}

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
      const load =
        sample === undefined ? null : loadOf(metric, sample, { pods, fillPercent: forecast.fillPercent });
      if (load !== null && 'total' in load) add(minute - first, load.total);
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
