import {
  idealFollower,
  staticFleet,
  demandOf,
  figuresOf,
  withQueue,
  type Figures,
  type Scoring,
  type Demand,
} from './figures.js';
import { constantLoad, type Load } from '../simulation/load.js';
import { podOrderOf, FleetError } from '../simulation/fleet.js';
import { type Run, type RunInput, type OnRound, runVariant } from '../simulation/run-variant.js';
import type { Assumptions } from '../simulation/settings.js';
import { traceCpuLimit, traceModels, traceRequests } from '../simulation/trace-models.js';
import type { Scaler } from '../../scaler/spec.js';
import { type Instant, secondsBetween } from '../../units/time.js';
import { errorMessage } from '../../units/failure.js';
import { countOf, formatSeconds } from '../../units/format.js';

/** A document that is run over the load. Its name is unique in the report. */
export interface Variant {
  readonly name: string;
  readonly scaler: Scaler;
}

/** The run of a variant, or an error that says why the variant could not run. */
export type Result =
  | { readonly name: string; readonly run: Run; readonly figures: Figures; readonly error: null }
  | { readonly name: string; readonly run: null; readonly figures: null; readonly error: string };

/** The default sync period. The demand is computed from the mean load of each period of this length. */
export const DEMAND_STEP_SECONDS = 15;

/** Returns how runs on the load are scored. `within`: the time that is scored; default: the whole load. */
export function scoringOf(
  load: Load,
  { capacity, pricePerPodHour, queue }: Assumptions,
  within: { readonly start: Instant; readonly end: Instant } = load,
): Scoring {
  const { start, end } = within;
  const demand = demandOf(load, { capacity, start, end, stepSeconds: DEMAND_STEP_SECONDS });
  return { load, capacity, demand, pricePerPodHour, queue };
}

/**
 * Returns the part of the input of a run that depends on where the load comes from, or why a document cannot run on the
 * load. `start`: the start of the scored time.
 */
export type WorkloadModel = (
  scaler: Scaler,
  start: Instant,
) => (Pick<RunInput, 'models' | 'requests'> & Partial<RunInput>) | { readonly error: string };

export function traceWorkload(load: Load, assumptions: Assumptions): WorkloadModel {
  return (scaler) => {
    const built = traceModels(scaler, load, assumptions);
    if ('error' in built) return built;
    const cpuLimit = traceCpuLimit(scaler, assumptions.usageAtCapacityPercent);
    return { ...built, requests: traceRequests(scaler), cpuLimit };
  };
}

export interface Backtest {
  readonly workload: WorkloadModel;
  readonly scoring: Scoring;
  readonly assumptions: Assumptions;
  readonly runJobs: RunJobs;
}

/** Runs the documents. The results have the order of `variants`. */
export async function runAll(variants: readonly Variant[], backtest: Backtest): Promise<readonly Result[]> {
  const jobs = variants.map((variant) => jobOf(variant, backtest));
  const runs = await backtest.runJobs(jobs.flatMap((job) => ('error' in job ? [] : [job])));
  let next = 0;
  return variants.map(({ name }, index): Result => {
    const job = jobs[index];
    const done = job === undefined || 'error' in job ? job : runs[next++];
    if (done !== undefined && 'run' in done) return resultOf(name, done.run, backtest.scoring);
    return { name, run: null, figures: null, error: done?.error ?? 'the document was not run' };
  });
}

function jobOf(
  { scaler }: Variant,
  { workload, scoring, assumptions }: Backtest,
): Job | { readonly error: string } {
  const { demand, load, capacity, queue } = scoring;
  const built = workload(scaler, demand.start);
  if ('error' in built) return built;
  const { initialReplicas, podStart, scrapeIntervalSeconds, maxReplicasFrom } = assumptions;
  const hasCeiling = scaler.spec.maxReplicasFrom !== null && maxReplicasFrom !== null;
  const input: RunInput = {
    start: demand.start,
    end: demand.end,
    initialReplicas: initialReplicas ?? firstCount(scaler, scoring),
    podStart,
    scrapeIntervalSeconds,
    order: podOrderOf(scaler),
    queue: queue === null ? undefined : { ...queue, load, capacity },
    ...built,
    ...(hasCeiling ? { ceiling: constantLoad(maxReplicasFrom) } : {}),
  };
  return { scaler, input };
}

/**
 * Returns runs to compare with. Static fleets have the highest count of the document, or the highest demand, at all
 * times. An ideal follower always has exactly the pods that the load needs.
 */
export function baselines(scoring: Scoring, document: Result | undefined): readonly Result[] {
  const peak = document?.figures?.peakPods;
  return [
    ...(peak === undefined
      ? []
      : [resultOf("static fleet at the document's peak", staticFleet(scoring.demand, peak), scoring)]),
    resultOf('static fleet at the peak demand', staticFleet(scoring.demand), scoring),
    resultOf('ideal follower', idealFollower(scoring.demand), scoring),
  ];
}

export function resultOf(name: string, run: Run, scoring: Scoring): Result {
  const whole = withQueue(run, scoring);
  const figures = figuresOf(whole, scoring);
  return figures === null
    ? { name, run: null, figures: null, error: 'the load is unknown at all times' }
    : { name, run: whole, figures, error: null };
}

/**
 * Returns the first count. It is at least 1, because without `activation` a document never scales up from 0 replicas.
 */
function firstCount({ spec }: Scaler, { demand }: Scoring): number {
  const needed = demand.pods.find((pods) => !Number.isNaN(pods)) ?? 1;
  return Math.max(1, spec.minReplicas, Math.min(spec.maxReplicas, needed));
}

export interface Job {
  readonly scaler: Scaler;
  readonly input: RunInput;
}

/** The result of one document. If it fails, the other documents still run. */
export type JobResult = { readonly run: Run } | { readonly error: string };

/** Runs documents, possibly in parallel. The results have the same order as the jobs. */
export type RunJobs = (jobs: readonly Job[]) => Promise<readonly JobResult[]>;

export function runJob({ scaler, input }: Job, onRound?: OnRound): JobResult {
  try {
    return { run: runVariant(scaler, input, onRound) };
  } catch (error) {
    if (error instanceof FleetError) return { error: error.message };
    return { error: `internal error: ${errorMessage(error)}` };
  }
}

export function roundsOf({ scaler, input: { start, end } }: Job): number {
  return Math.floor(secondsBetween(start, end) / scaler.spec.syncPeriodSeconds);
}

/**
 * Returns the names of the variants on the Pareto front of pod-hours and theta_U. A variant is on the front unless
 * another variant is better in one of the two figures and not worse in the other.
 */
export function paretoFront(results: readonly Result[]): ReadonlySet<string> {
  const scored = results.flatMap(({ name, figures }) => (figures === null ? [] : [{ name, figures }]));
  const isBeaten = (one: (typeof scored)[number]): boolean =>
    scored.some(
      ({ figures }) =>
        figures.podHours <= one.figures.podHours &&
        figures.thetaU <= one.figures.thetaU &&
        (figures.podHours < one.figures.podHours || figures.thetaU < one.figures.thetaU),
    );
  return new Set(scored.filter((one) => !isBeaten(one)).map(({ name }) => name));
}

/** Thrown if a document cannot be back-tested. The message says why, and what to do. */
export class BacktestError extends Error {
  override name = 'BacktestError';
}

/**
 * Limits the decisions of a run. The limit allows 30 days with a sync period of 1 s, which take some minutes to
 * compute.
 */
const MAX_ROUNDS = 3_000_000;

/** Throws `BacktestError` if a document would take too many decisions. */
export function checkRounds(
  variants: readonly Variant[],
  { start, end }: Pick<Demand, 'start' | 'end'>,
  mostRounds = MAX_ROUNDS,
): void {
  const seconds = secondsBetween(start, end);
  for (const { name, scaler } of variants) {
    const { syncPeriodSeconds } = scaler.spec;
    const rounds = Math.floor(seconds / syncPeriodSeconds);
    if (rounds > mostRounds)
      throw new BacktestError(
        `${name}: a decision every ${syncPeriodSeconds} s for ${formatSeconds(seconds)} makes ${rounds} decisions, must be at most ${mostRounds}: select a shorter time range`,
      );
  }
}

/** Limits the pods that a load may need, at fifty times the maximum number of simulated pods. */
const MAX_DEMAND = 1_000_000;

/** Throws `BacktestError` if no number of pods can serve the load, usually because the load has another unit. */
export function checkDemand({ demand, capacity }: Scoring): void {
  const most = demand.pods.reduce((highest, pods) => (pods > highest ? pods : highest), 0);
  if (most > MAX_DEMAND)
    throw new BacktestError(
      `at a capacity of ${capacity} per pod, the load needs ${countOf(most, 'pod')}, more than the maximum of ${MAX_DEMAND}: check the unit of --capacity`,
    );
}
