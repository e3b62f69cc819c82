import type { DecisionEntry, Outcome } from './answers.js';
import type { ChartData } from './chart-data.js';
import { measuredOf } from './headline.js';

/** What a chart draws of a change of the replicas that was decided, whether it was applied or not. */
export interface Mark {
  /** Unix time in seconds. */
  readonly second: number;
  readonly from: number;
  readonly to: number;
  readonly isApplied: boolean;
}

export interface Change extends Mark {
  readonly at: string;
  /** Whether the service still has the decision in memory. */
  readonly isKept: boolean;
  /** For example `4 → 6`; `4 → 6, paused` if the change was not applied. */
  readonly label: string;
  /** What the metrics measured; empty: unknown. */
  readonly reason: string;
}

/** The words for the outcomes of a decision. */
export const OUTCOME_NAMES: Readonly<Record<Outcome['kind'], string>> = {
  none: 'No change',
  patched: 'Changed',
  replaced: 'Replaced',
  'dry-run': 'Dry run',
  paused: 'Paused',
  held: 'Held back',
  conflict: 'Conflict',
  failed: 'Failed',
};

/** Returns the changes of a list of decisions, oldest first. */
export function listChanges(entries: readonly DecisionEntry[]): readonly Change[] {
  return entries
    .flatMap((entry) => {
      const change = changeOf(entry);
      return change === null ? [] : [change];
    })
    .sort((a, b) => a.second - b.second);
}

/**
 * Returns the change of an entry; null: there was none. A change that several cycles repeat has the time of the first
 * cycle.
 */
function changeOf({ firstAt, outcome, decision }: DecisionEntry): Change | null {
  const isApplied = outcome.kind === 'patched' || outcome.kind === 'replaced';
  const from = outcome.from ?? decision?.currentReplicas ?? null;
  const to = outcome.to ?? decision?.desiredReplicas ?? null;
  const second = Date.parse(firstAt) / 1000;
  if (from === null || to === null || from === to || Number.isNaN(second)) return null;
  if (outcome.kind === 'none') return null;
  const aside = isApplied ? '' : `, ${OUTCOME_NAMES[outcome.kind].toLowerCase()}`;
  const reason = measuredOf(decision?.reason ?? '');
  return { second, at: firstAt, from, to, isApplied, isKept: true, label: `${from} → ${to}${aside}`, reason };
}

/**
 * Returns the changes before `until` (Unix seconds), for which there are no decisions, from the points of the charts. A
 * change is a difference of the current replicas between two points, and has the time of the later point.
 */
export function changesInData(
  { at, currentReplicas }: Pick<ChartData, 'at' | 'currentReplicas'>,
  until: number,
): readonly Change[] {
  return at.flatMap((second, index) => {
    const [from, to] = [currentReplicas[index - 1] ?? null, currentReplicas[index] ?? null];
    if (second >= until || from === null || to === null || from === to) return [];
    const time = new Date(second * 1000).toISOString();
    const label = `${from} → ${to}`;
    return [{ second, at: time, from, to, isApplied: true, isKept: false, label, reason: '' }];
  });
}

/**
 * Returns the changes in `window` (Unix seconds) that have a mark of their own, in the order of `changes` (oldest
 * first). A change closer than `gap` to the last mark of the same kind shares it. `positionOf` returns the position of
 * a time (Unix seconds), in the unit of `gap`.
 */
export function markedChanges<One extends Mark>(
  changes: readonly One[],
  {
    window,
    positionOf,
    gap,
  }: {
    readonly window: { readonly from: number; readonly to: number };
    readonly positionOf: (second: number) => number;
    readonly gap: number;
  },
): readonly One[] {
  const last = new Map<string, number>();
  return changes.filter(({ second, from, to, isApplied }) => {
    if (second < window.from || second > window.to) return false;
    const kind = `${to > from} ${isApplied}`;
    const position = positionOf(second);
    if (position - (last.get(kind) ?? -Infinity) < gap) return false;
    last.set(kind, position);
    return true;
  });
}

/**
 * Returns the last change before (-1) or the first change after (1) a time in Unix seconds; null: there is none.
 * `second` null: a time after all changes.
 */
export function nextChange(changes: readonly Mark[], second: number | null, direction: -1 | 1): Mark | null {
  if (direction === 1) return changes.find((change) => second !== null && change.second > second) ?? null;
  return changes.findLast((change) => second === null || change.second < second) ?? null;
}
