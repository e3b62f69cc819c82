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
  { title: 'pod-hours', text: ({ podHours }) => podHours.toFixed(1) },
  { title: 'changes', text: ({ changes }) => String(changes) },
  { title: 'flaps', text: ({ flaps }) => String(flaps) },
  { title: 'at maximum %', text: ({ atMaximum }) => atMaximum.toFixed(1) },
];

export const COST_COLUMN: Column = {
  title: 'cost',
  text: ({ cost }) => (cost === null ? '' : cost.toFixed(2)),
};
