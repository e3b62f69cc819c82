import type { Log } from '../units/log.js';

interface ClockWarnings {
  /** Seconds by which the wall clock of this host was set forward; negative: back. */
  readonly wallClockSet: (seconds: number) => void;
  /** Seconds by which the clock of a data source is ahead of the clock of this host; negative: behind. */
  readonly sourceClockAhead: (source: string, seconds: number) => void;
}

/**
 * More than a response may be delayed. Above 120 s, the samples are partial and scale nothing down
 * (prometheus/samples.ts).
 */
const WARN_SECONDS = 30;

/** Logs once when the clock of a data source starts to differ, and once when it is in sync again. */
export function createClockWarnings(log: Log): ClockWarnings {
  const differing = new Set<string>();
  return {
    wallClockSet: (seconds) =>
      log.warn('wall clock was set; windows keep their remaining time', { seconds: Math.round(seconds) }),
    sourceClockAhead: (source, seconds) => {
      const differs = Math.abs(seconds) > WARN_SECONDS;
      if (differs === differing.has(source)) return;
      if (!differs) {
        differing.delete(source);
        log.info('clock of data source is in sync again', { source });
        return;
      }
      differing.add(source);
      log.warn('clock of data source differs; a difference of more than 120 s prevents scale-down', {
        source,
        aheadSeconds: Math.round(seconds),
      });
    },
  };
}
