import { addSeconds, type Instant } from '../../units/time.js';
import { createLoad, type Load } from '../load/load.js';
import type { Figures, Scoring } from '../figures/figures.js';
import type { RunJobs } from './run-jobs.js';
import { type Assumptions, runAllOn, scoringOf, type Variant, type World } from './variant.js';

export interface ProbeSetting {
  readonly world: World;
  readonly scoring: Scoring;
  readonly assumptions: Assumptions;
  readonly runJobs: RunJobs;
}

/** A load on which settings are tried. */
export interface Probe {
  /** The figures of each document; null for one that cannot run, or if the load is unknown. */
  readonly run: (variants: readonly Variant[]) => Promise<readonly (Figures | null)[]>;
}

/**
 * Settings that are best for one exact load owe that to luck: whether a pod more is needed at its peaks, when a round
 * comes, whether it only rises. So they are also tried on the same load, a little smaller and larger, with other times
 * of the rounds, and backwards in time. The first one is the load itself.
 */
const PROBES = [
  { factor: 1, laterSeconds: 0, isBackwards: false },
  { factor: 1, laterSeconds: 0, isBackwards: true },
  { factor: 0.8, laterSeconds: 5, isBackwards: false },
  { factor: 0.9, laterSeconds: 10, isBackwards: true },
  { factor: 1.1, laterSeconds: 3, isBackwards: false },
  { factor: 1.2, laterSeconds: 8, isBackwards: true },
] as const;

export function probesOf(setting: ProbeSetting, start: Instant, end: Instant): readonly Probe[] {
  return PROBES.map(({ factor, laterSeconds, isBackwards }) => {
    const changed = new Map<Load, Load>();
    const changedLoad = (load: Load): Load => {
      if (factor === 1 && !isBackwards) return load;
      const known =
        changed.get(load) ?? scaleLoad(isBackwards ? reverseLoad(load, start, end) : load, factor);
      changed.set(load, known);
      return known;
    };
    const world: World = {
      ...setting.world,
      modelsOf: (scaler) => {
        const built = setting.world.modelsOf(scaler);
        if ('error' in built) return built;
        return {
          models: built.models.map((model) =>
            model.kind === 'constant' ? model : { ...model, load: changedLoad(model.load) },
          ),
        };
      },
    };
    const { assumptions, runJobs } = setting;
    const within = { start: addSeconds(start, laterSeconds), end };
    const scoring = scoringOf(changedLoad(setting.scoring.load), assumptions, within);
    return {
      run: async (variants) => {
        const results = await runAllOn(world, variants, { scoring, assumptions, runJobs });
        return results.map(({ figures }) => figures);
      },
    };
  });
}

function scaleLoad({ data: { times, values, end } }: Load, factor: number): Load {
  return createLoad(
    times,
    values.map((value) => value * factor),
    end,
  );
}

function reverseLoad(load: Load, start: Instant, end: Instant): Load {
  const times: number[] = [];
  const values: number[] = [];
  load.pieces(start, end, (_, to, value) => {
    times.push(start + end - to);
    values.push(value ?? NaN);
  });
  return createLoad(Float64Array.from(times.reverse()), Float64Array.from(values.reverse()), end);
}
