import type { Random } from './random.js';

/** The true demand of a workload over time, in replicas at their target. */
export interface Load {
  readonly at: (ms: number) => number;
  /** Returns the largest and the smallest load within an interval, both ends included. */
  readonly extremes: (fromMs: number, toMs: number) => { readonly least: number; readonly most: number };
}

const STEP_MS = 5000;
const DAY_MS = 86_400_000;

/**
 * Creates a daily wave with some spikes, calm hours and a little noise, determined by the seed. `isSteep`: besides, it
 * becomes two to four times as large within a minute, about once in two hours.
 */
export function createLoad(
  random: Random,
  {
    mean,
    durationMs,
    isSteep = false,
  }: { readonly mean: number; readonly durationMs: number; readonly isSteep?: boolean },
): Load {
  const steps = Math.ceil(durationMs / STEP_MS) + 2;
  const values = new Float64Array(steps);
  const phase = random.between(0, 2 * Math.PI);
  const depth = random.between(0.3, 0.7);
  let noise = 0;
  for (let step = 0; step < steps; step += 1) {
    const wave = 1 + depth * Math.sin((2 * Math.PI * step * STEP_MS) / DAY_MS + phase);
    noise = 0.98 * noise + random.between(-0.003, 0.003);
    values[step] = mean * wave * (1 + noise);
  }
  const count = Math.ceil((durationMs / DAY_MS) * random.integer(6, 14));
  for (let spike = 0; spike < count; spike += 1) addSpike(values, random);
  if (isSteep)
    for (let ms = 0; ms < durationMs; ms += 7_200_000) {
      const start = Math.floor((ms + random.between(0, 5_400_000)) / STEP_MS);
      const length = random.integer(120, 720);
      multiply(values, { start, ramp: random.integer(1, 12), length, factor: random.between(2, 4) });
    }
  return {
    at: (ms) => valueAt(values, ms),
    extremes: (fromMs, toMs) => extremesOf(values, fromMs, toMs),
  };
}

/** Adds a rise or fall within one to ten minutes, a plateau, and the return. */
function addSpike(values: Float64Array, random: Random): void {
  const start = random.integer(0, values.length - 1);
  const ramp = Math.ceil(random.between(12, 120));
  const length = Math.ceil(random.between(120, 900));
  const factor = random.chance(0.7) ? random.between(1.3, 2.5) : random.between(0.3, 0.7);
  multiply(values, { start, ramp, length, factor });
}

function multiply(
  values: Float64Array,
  {
    start,
    ramp,
    length,
    factor,
  }: { readonly start: number; readonly ramp: number; readonly length: number; readonly factor: number },
): void {
  for (let step = 0; step < 2 * ramp + length && start + step < values.length; step += 1) {
    const share = Math.min(1, step / ramp, (2 * ramp + length - step) / ramp);
    values[start + step] = (values[start + step] ?? 0) * (1 + (factor - 1) * share);
  }
}

function valueAt(values: Float64Array, ms: number): number {
  const index = Math.min(values.length - 1, Math.max(0, Math.floor(ms / STEP_MS)));
  return values[index] ?? 0;
}

function extremesOf(values: Float64Array, fromMs: number, toMs: number): { least: number; most: number } {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  const first = Math.max(0, Math.floor(fromMs / STEP_MS));
  const last = Math.min(values.length - 1, Math.max(0, Math.floor(toMs / STEP_MS)));
  for (let index = first; index <= last; index += 1) {
    const value = values[index] ?? 0;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return { least, most };
}
