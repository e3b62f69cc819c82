import type { OverviewRow } from '../data/answers.js';
import { formatCount, formatMetric } from '../format/numbers.js';
import { LIMIT_NAMES } from '../ui/limit-names.js';
import { STATE_LOOKS } from '../ui/scaler-states.js';

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

/** What holds a scaler back now, and since when or until when. */
export interface RowReason {
  readonly title: string;
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
  return { title: STATE_LOOKS[first].text, text: message, until: null };
}

export function metricText(metric: NonNullable<OverviewRow['metric']>): string {
  return `${formatMetric(metric.value, metric)} of ${formatMetric(metric.target, metric)}`;
}
