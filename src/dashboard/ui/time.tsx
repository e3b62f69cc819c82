import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Clock } from '../../units/clock.js';
import { formatExact, formatLocal } from '../../units/short-time.js';
import { splitTimes } from '../../units/split-times.js';
import { createCell } from '../data/cell.js';
import { formatDistance, parseTime, UNKNOWN } from './formats.js';

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

interface SentenceProps {
  readonly text: string;
}

/**
 * Shows a sentence of the service. Its times are in the time zone of the viewer, and on hover also in UTC. `5 -> 10` is
 * an arrow, and does not break into two lines.
 */
export function Sentence({ text }: SentenceProps): VNode {
  return (
    <span class="sentence" dir="auto">
      {splitTimes(text).map((piece, index) =>
        piece.isTime ? (
          <Time key={index} at={piece.text} />
        ) : (
          piece.text.replaceAll(' -> ', '\u00a0\u2192\u00a0')
        ),
      )}
    </span>
  );
}

/** The time of the page in ms. All ages and countdowns use this one time, so that they never contradict each other. */
const now = createCell(0);

const TICK_MS = 1000;

export function startTicking(clock: Clock): void {
  const tick = (): void => {
    now.set(clock.now());
    clock.after(TICK_MS, tick);
  };
  tick();
}

/** Returns a value that depends on the time in ms. The component renders again only if the value has changed. */
export function useNow<T extends string | number | boolean>(read: (nowMs: number) => T): T {
  const [, render] = useState<object>({});
  const value = read(now.get());
  const latest = useRef({ read, value });
  latest.current = { read, value };
  useEffect(
    () =>
      now.subscribe(() => {
        if (latest.current.read(now.get()) !== latest.current.value) render({});
      }),
    [],
  );
  return value;
}

/** Returns the time in ms, rounded down to a multiple of `stepMs`, for labels that several components share. */
export function useSteps(stepMs: number): number {
  return useNow((nowMs) => Math.floor(nowMs / stepMs) * stepMs);
}
