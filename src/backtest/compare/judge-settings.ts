import type { Figures } from '../figures/figures.js';
import type { Threshold } from '../figures/threshold.js';
import type { Tried } from './probes.js';
import { meanWithoutSmallest } from './sub-windows.js';

/** What settings and the document do on one probe. */
export interface Pair {
  readonly tried: Tried;
  readonly own: Tried;
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
export function isConfirmed({ tried, own }: Pair, { conditions, isMissed }: Aim): boolean {
  const isMet = conditions.every((condition) =>
    condition.isRelative
      ? condition.isMetBy(tried.whole, own.whole) && excessOf(condition, { tried, own }) <= 0
      : condition.isMetWithin(tried.whole, MARGIN),
  );
  if (!isMet || isMissed) return isMet;
  return tried.whole.podHours <= own.whole.podHours && moreHours({ tried, own }) <= 0;
}

/** Whether a small change, which cannot delay a scale-up, is about as good as the document on one probe. */
export function isCareful({ tried, own }: Pair, conditions: readonly Threshold[]): boolean {
  return conditions.every(({ isRelative, isMetNear, isMetWithin }) =>
    isRelative ? isMetNear(tried.whole, own.whole, CAREFUL_SLACK) : isMetWithin(tried.whole, MARGIN),
  );
}

/** The share of the pod-hours that a change saves, as a mean of the probes; negative if it needs more. */
export function savingOf(pairs: readonly Pair[]): number {
  const shares = pairs.map(({ tried, own }) => 1 - tried.whole.podHours / own.whole.podHours);
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

function excessOf({ excess }: Threshold, pair: Pair): number {
  return meanWithoutSmallest(byWindow(pair, excess));
}

function moreHours(pair: Pair): number {
  return meanWithoutSmallest(byWindow(pair, (tried, own) => tried.podHours - own.podHours));
}

/** Without the sub-windows in which the load is unknown. */
function byWindow({ tried, own }: Pair, compare: (tried: Figures, own: Figures) => number): number[] {
  return tried.windows.flatMap((figures, number) => {
    const reference = own.windows[number] ?? null;
    return figures === null || reference === null ? [] : [compare(figures, reference)];
  });
}
