import type { Figures } from './figures.js';

type FigureName = keyof typeof READ;

/** The names of the figures in conditions, tables and JSON. */
const READ = {
  theta_U: (figures: Figures) => figures.thetaU,
  theta_O: (figures: Figures) => figures.thetaO,
  tau_U: (figures: Figures) => figures.tauU,
  tau_O: (figures: Figures) => figures.tauO,
  instability: (figures: Figures) => figures.instability,
  deviation: (figures: Figures) => figures.deviation,
  unserved: (figures: Figures) => figures.unserved,
  average_pods: (figures: Figures) => figures.averagePods,
  peak_pods: (figures: Figures) => figures.peakPods,
  pod_hours: (figures: Figures) => figures.podHours,
  cost: (figures: Figures) => figures.cost ?? NaN,
  changes: (figures: Figures) => figures.changes,
  flaps: (figures: Figures) => figures.flaps,
  at_maximum: (figures: Figures) => figures.atMaximum,
} as const;

export const FIGURE_NAMES: readonly string[] = Object.keys(READ);

/** A condition on a figure, such as `theta_U <= 1`. */
export interface Threshold {
  readonly text: string;
  readonly figure: string;
  /** A missing figure, such as `cost` without a price, meets no condition. */
  readonly isMetBy: (figures: Figures) => boolean;
  /** Whether it is met with the limit multiplied (`<`) or divided (`>`) by a margin below 1. */
  readonly isMetWithin: (figures: Figures, margin: number) => boolean;
}

const CONDITION = /^([A-Za-z_]{1,20})(<=|>=|<|>)(\d{1,15}(?:\.\d{1,15})?)$/;

/** Returns why the text is no condition as a string. */
export function parseThreshold(text: string): Threshold | string {
  const match = CONDITION.exec(text.replace(/[ \t]/g, ''));
  if (match === null) return 'must be a figure, <, <=, > or >=, and a number, such as theta_U>1';
  const [, name = '', operator, digits] = match;
  if (!isFigure(name)) return `there is no figure ${name}; the figures are ${FIGURE_NAMES.join(', ')}`;
  const limit = Number(digits);
  const isMetWithin = (figures: Figures, margin: number): boolean =>
    compare(
      READ[name](figures),
      operator ?? '',
      operator?.startsWith('<') === true ? limit * margin : limit / margin,
    );
  const isMetBy = (figures: Figures): boolean => isMetWithin(figures, 1);
  return { text: `${name} ${operator ?? ''} ${limit}`, figure: name, isMetBy, isMetWithin };
}

function isFigure(name: string): name is FigureName {
  return Object.hasOwn(READ, name);
}

export function readFigure(name: string, figures: Figures): number | null {
  if (!isFigure(name)) return null;
  const value = READ[name](figures);
  return Number.isNaN(value) ? null : value;
}

function compare(value: number, operator: string, limit: number): boolean {
  switch (operator) {
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    case '>':
      return value > limit;
    default:
      return value >= limit;
  }
}
