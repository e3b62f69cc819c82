import type { VNode } from 'preact';
import { formatDistance, formatLocal, formatUtc, parseTime } from './times.js';
import { UNKNOWN } from './numbers.js';

interface TimeProps {
  /** RFC 3339; null: unknown. */
  readonly at: string | null;
  readonly nowMs: number;
  /** `distance`: 3 min ago. `clock`: 10:42:30. Default: `clock`. */
  readonly show?: 'distance' | 'clock';
}

/** Shows a time in the time zone of the viewer, and in UTC on hover. */
export function Time({ at, nowMs, show = 'clock' }: TimeProps): VNode {
  const ms = at === null ? null : parseTime(at);
  if (ms === null) return <span>{UNKNOWN}</span>;
  const local = formatLocal(ms, nowMs);
  return show === 'clock' ? (
    <time dateTime={at ?? ''} title={formatUtc(ms)}>
      {local}
    </time>
  ) : (
    <time dateTime={at ?? ''} title={`${local}, ${formatUtc(ms)}`}>
      {formatDistance(ms, nowMs)}
    </time>
  );
}
