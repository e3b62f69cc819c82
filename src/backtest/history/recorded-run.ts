import { addSeconds, type Instant } from '../../units/time.js';
import type { CountStep } from '../simulation/count-steps.js';
import type { Change, Run } from '../simulation/run-variant.js';
import type { Column } from './matrix-to-load.js';

/** The name of the row with the recorded replicas. */
export const RAN = 'what really ran';

export interface Recorded {
  readonly replicas: Column;
  /** Null: all replicas count as ready. */
  readonly ready: Column | null;
  /** Mean delay in seconds between a change and the value that records it. */
  readonly lateSeconds: { readonly replicas: number; readonly ready: number };
}

/** Returns the recorded replicas as a run without decisions, whose changes have no reasons. Null: no value is known. */
export function recordedRun(
  { replicas, ready, lateSeconds }: Recorded,
  { start, end }: Pick<Run, 'start' | 'end'>,
): Run | null {
  const counts = stepsOf(replicas, { start, lateSeconds: lateSeconds.replicas });
  if (counts.length === 0) return null;
  const readyCounts = ready === null ? [] : stepsOf(ready, { start, lateSeconds: lateSeconds.ready });
  return {
    start,
    end,
    replicas: counts,
    ready: readyCounts.length === 0 ? counts : readyCounts,
    changes: counts.slice(1).map(({ at, count }, index): Change => {
      const before = counts[index]?.count ?? count;
      const action = count > before ? 'scale-up' : 'scale-down';
      return { at, action, currentReplicas: before, desiredReplicas: count, reason: 'recorded' };
    }),
    rounds: 0,
    roundsAtMaximum: 0,
    roundsByLimit: new Map(),
    roundsWithoutValue: 0,
    queue: null,
  };
}

/** Returns the changes of the count, moved back by `lateSeconds`. If a value is missing, the count stays. */
function stepsOf(
  { start: first, stepSeconds, values }: Column,
  { start, lateSeconds }: { readonly start: Instant; readonly lateSeconds: number },
): readonly CountStep[] {
  const steps: CountStep[] = [];
  values.forEach((value, index) => {
    if (Number.isNaN(value)) return;
    const count = Math.round(value);
    if (steps.at(-1)?.count === count) return;
    const at = addSeconds(first, index * stepSeconds - lateSeconds);
    // Only the last change before `start` counts. It is moved to `start`.
    if (at <= start) steps.length = 0;
    steps.push({ at: steps.length === 0 ? start : at, count });
  });
  return steps;
}
