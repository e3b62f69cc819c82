import type { Figures } from './figures.js';
import type { Threshold } from './threshold.js';
import { type ProbeFigures, meanWithoutSmallest } from './probes.js';

/** The figures of a candidate and of the document, on the same probe. */
export interface Comparison {
  readonly changed: ProbeFigures;
  readonly original: ProbeFigures;
}

export interface Aim {
  readonly conditions: readonly Threshold[];
  /** Whether the document misses the conditions. If so, a change may need more pod-hours than the document. */
  readonly isMissed: boolean;
}

/**
 * A candidate must meet a condition with this margin. One that barely meets it on one half of the load rarely meets it
 * on the other half.
 */
const MARGIN = 0.9;
/** How much worse the figures may be if a change affects only the tolerance of scale-downs, as a share. */
export const CAREFUL_SLACK = 0.05;

/**
 * Returns whether a change is confirmed on a probe: it needs no more pod-hours than the document and meets the
 * conditions. Absolute conditions must be met with a margin. Pod-hours and relative conditions are also compared in
 * each window; the sixth of the windows that favors the change most is ignored.
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

/**
 * Returns whether the figures of a change are about as good as those of the document on a probe. Must only be
 * called for changes that cannot delay a scale-up.
 */
export function isCareful({ changed, original }: Comparison, conditions: readonly Threshold[]): boolean {
  return conditions.every(({ isRelative, isMetNear, isMetWithin }) =>
    isRelative ? isMetNear(changed.whole, original.whole, CAREFUL_SLACK) : isMetWithin(changed.whole, MARGIN),
  );
}

/** Returns which share of the pod-hours a change saves, as a mean over the probes; negative: it needs more. */
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

/** Compares the figures of each window, except windows in which the load is unknown. */
function byWindow(
  { changed, original }: Comparison,
  compare: (changed: Figures, original: Figures) => number,
): number[] {
  return changed.windows.flatMap((figures, number) => {
    const reference = original.windows[number] ?? null;
    return figures === null || reference === null ? [] : [compare(figures, reference)];
  });
}
