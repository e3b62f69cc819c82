import { addSeconds, type Instant, secondsBetween } from '../../units/time.js';
import { createLoad, type Load } from '../simulation/load.js';
import { type Figures, figuresOf, type Scoring } from './figures.js';
import type { Assumptions } from '../simulation/settings.js';
import {
  type Backtest,
  runAll,
  scoringOf,
  type Variant,
  type WorkloadModel,
  DEMAND_STEP_SECONDS,
} from './variant.js';
import { countsSince } from '../simulation/count-steps.js';
import type { Run } from '../simulation/run-variant.js';

/** A load on which settings are tried. */
export interface Probe {
  /** Returns the figures of each document; null: the document cannot run, or the load is unknown. */
  readonly run: (variants: readonly Variant[]) => Promise<readonly (ProbeFigures | null)[]>;
}

export interface ProbeFigures {
  readonly whole: Figures;
  /** The figures of each window, which is a twelfth of the time; null: the load is unknown in the window. */
  readonly windows: readonly (Figures | null)[];
}

/**
 * Returns two probes: the load, and the same load reversed in time. Settings that are chosen on a single load fit only
 * that load, for example a load that rises fast and falls slowly.
 */
export function probesOf(input: Backtest, start: Instant, end: Instant): readonly Probe[] {
  return [probeOf(input, { start, end }, (load) => load), probeOf(input, { start, end }, reverseLoad)];
}

interface Period {
  readonly start: Instant;
  readonly end: Instant;
}

function probeOf(
  { workload, scoring, assumptions, runJobs }: Backtest,
  period: Period,
  change: (load: Load, period: Period) => Load,
): Probe {
  const changed = new Map<Load, Load>();
  const changedLoad = (load: Load): Load => {
    const known = changed.get(load) ?? change(load, period);
    changed.set(load, known);
    return known;
  };
  const changedWorkload: WorkloadModel = (scaler, start) => {
    const built = workload(scaler, start);
    if ('error' in built) return built;
    const models = built.models.map((model) =>
      model === null || model.kind === 'constant' ? model : { ...model, load: changedLoad(model.load) },
    );
    return { ...built, models };
  };
  const within = scoringOf(changedLoad(scoring.load), assumptions, period);
  const windows = subWindows(within, assumptions);
  return {
    run: async (variants) => {
      const backtest = { workload: changedWorkload, scoring: within, assumptions, runJobs };
      const results = await runAll(variants, backtest);
      return results.map(({ figures, run }) =>
        figures === null ? null : { whole: figures, windows: figuresByWindow(run, windows) },
      );
    },
  };
}

function reverseLoad(load: Load, { start, end }: Period): Load {
  const times: number[] = [];
  const values: number[] = [];
  load.pieces(start, end, (_, to, value) => {
    times.push(start + end - to);
    values.push(value ?? NaN);
  });
  return createLoad(
    Float64Array.from(times.reverse()),
    Float64Array.from(values.reverse()),
    end,
    load.data.isInterpolated,
  );
}

const MOST_WINDOWS = 12;

/** Divides the scored time into twelve windows of whole steps. If there are fewer steps, each step is a window. */
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
 * Returns the figures of each window; null: the load is unknown in the window. Figures about rounds, such as
 * `atMaximum`, refer to the whole run.
 */
export function figuresByWindow(run: Run, windows: readonly Scoring[]): readonly (Figures | null)[] {
  return windows.map((window) => figuresOf(runWithin(run, window), window));
}

/** Returns the part of a run that is within a window. The numbers of rounds still refer to the whole run. */
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
 * Returns the mean of the values without the smallest sixth; NaN: there are no values. If small values are good, the
 * best windows thus cannot decide alone.
 */
export function meanWithoutSmallest(values: readonly number[]): number {
  const rest = values.toSorted((a, b) => a - b).slice(Math.floor(values.length / 6));
  return rest.reduce((sum, value) => sum + value, 0) / rest.length;
}
