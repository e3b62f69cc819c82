import type { OverviewRow } from '../../api/answers.js';
import { formatExact } from '../../units/short-time.js';
import { replaceTimes } from '../../units/split-times.js';
import { formatCount } from '../ui/formats.js';

export function sparklineLabel({ replicas }: OverviewRow): string {
  const known = replicas.filter((count) => count !== null);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return 'No replicas are known for the last two hours';
  const range = `between ${formatCount(Math.min(...known))} and ${formatCount(Math.max(...known))}`;
  return `Replicas in the last two hours: ${range}, from ${formatCount(first)} to ${formatCount(last)}`;
}

/** Returns for example `4 to 6`, or only `4` if the desired replicas are equal or unknown. */
export function replicasText({ current, desired }: Pick<OverviewRow, 'current' | 'desired'>): string {
  if (desired === null || desired === current) return formatCount(current);
  return `${formatCount(current)} to ${formatCount(desired)}`;
}

/** Rounds a value to three digits, or to an integer from 100 on, because a row is narrow. */
export function shorten(value: number | null): number | null {
  if (value === null) return null;
  return Math.abs(value) < 100 ? Number(value.toPrecision(3)) : Math.round(value);
}

/** Returns a sentence for a tooltip. Each time in the sentence is shown in the time zone of the viewer and in UTC. */
export function exactTimes(text: string): string {
  return replaceTimes(text, formatExact);
}
