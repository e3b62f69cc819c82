import type { OverviewRow } from '../../api/answers.js';
import { formatCount } from '../format/numbers.js';
import { LIMIT_NAMES } from '../ui/limit-names.js';

/** Describes the sparkline of the replicas for screen readers. */
export function sparklineLabel({ replicas }: OverviewRow): string {
  const known = replicas.filter((count) => count !== null);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return 'No replicas are known for the last two hours';
  const range = `between ${formatCount(Math.min(...known))} and ${formatCount(Math.max(...known))}`;
  return `Replicas in the last two hours: ${range}, from ${formatCount(first)} to ${formatCount(last)}`;
}

/** Returns `4 to 6`, or `4` if both counts are equal or one is unknown. */
export function replicasText({ current, desired }: Pick<OverviewRow, 'current' | 'desired'>): string {
  if (desired === null || desired === current) return formatCount(current);
  return `${formatCount(current)} to ${formatCount(desired)}`;
}

/** Why a scaler does not scale now, and until when. */
export interface RowReason {
  /** Null: the state next to it has the same text. */
  readonly title: string | null;
  readonly text: string;
  readonly until: string | null;
}

/** Returns the limit that decided, otherwise the reason of the first state; null: none. */
export function reasonOf({ states, message, limit }: OverviewRow): RowReason | null {
  const [first] = states;
  const isTrouble = first === 'failing' || first === 'conflict' || first === 'target-not-reached';
  if (limit !== null && !isTrouble)
    return { title: LIMIT_NAMES[limit.limit], text: limit.reason, until: limit.until };
  if (message === null || first === undefined) return null;
  return { title: null, text: message, until: null };
}

/** Returns a value with three digits, or its whole integer part, because a row is narrow. */
export function shorten(value: number | null): number | null {
  if (value === null) return null;
  return Math.abs(value) < 100 ? Number(value.toPrecision(3)) : Math.round(value);
}
