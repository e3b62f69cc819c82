import type { Figures } from './figures.js';
import type { Threshold } from './threshold.js';
import { type ProbeFigures, meanWithoutSmallest } from './probes.js';

/** The figures of one candidate and of the document on one probe. */
export interface Comparison {
  readonly changed: ProbeFigures;
  readonly original: ProbeFigures;
}

export interface Aim {
  readonly conditions: readonly Threshold[];
  /** Whether the document misses the conditions. A change may then need more pod-hours than the document. */
  readonly isMissed: boolean;
}

/** A candidate that barely meets a condition on one half of the load rarely meets it on the other half. */
const MARGIN = 0.9;
/** How much worse than the document a change may be if it changes only the scale-down tolerance. */
export const CAREFUL_SLACK = 0.05;

/**
 * Returns whether a change needs no more pod-hours on one probe and meets the conditions: absolute ones with a margin,
 * relative ones compared with the document. The comparison of windows omits the sixth that favors the change most.
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

/** Returns whether a small change, which cannot delay a scale-up, is about as good as the document on one probe. */
export function isCareful({ changed, original }: Comparison, conditions: readonly Threshold[]): boolean {
  return conditions.every(({ isRelative, isMetNear, isMetWithin }) =>
    isRelative ? isMetNear(changed.whole, original.whole, CAREFUL_SLACK) : isMetWithin(changed.whole, MARGIN),
  );
}

/** Returns the mean share of the pod-hours that a change saves; negative if it needs more. */
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

/** Omits the windows in which the load is unknown. */
function byWindow(
  { changed, original }: Comparison,
  compare: (changed: Figures, original: Figures) => number,
): number[] {
  return changed.windows.flatMap((figures, number) => {
    const reference = original.windows[number] ?? null;
    return figures === null || reference === null ? [] : [compare(figures, reference)];
  });
}
