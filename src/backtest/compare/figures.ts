import type { Load } from '../simulation/load.js';
import type { CountStep } from '../simulation/count-steps.js';
import { createQueue, type QueueLog } from '../simulation/queue.js';
import type { QueueSettings } from '../simulation/settings.js';
import type { Run } from '../simulation/run-variant.js';
import type { LimitName } from '../../decision/result/limit-names.js';
import { addSeconds, earliest, type Instant, secondsBetween } from '../../units/time.js';

export interface Figures extends Elasticity {
  /** Load that exceeds what the ready pods can serve, in percent of the load. */
  readonly unserved: number;
  readonly averagePods: number;
  readonly peakPods: number;
  readonly podHours: number;
  /** `podHours` times the price; null: there is no price. */
  readonly cost: number | null;
  readonly changes: number;
  /** Number of changes that reverse the previous change within 10 minutes. */
  readonly flaps: number;
  /** Share of the rounds in which maxReplicas limited the recommendation, in percent. */
  readonly atMaximum: number;
  /** For each limit, the share of the rounds in which it changed the count, in percent. */
  readonly byLimit: Readonly<Partial<Record<LimitName, number>>>;
  /** Null: the back-test has no queue. */
  readonly queue: QueueFigures | null;
}

/** Waits are in seconds. A depth is an amount of load (load per second times seconds), such as a number of requests. */
export interface QueueFigures {
  /** Mean over the served load. */
  readonly meanWait: number;
  /** The wait that was not exceeded for 95 % of the served load. Each wait is the mean of a step of 15 s. */
  readonly p95Wait: number;
  /** The longest wait, including load that was still waiting at the end. */
  readonly maxWait: number;
  /** Load that was lost because the queue was full or the wait was too long, in percent of the load. */
  readonly lost: number;
  readonly peakDepth: number;
  readonly endDepth: number;
}

export interface Scoring {
  readonly load: Load;
  /** The load per second that one pod can serve. */
  readonly capacity: number;
  readonly demand: Demand;
  readonly pricePerPodHour: number | null;
  /** Null: there is no queue, and load above the capacity is lost. */
  readonly queue: QueueSettings | null;
}

/** Returns the figures for the time in which the load is known; null: the load is never known. */
export function figuresOf(run: Run, scoring: Scoring): Figures | null {
  const elasticity = elasticityOf(steps(run.ready, scoring.demand));
  if (elasticity === null) return null;
  return {
    ...elasticity,
    ...costOf(run.replicas, scoring),
    unserved: unservedPercent(run.ready, scoring),
    changes: run.changes.length,
    flaps: countFlaps(run),
    atMaximum: percentOf(run.roundsAtMaximum, run.rounds),
    byLimit: Object.fromEntries(
      [...run.roundsByLimit].map(([limit, rounds]) => [limit, percentOf(rounds, run.rounds)]),
    ),
    queue: run.queue === null ? null : queueFigures(run.queue, scoring.demand),
  };
}

function queueFigures(log: QueueLog, { start, stepSeconds, pods }: Demand): QueueFigures {
  const first = Math.round(secondsBetween(log.start, start) / stepSeconds);
  const sums = { arrived: 0, served: 0, lost: 0, waited: 0 };
  const most = { maxWait: 0, peakDepth: 0 };
  let endDepth = 0;
  const waits: { readonly wait: number; readonly served: number }[] = [];
  pods.forEach((needed, index) => {
    const step = first + index;
    if (Number.isNaN(needed) || step < 0 || step >= log.served.length) return;
    const served = log.served[step] ?? 0;
    const waited = log.waited[step] ?? 0;
    sums.arrived += log.arrived[step] ?? 0;
    sums.served += served;
    sums.lost += log.lost[step] ?? 0;
    sums.waited += waited;
    most.maxWait = Math.max(most.maxWait, log.longestWait[step] ?? 0);
    most.peakDepth = Math.max(most.peakDepth, log.deepest[step] ?? 0);
    endDepth = log.depth[step] ?? 0;
    if (served > 0) waits.push({ wait: waited / served, served });
  });
  // If nothing was served, there is no mean wait. The longest wait is used instead.
  const meanWait = sums.served > 0 ? sums.waited / sums.served : most.maxWait;
  const p95Wait = sums.served > 0 ? quantile95(waits, sums.served) : most.maxWait;
  return { meanWait, p95Wait, ...most, lost: percentOf(sums.lost, sums.arrived), endDepth };
}

function quantile95(
  waits: readonly { readonly wait: number; readonly served: number }[],
  served: number,
): number {
  let left = 0.05 * served;
  for (const each of waits.toSorted((one, other) => other.wait - one.wait)) {
    left -= each.served;
    if (left < 0) return each.wait;
  }
  return 0;
}

/** Returns a run with the queue that its ready pods would have had. A run that has a queue is returned unchanged. */
export function withQueue(run: Run, { load, capacity, queue: settings }: Scoring): Run {
  if (settings === null || run.queue !== null) return run;
  const { start, end, ready } = run;
  const queue = createQueue({ ...settings, load, capacity }, { start, end, keptSeconds: 0 });
  ready.forEach(({ at, count }, index) => {
    queue.advance({ from: at, to: ready[index + 1]?.at ?? end, ready: count });
  });
  return { ...run, queue: queue.log() };
}

function* steps(ready: readonly CountStep[], demand: Demand): Iterable<ElasticityStep> {
  let index = 0;
  for (const { mean, seconds } of stepMeans(ready, demand)) {
    const pods = demand.pods[index] ?? NaN;
    yield { demand: Number.isNaN(pods) ? null : pods, supply: mean, seconds };
    index += 1;
  }
}

function costOf(
  replicas: readonly CountStep[],
  { demand, pricePerPodHour }: Scoring,
): Pick<Figures, 'averagePods' | 'peakPods' | 'podHours' | 'cost'> {
  let podSeconds = 0;
  let knownSeconds = 0;
  let peakPods = 0;
  let index = 0;
  for (const { mean, seconds } of stepMeans(replicas, demand)) {
    if (!Number.isNaN(demand.pods[index] ?? NaN)) {
      podSeconds += mean * seconds;
      knownSeconds += seconds;
      peakPods = Math.max(peakPods, Math.ceil(mean));
    }
    index += 1;
  }
  const podHours = podSeconds / 3600;
  return {
    averagePods: podSeconds / knownSeconds,
    peakPods,
    podHours,
    cost: pricePerPodHour === null ? null : podHours * pricePerPodHour,
  };
}

function unservedPercent(ready: readonly CountStep[], { load, capacity, demand }: Scoring): number {
  let total = 0;
  let unserved = 0;
  ready.forEach(({ at, count }, index) => {
    load.pieces(at, ready[index + 1]?.at ?? demand.end, (from, to, value) => {
      if (value === null) return;
      const seconds = secondsBetween(from, to);
      total += value * seconds;
      unserved += Math.max(value - count * capacity, 0) * seconds;
    });
  });
  return total === 0 ? 0 : (100 * unserved) / total;
}

const FLAP_SECONDS = 600;

function countFlaps({ changes }: Run): number {
  return changes.filter((change, index) => {
    const before = changes[index - 1];
    return (
      before !== undefined &&
      before.action !== change.action &&
      secondsBetween(before.at, change.at) <= FLAP_SECONDS
    );
  }).length;
}

function percentOf(part: number, whole: number): number {
  return whole === 0 ? 0 : (100 * part) / whole;
}

/** The pods that the load needed in each step. */
export interface Demand {
  readonly start: Instant;
  readonly end: Instant;
  readonly stepSeconds: number;
  /** Needed pods for each step, at least 1; NaN: the load is unknown. */
  readonly pods: Float64Array;
}

/**
 * Returns the pods that each step needs: its mean load divided by the capacity, rounded up, at least 1. The steps must
 * not be too short: no scaler can follow a demand that changes every second.
 */
export function demandOf(
  load: Load,
  settings: {
    readonly capacity: number;
    readonly start: Instant;
    readonly end: Instant;
    readonly stepSeconds: number;
  },
): Demand {
  const { capacity, start, end, stepSeconds } = settings;
  const steps = Math.max(1, Math.ceil((end - start) / (stepSeconds * 1000)));
  const pods = new Float64Array(steps);
  for (let index = 0; index < steps; index += 1) {
    const from = addSeconds(start, index * stepSeconds);
    const mean = load.mean(from, earliest(addSeconds(from, stepSeconds), end));
    // Subtracts 1e-9 because of rounding errors: 2.1 / 0.7 is slightly more than 3.
    pods[index] = mean === null ? NaN : Math.max(1, Math.ceil(mean / capacity - 1e-9));
  }
  return { start, end, stepSeconds, pods };
}

/** Yields the mean count of each period of `stepSeconds`, and its length in seconds. The last period may be shorter. */
export function* stepMeans(
  counts: readonly CountStep[],
  {
    start,
    end,
    stepSeconds,
  }: { readonly start: Instant; readonly end: Instant; readonly stepSeconds: number },
): Iterable<{ readonly mean: number; readonly seconds: number }> {
  let index = 0;
  for (let from: number = start; from < end; from += stepSeconds * 1000) {
    const to = Math.min(from + stepSeconds * 1000, end);
    let area = 0;
    let time = from;
    while (time < to) {
      while ((counts[index + 1]?.at ?? Infinity) <= time) index += 1;
      const until = Math.min(counts[index + 1]?.at ?? to, to);
      area += (counts[index]?.count ?? 0) * (until - time);
      time = until;
    }
    yield { mean: area / (to - from), seconds: (to - from) / 1000 };
  }
}

/** Returns a run with a fixed number of pods. Default: the highest demand. */
export function staticFleet(demand: Demand, count: number = peakOf(demand)): Run {
  return runOf(demand, [{ at: demand.start, count }]);
}

function peakOf({ pods }: Demand): number {
  return pods.reduce((most, needed) => (needed > most ? needed : most), 1);
}

/**
 * Returns a run that always has exactly as many ready pods as needed. The count does not change while the demand is
 * unknown.
 */
export function idealFollower(demand: Demand): Run {
  const counts: CountStep[] = [];
  let last = demand.pods.find((pods) => !Number.isNaN(pods)) ?? 1;
  demand.pods.forEach((pods, index) => {
    const count = Number.isNaN(pods) ? last : pods;
    if (index === 0 || count !== last)
      counts.push({ at: addSeconds(demand.start, index * demand.stepSeconds), count });
    last = count;
  });
  return runOf(demand, counts);
}

/** Returns a run without decisions, in which all pods are ready. */
export function runOf({ start, end }: Pick<Run, 'start' | 'end'>, counts: readonly CountStep[]): Run {
  return {
    start,
    end,
    replicas: counts,
    ready: counts,
    changes: [],
    rounds: 0,
    roundsAtMaximum: 0,
    roundsByLimit: new Map(),
    roundsWithoutValue: 0,
    queue: null,
  };
}

/**
 * How well a supply of pods followed the demand, in percent of time or of the demand. Source: Herbst et al., "Ready for
 * Rain?", SPEC-RG-2016-01; the formulas are in docs/guides/backtest.md.
 */
export interface Elasticity {
  /** Mean share of the demand that was missing, in percent: 100/T * sum(max(d - s, 0) / d). */
  readonly thetaU: number;
  /** Mean surplus in percent of the demand: 100/T * sum(max(s - d, 0) / d). Has no upper bound. */
  readonly thetaO: number;
  /** Share of the time with fewer pods than the demand, in percent. */
  readonly tauU: number;
  /** Share of the time with more pods than the demand, in percent. */
  readonly tauO: number;
  /** Share of the steps in which demand and supply did not change in the same direction, in percent. */
  readonly instability: number;
  /** Distance from an ideal scaler, whose other five figures are 0: the fifth root of the sum of their fifth powers. */
  readonly deviation: number;
}

/** A step of demand and supply. All steps have the same length, except that the last one may be shorter. */
export interface ElasticityStep {
  /** The needed pods, at least 1; null: unknown, so the step is not scored. */
  readonly demand: number | null;
  /** The mean number of ready pods. A pod that becomes ready within the step counts for the rest of the step. */
  readonly supply: number;
  readonly seconds: number;
}

/** Returns the figures over all steps; null: the demand is unknown in every step. */
export function elasticityOf(steps: Iterable<ElasticityStep>): Elasticity | null {
  const sums = { thetaU: 0, thetaO: 0, tauU: 0, tauO: 0, unstable: 0 };
  let total = 0;
  let pairs = 0;
  let before: { readonly demand: number; readonly supply: number } | null = null;
  for (const { demand, supply, seconds } of steps) {
    if (demand === null) {
      before = null;
      continue;
    }
    total += seconds;
    sums.thetaU += (seconds * Math.max(demand - supply, 0)) / demand;
    sums.thetaO += (seconds * Math.max(supply - demand, 0)) / demand;
    if (supply < demand) sums.tauU += seconds;
    if (supply > demand) sums.tauO += seconds;
    if (before !== null) {
      pairs += 1;
      if (Math.sign(supply - before.supply) !== Math.sign(demand - before.demand)) sums.unstable += 1;
    }
    before = { demand, supply };
  }
  if (total === 0) return null;
  const thetaU = (100 * sums.thetaU) / total;
  const thetaO = (100 * sums.thetaO) / total;
  const tauU = (100 * sums.tauU) / total;
  const tauO = (100 * sums.tauO) / total;
  const instability = pairs === 0 ? 0 : (100 * sums.unstable) / pairs;
  const deviation = [thetaU, thetaO, tauU, tauO, instability].reduce((sum, x) => sum + x ** 5, 0) ** (1 / 5);
  return { thetaU, thetaO, tauU, tauO, instability, deviation };
}
