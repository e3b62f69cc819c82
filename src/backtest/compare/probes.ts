import { addSeconds, type Instant, secondsBetween } from '../../units/time.js';
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

interface ProbeLoad {
  readonly factor: number;
  readonly laterSeconds: number;
  readonly isBackwards: boolean;
  /** Null: the parts of the load keep their order. */
  readonly shuffle: Shuffle | null;
}

/** Cuts the load into this many parts of the same length, and takes each `stride`-th, cyclically. */
interface Shuffle {
  readonly parts: number;
  readonly stride: number;
}

/**
 * Settings that are best for one exact load owe that to luck: whether a pod more is needed at its peaks, when a round
 * comes, whether it only rises, what follows a burst. So they are also tried on the same load, a little smaller and
 * larger, with other times of the rounds, backwards in time, and with its parts in another order. The first one is the
 * load itself.
 */
const PROBES: readonly ProbeLoad[] = [
  { factor: 1, laterSeconds: 0, isBackwards: false, shuffle: null },
  { factor: 1, laterSeconds: 0, isBackwards: true, shuffle: null },
  { factor: 0.8, laterSeconds: 5, isBackwards: false, shuffle: null },
  { factor: 0.9, laterSeconds: 10, isBackwards: true, shuffle: null },
  { factor: 1.1, laterSeconds: 3, isBackwards: false, shuffle: null },
  { factor: 1.2, laterSeconds: 8, isBackwards: true, shuffle: null },
  { factor: 1, laterSeconds: 0, isBackwards: false, shuffle: { parts: 7, stride: 3 } },
  { factor: 1.3, laterSeconds: 7, isBackwards: false, shuffle: { parts: 8, stride: 5 } },
  { factor: 1, laterSeconds: 4, isBackwards: true, shuffle: { parts: 12, stride: 5 } },
  { factor: 0.7, laterSeconds: 12, isBackwards: false, shuffle: { parts: 13, stride: 5 } },
];

export function probesOf(setting: ProbeSetting, start: Instant, end: Instant): readonly Probe[] {
  return PROBES.map((probe) => {
    const changed = new Map<Load, Load>();
    const changedLoad = (load: Load): Load => {
      const known = changed.get(load) ?? probeLoad(load, probe, { start, end });
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
    const within = { start: addSeconds(start, probe.laterSeconds), end };
    const scoring = scoringOf(changedLoad(setting.scoring.load), assumptions, within);
    return {
      run: async (variants) => {
        const results = await runAllOn(world, variants, { scoring, assumptions, runJobs });
        return results.map(({ figures }) => figures);
      },
    };
  });
}

interface Period {
  readonly start: Instant;
  readonly end: Instant;
}

function probeLoad(load: Load, { factor, isBackwards, shuffle }: ProbeLoad, period: Period): Load {
  const shuffled = shuffle === null ? load : shuffleLoad(load, shuffle, period);
  const turned = isBackwards ? reverseLoad(shuffled, period) : shuffled;
  return factor === 1 ? turned : scaleLoad(turned, factor);
}

function scaleLoad({ data: { times, values, end } }: Load, factor: number): Load {
  return createLoad(
    times,
    values.map((value) => value * factor),
    end,
  );
}

function reverseLoad(load: Load, { start, end }: Period): Load {
  const times: number[] = [];
  const values: number[] = [];
  load.pieces(start, end, (_, to, value) => {
    times.push(start + end - to);
    values.push(value ?? NaN);
  });
  return createLoad(Float64Array.from(times.reverse()), Float64Array.from(values.reverse()), end);
}

function shuffleLoad(load: Load, { parts, stride }: Shuffle, { start, end }: Period): Load {
  const lengthSeconds = Math.floor(secondsBetween(start, end) / parts);
  if (lengthSeconds === 0) return load;
  const startOf = (part: number): Instant => addSeconds(start, part * lengthSeconds);
  const times: number[] = [];
  const values: number[] = [];
  const add = (from: Instant, to: Instant, at: Instant): void =>
    load.pieces(from, to, (pieceStart, _, value) => {
      times.push(at + (pieceStart - from));
      values.push(value ?? NaN);
    });
  for (let part = 0; part < parts; part += 1) {
    const taken = (part * stride) % parts;
    add(startOf(taken), startOf(taken + 1), startOf(part));
  }
  // The remainder of the division.
  add(startOf(parts), end, startOf(parts));
  return createLoad(Float64Array.from(times), Float64Array.from(values), end);
}
