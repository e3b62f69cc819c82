import type { Figures } from './figures.js';

type FigureName = keyof typeof READ;

/** The figures by the names that they have in conditions, tables and JSON. */
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
  mean_wait: ({ queue }: Figures) => queue?.meanWait ?? NaN,
  p95_wait: ({ queue }: Figures) => queue?.p95Wait ?? NaN,
  max_wait: ({ queue }: Figures) => queue?.maxWait ?? NaN,
  lost: ({ queue }: Figures) => queue?.lost ?? NaN,
  peak_depth: ({ queue }: Figures) => queue?.peakDepth ?? NaN,
  end_depth: ({ queue }: Figures) => queue?.endDepth ?? NaN,
} as const;

/** Figures that exist only in a back-test with a queue. */
export const QUEUE_FIGURE_NAMES: readonly string[] = [
  'mean_wait',
  'p95_wait',
  'max_wait',
  'lost',
  'peak_depth',
  'end_depth',
] satisfies readonly FigureName[];

export const FIGURE_NAMES: readonly string[] = Object.keys(READ);

/** A condition on a figure, such as `theta_U <= 1`. */
export interface Threshold {
  readonly text: string;
  readonly figure: string;
  /** Whether the limit is the figure of the document, as in `theta_U <= document`. */
  readonly isRelative: boolean;
  /**
   * Returns whether the condition is met. False if the figure is missing, such as `cost` without a price or `lost`
   * without a queue. A relative condition is only met with `document`, whose figure is the limit.
   */
  readonly isMetBy: (figures: Figures, document?: Figures) => boolean;
  /**
   * Returns whether an absolute condition is met with a stricter limit: multiplied (`<`) or divided (`>`) by `margin`,
   * which is at most 1. False for a relative condition.
   */
  readonly isMetWithin: (figures: Figures, margin: number) => boolean;
  /**
   * Returns whether the condition is met if its limit is the figure of the document, and the figure may be worse by
   * `slack`.
   */
  readonly isMetNear: (figures: Figures, document: Figures, slack: number) => boolean;
  /**
   * Returns by how much the figure is worse than the same figure of the document; negative: better; NaN: the figure is
   * missing.
   */
  readonly excess: (figures: Figures, document: Figures) => number;
}

const CONDITION = /^([A-Za-z_]{1,20})(<=|>=|<|>)(\d{1,15}(?:\.\d{1,15})?|document)$/;

/** Parses a condition. `allowsDocument`: its limit may be `document`. If the text is invalid, returns the reason. */
export function parseThreshold(
  text: string,
  { allowsDocument = false }: { readonly allowsDocument?: boolean } = {},
): Threshold | string {
  const match = CONDITION.exec(text.replace(/[ \t]/g, ''));
  if (match === null || (match[3] === 'document' && !allowsDocument))
    return `must be a figure, <, <=, > or >=, and a number${allowsDocument ? ' or document' : ''}, such as theta_U>1`;
  const [, name = '', operator = '', limitText = ''] = match;
  if (!isFigure(name)) return `there is no figure ${name}; the figures are ${FIGURE_NAMES.join(', ')}`;
  const isRelative = limitText === 'document';
  if (isRelative && !operator.endsWith('='))
    return `compares with the document, so the operator must be <= or >=: the document itself never meets ${name}${operator}document`;
  const isUpper = operator.startsWith('<');
  const isMet = (figures: Figures, limit: number): boolean => compare(READ[name](figures), operator, limit);
  const isMetWithin = (figures: Figures, margin: number): boolean =>
    !isRelative && isMet(figures, isUpper ? Number(limitText) * margin : Number(limitText) / margin);
  const isMetNear = (figures: Figures, document: Figures, slack: number): boolean =>
    isMet(figures, READ[name](document) + (isUpper ? slack : -slack));
  return {
    text: `${name} ${operator} ${isRelative ? limitText : Number(limitText)}`,
    figure: name,
    isRelative,
    isMetBy: (figures, document) =>
      isRelative ? document !== undefined && isMetNear(figures, document, 0) : isMetWithin(figures, 1),
    isMetWithin,
    isMetNear,
    excess: (figures, document) => (isUpper ? 1 : -1) * (READ[name](figures) - READ[name](document)),
  };
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
