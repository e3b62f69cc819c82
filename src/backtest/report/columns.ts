import type { Figures } from '../figures/figures.js';

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
