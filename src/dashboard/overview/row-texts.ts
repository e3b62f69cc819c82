import type { OverviewRow } from '../data/answers.js';
import { formatCount } from '../format/numbers.js';
import { LIMIT_NAMES } from '../ui/limit-names.js';

/** Returns what the line of replicas shows, for those who do not see it. */
export function sparklineLabel({ replicas }: OverviewRow): string {
  const known = replicas.filter((count) => count !== null);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return 'No replicas are known for the last two hours';
  const range = `between ${formatCount(Math.min(...known))} and ${formatCount(Math.max(...known))}`;
  return `Replicas in the last two hours: ${range}, from ${formatCount(first)} to ${formatCount(last)}`;
}

/** Returns `4 to 6`, or `4` if they are equal or one is unknown. */
export function replicasText({ current, desired }: Pick<OverviewRow, 'current' | 'desired'>): string {
  if (desired === null || desired === current) return formatCount(current);
  return `${formatCount(current)} to ${formatCount(desired)}`;
}

/** What holds a scaler back now, and until when. */
export interface RowReason {
  /** Null: the state next to it says it. */
  readonly title: string | null;
  readonly text: string;
  readonly until: string | null;
}

/** Returns the limit that decided, else why the row has its first state; null: nothing special. */
export function reasonOf({ states, message, limit }: OverviewRow): RowReason | null {
  const [first] = states;
  const isTrouble = first === 'failing' || first === 'conflict' || first === 'target-not-reached';
  if (limit !== null && !isTrouble)
    return { title: LIMIT_NAMES[limit.limit], text: limit.reason, until: limit.until };
  if (message === null || first === undefined) return null;
  return { title: null, text: message, until: null };
}

/** Returns a value with three digits, or all of its integer part: a row has no room for more. */
export function shorten(value: number | null): number | null {
  if (value === null) return null;
  return Math.abs(value) < 100 ? Number(value.toPrecision(3)) : Math.round(value);
}
