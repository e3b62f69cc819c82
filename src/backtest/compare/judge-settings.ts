import type { Figures } from './figures.js';
import type { Threshold } from './threshold.js';
import { type ProbeFigures, meanWithoutSmallest } from './probes.js';

/** The figures of a candidate (`changed`) and of the document (`original`) on the same probe. */
export interface Comparison {
  readonly changed: ProbeFigures;
  readonly original: ProbeFigures;
}

export interface Aim {
  readonly conditions: readonly Threshold[];
  /** Whether the document itself misses a condition. A change may then need more pod-hours than the document. */
  readonly isMissed: boolean;
}

/**
 * A candidate must meet a condition with this margin. If it barely meets the condition on one half of the load, it
 * rarely meets the condition on the other half.
 */
const MARGIN = 0.9;
/** How much worse a figure may be, in its own unit, if a change affects only the tolerance of scale-downs. */
export const CAREFUL_SLACK = 0.05;

/**
 * Returns whether a change is confirmed on a probe. The change must meet the conditions: absolute conditions with a
 * margin, relative conditions on the whole load and on average over the windows. Unless the document misses a
 * condition, the change must also need no more pod-hours than the document, on the whole load and on average over the
 * windows. Averages omit the sixth of the windows in which the change does best.
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
 * Returns whether a change is about as good as the document on a probe. Call it only for changes that cannot delay a
 * scale-up.
 */
export function isCareful({ changed, original }: Comparison, conditions: readonly Threshold[]): boolean {
  return conditions.every(({ isRelative, isMetNear, isMetWithin }) =>
    isRelative ? isMetNear(changed.whole, original.whole, CAREFUL_SLACK) : isMetWithin(changed.whole, MARGIN),
  );
}

/**
 * Returns the share of the pod-hours that a change saves, as a mean over the probes; negative: the change needs more
 * pod-hours.
 */
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
