import { addSeconds, secondsBetween } from '../../units/time.js';
import { type Figures, figuresOf, type Scoring } from '../figures/figures.js';
import { countsSince } from '../simulation/count-steps.js';
import type { Run } from '../simulation/run-variant.js';
import { type Assumptions, DEMAND_STEP_SECONDS, scoringOf } from './variant.js';

const MOST_WINDOWS = 12;

/** Cuts the time of a scoring into twelve windows of whole steps, or fewer if it has fewer steps. */
export function subWindows(scoring: Scoring, assumptions: Assumptions): readonly Scoring[] {
  const { start, end } = scoring.demand;
  const steps = Math.max(1, Math.floor(secondsBetween(start, end) / DEMAND_STEP_SECONDS));
  const count = Math.min(MOST_WINDOWS, steps);
  const at = (number: number): typeof start =>
    number === count ? end : addSeconds(start, Math.floor((steps * number) / count) * DEMAND_STEP_SECONDS);
  return Array.from({ length: count }, (_, number) =>
    scoringOf(scoring.load, assumptions, { start: at(number), end: at(number + 1) }),
  );
}

/**
 * Returns the figures of each window; null where the load is unknown. The counts of rounds remain those of the whole
 * run.
 */
export function figuresByWindow(run: Run, windows: readonly Scoring[]): readonly (Figures | null)[] {
  return windows.map((window) => figuresOf(runWithin(run, window), window));
}

/** Returns the part of a run in a window. The counts of rounds remain those of the whole run. */
function runWithin(run: Run, { demand: { start, end } }: Scoring): Run {
  const isWithin = ({ at }: { readonly at: number }): boolean => at >= start && at < end;
  return {
    ...run,
    start,
    end,
    replicas: countsSince(run.replicas, start).filter(isWithin),
    ready: countsSince(run.ready, start).filter(isWithin),
    changes: run.changes.filter(isWithin),
  };
}

/**
 * Returns the mean without the smallest sixth of the values. It is the gain that remains if the windows with the
 * largest gain do not repeat. NaN without values.
 */
export function meanWithoutSmallest(values: readonly number[]): number {
  const rest = values.toSorted((a, b) => a - b).slice(Math.floor(values.length / 6));
  return rest.reduce((sum, value) => sum + value, 0) / rest.length;
}
