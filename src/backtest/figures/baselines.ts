import { addSeconds } from '../../units/time.js';
import type { CountStep } from '../simulation/count-steps.js';
import type { Run } from '../simulation/run-variant.js';
import type { Demand } from './demand.js';

/** Returns a run with a fixed number of pods. Default: as many as the highest demand. */
export function staticFleet(demand: Demand, count: number = peakOf(demand)): Run {
  return runOf(demand, [{ at: demand.start, count }]);
}

function peakOf({ pods }: Demand): number {
  return pods.reduce((most, needed) => (needed > most ? needed : most), 1);
}

/**
 * Returns a run of an ideal scaler: always as many ready pods as the demand. While the demand is unknown, it keeps the
 * last count.
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

function runOf({ start, end }: Demand, counts: readonly CountStep[]): Run {
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
  };
}
