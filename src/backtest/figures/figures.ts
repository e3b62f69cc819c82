import type { LimitName } from '../../decision/result/decision.js';
import { secondsBetween } from '../../units/time.js';
import type { Load } from '../load/load.js';
import type { CountStep } from '../simulation/count-steps.js';
import type { Run } from '../simulation/run-variant.js';
import type { Demand } from './demand.js';
import { elasticityOf } from './elasticity.js';
import type { Elasticity, ElasticityStep } from './elasticity.js';
import { stepMeans } from './step-means.js';

/** What a variant achieved, and what it cost. */
export interface Figures extends Elasticity {
  /** Load above what the ready pods carry, in percent of the load. */
  readonly unserved: number;
  readonly averagePods: number;
  readonly peakPods: number;
  readonly podHours: number;
  /** `podHours` times the price; null without a price. */
  readonly cost: number | null;
  readonly changes: number;
  /** Number of changes in the opposite direction of the previous change, at most 10 minutes after it. */
  readonly flaps: number;
  /** Share of the rounds in which maxReplicas limited the recommendation, in percent. */
  readonly atMaximum: number;
  /** Share of the rounds in which each limit changed the count, in percent. */
  readonly byLimit: Readonly<Partial<Record<LimitName, number>>>;
}

export interface Scoring {
  readonly load: Load;
  /** Load that one pod carries. */
  readonly capacity: number;
  readonly demand: Demand;
  readonly pricePerPodHour: number | null;
}

/** Returns the figures for the time in which the load is known. Null: it is never known. */
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
  };
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
