import type { VNode } from 'preact';
import { formatExact, formatLocal } from '../../units/short-time.js';
import { UNKNOWN } from './numbers.js';
import { formatDistance, parseTime } from './times.js';
import { useNow } from './use-now.js';

const FORMATS = {
  /** For example `10:42:30`. */
  clock: formatLocal,
  /** For example `in 3 min`. */
  distance: formatDistance,
  /** For example `3 min ago`. A time in the future is shown as now, because the clock of the viewer may be behind. */
  ago: (ms: number, nowMs: number) => formatDistance(Math.min(ms, nowMs), nowMs),
} as const;

interface TimeProps {
  /** A time in RFC 3339; null: unknown. */
  readonly at: string | null;
  /** Default: `clock`. */
  readonly show?: keyof typeof FORMATS;
}

/** Shows a time in the time zone of the viewer. On hover, also shows the name of the time zone, and the time in UTC. */
export function Time({ at, show = 'clock' }: TimeProps): VNode {
  const ms = at === null ? null : parseTime(at);
  return ms === null ? <span>{UNKNOWN}</span> : <TimeText ms={ms} format={FORMATS[show]} />;
}

interface TimeTextProps {
  readonly ms: number;
  readonly format: (ms: number, nowMs: number) => string;
}

/** Shows a text about a time. As time passes, only this element renders again. */
export function TimeText({ ms, format }: TimeTextProps): VNode {
  const text = useNow((nowMs) => format(ms, nowMs));
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatExact(ms)}>
      {text}
    </time>
  );
}
