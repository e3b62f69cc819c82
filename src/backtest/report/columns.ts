import { type Figures, stepMeans, type Demand } from '../compare/figures.js';
import type { Run } from '../simulation/run-variant.js';

interface Column {
  readonly title: string;
  readonly text: (figures: Figures) => string;
}

/** The columns of the table, in the terminal and in Markdown. */
export const COLUMNS: readonly Column[] = [
  { title: 'theta_U %', text: ({ thetaU }) => thetaU.toFixed(2) },
  { title: 'theta_O %', text: ({ thetaO }) => thetaO.toFixed(1) },
  { title: 'tau_U %', text: ({ tauU }) => tauU.toFixed(2) },
  { title: 'tau_O %', text: ({ tauO }) => tauO.toFixed(1) },
  { title: 'unserved %', text: ({ unserved }) => unserved.toFixed(2) },
  { title: 'instability %', text: ({ instability }) => instability.toFixed(1) },
  { title: 'average pods', text: ({ averagePods }) => averagePods.toFixed(2) },
  { title: 'peak', text: ({ peakPods }) => String(peakPods) },
  { title: 'pod-hours', text: ({ podHours }) => podHours.toFixed(podHours < 1 ? 2 : 1) },
  { title: 'changes', text: ({ changes }) => String(changes) },
  { title: 'flaps', text: ({ flaps }) => String(flaps) },
  { title: 'at maximum %', text: ({ atMaximum }) => atMaximum.toFixed(1) },
];

/** Explains the columns to readers who do not know the guide. */
export const LEGEND: readonly string[] = [
  'theta_U, theta_O: missing and surplus pods, in percent of the pods that the load needed.',
  'tau_U, tau_O: time with too few and with too many pods, in percent. unserved: load that the ready pods did not carry.',
  'The static fleet at the peak demand and the ideal follower know the load in advance and have no reserve.',
];

/** The columns of a back-test with a queue. */
export const QUEUE_COLUMNS: readonly Column[] = [
  { title: 'mean wait s', text: ({ queue }) => seconds(queue?.meanWait) },
  { title: 'p95 wait s', text: ({ queue }) => seconds(queue?.p95Wait) },
  { title: 'max wait s', text: ({ queue }) => seconds(queue?.maxWait) },
  { title: 'lost %', text: ({ queue }) => queue?.lost.toFixed(2) ?? '' },
  { title: 'peak depth', text: ({ queue }) => queue?.peakDepth.toFixed(0) ?? '' },
  { title: 'end depth', text: ({ queue }) => queue?.endDepth.toFixed(0) ?? '' },
];

export const QUEUE_LEGEND =
  'wait: how long served load had waited; max wait also counts load that still waits. lost: load that found the queue full or waited too long.';

function seconds(value: number | undefined): string {
  return value?.toFixed(value < 100 ? 1 : 0) ?? '';
}

export const COST_COLUMN: Column = {
  title: 'cost',
  text: ({ cost }) => (cost === null ? '' : cost.toFixed(2)),
};

const BLOCKS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
const GAP = '·';

/** Returns one line of `width` characters with the highest value of each interval, on a scale from 0 to `top`. */
function sparkline(
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
