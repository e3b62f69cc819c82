import type { Figures } from '../figures/figures.js';
import type { Threshold } from '../figures/threshold.js';
import type { ProbeFigures } from './probes.js';
import { meanWithoutSmallest } from './sub-windows.js';

/** What settings and the document do on one probe. */
export interface Comparison {
  readonly changed: ProbeFigures;
  readonly original: ProbeFigures;
}

export interface Aim {
  readonly conditions: readonly Threshold[];
  /** The document misses the conditions, so that a change may need more pod-hours than it. */
  readonly isMissed: boolean;
}

/** A candidate that meets a condition with a limit only just on one half rarely meets it on the other. */
const MARGIN = 0.9;
/** How much worse a change of the tolerance of scale-downs alone may be than the document. */
export const CAREFUL_SLACK = 0.05;

/**
 * Whether a change keeps what it promises on one probe, also if the sixth of the sub-windows that favours it most does
 * not come again: no more pod-hours, and no more under-provisioning than the document (or the limit with a margin).
 */
export function isConfirmed({ changed, original }: Comparison, { conditions, isMissed }: Aim): boolean {
  const isMet = conditions.every((condition) =>
    condition.isRelative
      ? condition.isMetBy(changed.whole, original.whole) && excessOf(condition, { changed, original }) <= 0
      : condition.isMetWithin(changed.whole, MARGIN),
  );
  if (!isMet || isMissed) return isMet;
  return changed.whole.podHours <= original.whole.podHours && moreHours({ changed, original }) <= 0;
}

/** Whether a small change, which cannot delay a scale-up, is about as good as the document on one probe. */
export function isCareful({ changed, original }: Comparison, conditions: readonly Threshold[]): boolean {
  return conditions.every(({ isRelative, isMetNear, isMetWithin }) =>
    isRelative ? isMetNear(changed.whole, original.whole, CAREFUL_SLACK) : isMetWithin(changed.whole, MARGIN),
  );
}

/** The share of the pod-hours that a change saves, as a mean of the probes; negative if it needs more. */
export function savingOf(comparisons: readonly Comparison[]): number {
  const shares = comparisons.map(
    ({ changed, original }) => 1 - changed.whole.podHours / original.whole.podHours,
  );
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

function excessOf({ excess }: Threshold, comparison: Comparison): number {
  return meanWithoutSmallest(byWindow(comparison, excess));
}

function moreHours(comparison: Comparison): number {
  return meanWithoutSmallest(
    byWindow(comparison, (changed, original) => changed.podHours - original.podHours),
  );
}

/** Without the sub-windows in which the load is unknown. */
function byWindow(
  { changed, original }: Comparison,
  compare: (changed: Figures, original: Figures) => number,
): number[] {
  return changed.windows.flatMap((figures, number) => {
    const reference = original.windows[number] ?? null;
    return figures === null || reference === null ? [] : [compare(figures, reference)];
  });
}
