import type { VNode } from 'preact';
import { UNKNOWN } from './numbers.js';
import { formatDistance, formatExact, formatLocal, parseTime } from './times.js';
import { useNow } from './use-now.js';

const FORMATS = {
  /** 10:42:30 */
  clock: formatLocal,
  /** In 3 min. */
  distance: formatDistance,
  /** 3 min ago. The clock of the viewer may be behind. */
  ago: (ms: number, nowMs: number) => formatDistance(Math.min(ms, nowMs), nowMs),
} as const;

interface TimeProps {
  /** RFC 3339; null: unknown. */
  readonly at: string | null;
  /** Default: `clock`. */
  readonly show?: keyof typeof FORMATS;
}

/** Shows a time in the time zone of the viewer, and on hover with that zone and in UTC. */
export function Time({ at, show = 'clock' }: TimeProps): VNode {
  const ms = at === null ? null : parseTime(at);
  return ms === null ? <span>{UNKNOWN}</span> : <TimeText ms={ms} format={FORMATS[show]} />;
}

interface TimeTextProps {
  readonly ms: number;
  readonly format: (ms: number, nowMs: number) => string;
}

/** Shows a text for a time. Only this element renders again while the time passes. */
export function TimeText({ ms, format }: TimeTextProps): VNode {
  const text = useNow((nowMs) => format(ms, nowMs));
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatExact(ms)}>
      {text}
    </time>
  );
}
