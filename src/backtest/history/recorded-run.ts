import { addSeconds } from '../../units/time.js';
import type { CountStep, Run } from '../simulation/run-variant.js';
import type { Column } from './matrix-to-load.js';

/** Returns the replicas that really ran as a run without decisions. `ready` null: all replicas count as ready. */
export function recordedRun(
  replicas: Column,
  ready: Column | null,
  { start, end }: Pick<Run, 'start' | 'end'>,
): Run | null {
  const counts = stepsOf(replicas);
  if (counts.length === 0) return null;
  const readyCounts = ready === null ? [] : stepsOf(ready);
  return {
    start,
    end,
    replicas: counts,
    ready: readyCounts.length === 0 ? counts : readyCounts,
    changes: [],
    rounds: 0,
    roundsAtMaximum: 0,
    roundsByLimit: new Map(),
    roundsWithoutValue: 0,
  };
}

/** A missing value keeps the last count. */
function stepsOf({ start, stepSeconds, values }: Column): readonly CountStep[] {
  const steps: CountStep[] = [];
  values.forEach((value, index) => {
    if (Number.isNaN(value)) return;
    const count = Math.round(value);
    if (steps.at(-1)?.count === count) return;
    steps.push({ at: steps.length === 0 ? start : addSeconds(start, index * stepSeconds), count });
  });
  return steps;
}
