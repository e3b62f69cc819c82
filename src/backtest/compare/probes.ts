import type { Instant } from '../../units/time.js';
import { createLoad, type Load } from '../load/load.js';
import type { Figures } from '../figures/figures.js';
import { type Backtest, runAll, scoringOf, type Variant, type WorkloadModel } from './variant.js';
import { figuresByWindow, subWindows } from './sub-windows.js';

/** A load on which settings are tried. */
export interface Probe {
  /** Returns the figures of each document; null if it cannot run, or if the load is unknown. */
  readonly run: (variants: readonly Variant[]) => Promise<readonly (ProbeFigures | null)[]>;
}

export interface ProbeFigures {
  readonly whole: Figures;
  /** The figures of each sub-window; null where the load is unknown. All documents have the same sub-windows. */
  readonly windows: readonly (Figures | null)[];
}

/**
 * Returns probes on the load and on the same load reversed. Settings that are chosen on one load overfit it, for example
 * because it only rises, or rises fast and falls slowly.
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
  const changedWorkload: WorkloadModel = {
    ...workload,
    modelsOf: (scaler) => {
      const built = workload.modelsOf(scaler);
      if ('error' in built) return built;
      return {
        models: built.models.map((model) =>
          model === null || model.kind === 'constant' ? model : { ...model, load: changedLoad(model.load) },
        ),
      };
    },
  };
  const within = scoringOf(changedLoad(scoring.load), assumptions, period);
  const windows = subWindows(within, assumptions);
  return {
    run: async (variants) => {
      const results = await runAll(variants, {
        workload: changedWorkload,
        scoring: within,
        assumptions,
        runJobs,
      });
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
