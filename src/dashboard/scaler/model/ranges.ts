/** A range of the charts. `stepSeconds`: of the points that Prometheus is asked for; null: memory alone. */
export interface Range {
  readonly name: string;
  readonly seconds: number;
  readonly stepSeconds: number | null;
}

const FIRST: Range = { name: '15 min', seconds: 900, stepSeconds: null };

export const RANGES: readonly Range[] = [
  FIRST,
  { name: '2 h', seconds: 7200, stepSeconds: null },
  { name: '24 h', seconds: 86_400, stepSeconds: 120 },
  { name: '7 d', seconds: 604_800, stepSeconds: 900 },
];

const LEAST_SECONDS = 120;

/**
 * Returns the start of the charts in Unix seconds. Unless the viewer has chosen the range, they start with the oldest
 * point: the history of a process that has just started would be a line at the edge.
 */
export function startOf(
  { seconds }: Range,
  {
    now,
    oldest,
    isChosen,
  }: { readonly now: number; readonly oldest: number | null; readonly isChosen: boolean },
): number {
  const start = now - seconds;
  if (isChosen || oldest === null) return start;
  return Math.max(start, Math.min(oldest, now - LEAST_SECONDS));
}

/** Returns the smaller of the first two ranges that contains the oldest point; seconds. */
export function firstRange(oldest: number | null, now: number): Range {
  const [short = FIRST, long = FIRST] = RANGES;
  return oldest !== null && now - oldest > short.seconds ? long : short;
}
