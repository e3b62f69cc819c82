import { stepMeans, type Demand } from '../figures/figures.js';
import type { Run } from '../simulation/run-variant.js';

const BLOCKS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
const GAP = '·';

/** Returns one line of `width` characters with the highest value of each interval, on a scale from 0 to `top`. */
export function sparkline(
  values: readonly number[],
  { width, top }: { readonly width: number; readonly top: number },
): string {
  const columns = Math.min(width, values.length);
  return Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * values.length) / columns);
    const to = Math.max(from + 1, Math.floor(((column + 1) * values.length) / columns));
    const known = values.slice(from, to).filter((value) => !Number.isNaN(value));
    if (known.length === 0) return GAP;
    const highest = known.reduce((most, value) => Math.max(most, value), 0);
    const level = top === 0 ? 0 : Math.ceil((highest / top) * (BLOCKS.length - 1));
    return BLOCKS[Math.min(level, BLOCKS.length - 1)] ?? GAP;
  }).join('');
}

/** Returns the demand and the replicas of each variant on the same scale. */
export function chartLines(
  demand: Demand,
  runs: readonly { readonly name: string; readonly run: Run }[],
  width: number,
): readonly (readonly [string, string])[] {
  const series = [
    { name: 'demand', values: [...demand.pods] },
    ...runs.map(({ name, run }) => ({
      name,
      values: Array.from(stepMeans(run.replicas, demand), ({ mean }) => mean),
    })),
  ];
  const top = series
    .flatMap(({ values }) => values)
    .reduce((most, value) => (value > most ? value : most), 1);
  return series.map(({ name, values }) => [name, sparkline(values, { width, top })]);
}
