import type { SnapshotAnswer } from '../../../api/answers.js';
import {
  BacktestError,
  type Job,
  type JobResult,
  type Result,
  runAll,
} from '../../../backtest/compare/variant.js';
import { chartBacktest, type ChartPoints, type Need } from '../../../backtest/history/chart-history.js';
import { FleetError } from '../../../backtest/simulation/fleet.js';
import { runRounds } from '../../../backtest/simulation/run-variant.js';
import { parseScaler } from '../../../scaler/read/parse-scaler.js';
import { autoCapacityOf, type MetricSpec, type Scaler } from '../../../scaler/spec.js';
import { type Clock, sleep } from '../../../units/clock.js';
import {
  addSeconds,
  earliest,
  type Instant,
  instantFromMs,
  latest,
  secondsBetween,
} from '../../../units/time.js';
import { ApiError } from '../../data/api-error.js';
import type { Api } from '../../data/api.js';
import { decisionsRequest, historyRequest } from '../../data/requests.js';
import { type DecisionEntry, readSnapshot } from '../model/answers.js';
import { joinHistories, pointsSince, readHistory, type Values } from '../model/chart-data.js';
import { isSameQuery } from './decide-with.js';
import type { TimeWindow } from '../model/ranges.js';

/** The points of the charts that a run needs. */
export interface PastPoints {
  readonly points: ChartPoints;
  /** Seconds between the oldest points. */
  readonly coarseSeconds: number;
  /** Why older points are missing; null: none are missing. */
  readonly note: string | null;
}

/** Seconds before the range that are simulated as well, so that windows are filled at its start. */
const WARM_UP_SECONDS = 3600;
const MEMORY_STEP_SECONDS = 300;
const MOST_ENTRIES = 100;

/**
 * Reads the points of a range from the memory of the service, and older points from Prometheus. A value from partial
 * data is unknown, because it may be too low.
 */
export async function readPastPoints(
  api: Api,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { from }: TimeWindow,
  signal: AbortSignal,
): Promise<PastPoints> {
  const since = from - WARM_UP_SECONDS;
  const [recent, { items }] = await Promise.all([
    api.read(historyRequest(namespace, name), signal).then(readHistory),
    api.read(decisionsRequest(namespace, name, { limit: MOST_ENTRIES }), signal),
  ]);
  const known = { points: pointsSince(recent, since), coarseSeconds: MEMORY_STEP_SECONDS, note: null };
  const read = (recent.at[0] ?? Infinity) <= from ? known : await withOlder(known);
  return { ...read, points: withoutPartial(read.points, items) };

  async function withOlder(memory: typeof known): Promise<PastPoints> {
    const query = { source: 'prometheus', since: new Date(since * 1000).toISOString() } as const;
    try {
      const answer = await api.read(historyRequest(namespace, name, query), signal);
      const coarseSeconds = Math.max(answer.stepSeconds ?? 0, MEMORY_STEP_SECONDS);
      const points = joinHistories(readHistory(answer), recent, 3 * coarseSeconds);
      return { points, coarseSeconds, note: null };
    } catch (error) {
      if (!(error instanceof ApiError) || signal.aborted) throw error;
      return { ...memory, note: error.message };
    }
  }
}

function withoutPartial(points: ChartPoints, entries: readonly DecisionEntry[]): ChartPoints {
  const partial = entries.flatMap(({ firstAt, lastAt, decision }) =>
    (decision?.metrics ?? []).flatMap(({ name, partial }) =>
      partial === null ? [] : [{ name, from: Date.parse(firstAt), to: Date.parse(lastAt) }],
    ),
  );
  if (partial.length === 0) return points;
  const isPartial = (metric: string, ms: number): boolean =>
    partial.some(({ name, from, to }) => name === metric && from <= ms && ms <= to);
  const known = (metric: string, values: Values): Values =>
    values.map((value, index) => (isPartial(metric, (points.at[index] ?? 0) * 1000) ? null : value));
  return {
    ...points,
    metrics: points.metrics.map((one) => ({ ...one, value: known(one.metric, one.value) })),
  };
}

/** The replicas and figures of two documents on the same history, and the recorded replicas. */
export interface PastRuns {
  readonly applied: Result;
  readonly changed: Result;
  /** The recorded replicas; null: no count is known. */
  readonly ran: Result | null;
  readonly start: Instant;
  readonly end: Instant;
  /** Whether `start` is later than the start of the range, because of `MOST_DECISIONS`. */
  readonly isCut: boolean;
  /** Share of the time in which the load is unknown, in percent. */
  readonly unknownPercent: number;
  /** The sync period of the document without the change. */
  readonly periodSeconds: number;
  readonly podStartSeconds: number;
  /** The load per pod, in base units of `loadMetric`, from which the needed pods are computed; null: it is unknown. */
  readonly need: Need | null;
  /** The metric from which the needed pods are computed. */
  readonly loadMetric: string;
  /** What the runs do not take into account, as sentences. */
  readonly notes: readonly string[];
}

/** Limits the decisions of a document. The limit allows 41 hours with a sync period of 15 s. */
export const MOST_DECISIONS = 10_000;
/** Time after which a run pauses. A frame takes 17 ms, so the page stays responsive. */
const SLICE_MS = 12;

interface RunContext {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with the number of finished decisions and the total number, of both documents together. */
  readonly onProgress: (done: number, all: number) => void;
}

/**
 * Runs the document of a snapshot and a changed document over the points of the charts, as `promscaler backtest` runs
 * documents over a recorded load. Returns the reason as a string if that is impossible. If aborted, the runs are not
 * complete.
 */
export async function runPast(
  {
    points: { points, coarseSeconds },
    snapshot: json,
    document,
    shown,
  }: {
    readonly points: PastPoints;
    readonly snapshot: SnapshotAnswer;
    readonly document: unknown;
    /** The range of the charts. `to` is infinite if it ends now. */
    readonly shown: TimeWindow;
  },
  context: RunContext,
): Promise<PastRuns | string> {
  const snapshot = readSnapshot(json);
  if (typeof snapshot === 'string') return snapshot;
  const { scaler: changed } = parseScaler(document);
  const last = points.at.at(-1);
  if (changed === null || last === undefined) return 'the service has no points for the range of the charts';
  const { scaler: applied } = snapshot;
  const scalers = [applied, changed];
  const asked = { start: instantOf(shown.from), end: earliest(instantOf(shown.to), instantOf(last)) };
  const period = Math.min(...scalers.map(({ spec }) => spec.syncPeriodSeconds));
  const start = latest(asked.start, addSeconds(asked.end, -MOST_DECISIONS * period));
  const recordedMetric = (metric: MetricSpec): MetricSpec | undefined =>
    applied.spec.metrics.find((other) => isSameQuery(metric, other));
  try {
    const range = { start, end: asked.end };
    const input = chartBacktest({ points, coarseSeconds, snapshot, scalers, recordedMetric, range });
    const variants = [
      { name: 'applied', scaler: applied },
      { name: 'changed', scaler: changed },
    ];
    const [ofApplied, ofChanged] = await runAll(variants, {
      ...input,
      runJobs: (jobs) => runJobsInSlices(jobs, context),
    });
    if (ofApplied === undefined || ofChanged === undefined) throw new Error('a run is missing');
    const { pods } = input.scoring.demand;
    return {
      applied: ofApplied,
      changed: ofChanged,
      ran: input.ran,
      start: input.range.start,
      end: input.range.end,
      isCut: start > asked.start,
      unknownPercent: (100 * pods.filter(Number.isNaN).length) / pods.length,
      periodSeconds: applied.spec.syncPeriodSeconds,
      podStartSeconds: input.assumptions.podStart.medianSeconds,
      need: input.need,
      loadMetric: input.loadMetric.identity,
      notes: notesOn(scalers),
    };
  } catch (error) {
    if (error instanceof BacktestError) return error.message;
    throw error;
  }
}

function instantOf(second: number): Instant {
  return instantFromMs(second * 1000);
}

async function runJobsInSlices(
  jobs: readonly Job[],
  { clock, signal, onProgress }: RunContext,
): Promise<readonly JobResult[]> {
  const all = jobs.reduce((sum, { scaler, input: { warmUpFrom, start, end } }) => {
    const seconds = secondsBetween(warmUpFrom ?? start, end);
    return sum + Math.floor(seconds / scaler.spec.syncPeriodSeconds);
  }, 0);
  let sinceMs = clock.monotonicMs();
  const results: JobResult[] = [];
  let done = 0;
  for (const { scaler, input } of jobs) {
    try {
      const rounds = runRounds(scaler, input);
      let round = rounds.next();
      for (; round.done !== true; round = rounds.next()) {
        done += 1;
        if (done % ROUNDS_OF_STEP !== 0 || clock.monotonicMs() - sinceMs < SLICE_MS) continue;
        onProgress(done, all);
        await sleep(clock, 0);
        if (signal.aborted) return [];
        sinceMs = clock.monotonicMs();
      }
      results.push({ run: round.value });
    } catch (error) {
      if (!(error instanceof FleetError)) throw error;
      results.push({ error: error.message });
    }
  }
  return results;
}

/** The clock is read only after this number of decisions. A decision takes 1 ms with a thousand pods. */
const ROUNDS_OF_STEP = 10;

/** Returns notes on data that the charts do not contain. The decisions of both documents are made without such data. */
function notesOn(scalers: readonly Scaler[]): readonly string[] {
  const specs = scalers.map(({ spec }) => spec);
  const metrics = specs.flatMap((spec) => spec.metrics);
  const isAny = (has: (metric: MetricSpec) => boolean): boolean => metrics.some(has);
  const omitted = [
    ...(specs.some(({ maxReplicasFrom }) => maxReplicasFrom !== null)
      ? ['the values of maxReplicasFrom']
      : []),
    ...(specs.some(({ forecast }) => forecast !== null) ? ['the earlier days that a forecast needs'] : []),
    ...(isAny((metric) => 'backlog' in metric) ? ['backlogs apart from the load'] : []),
    ...(isAny((metric) => 'capacityQuery' in metric || autoCapacityOf(metric)?.mode === 'Use')
      ? ['measured capacities (the target is used instead)']
      : []),
  ];
  return omitted.length === 0 ? [] : [`The charts do not have ${omitted.join(', ')}.`];
}
