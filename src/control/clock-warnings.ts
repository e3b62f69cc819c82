import type { Log } from '../units/log.js';

/** Logs clocks that differ. */
export interface ClockWarnings {
  /** The wall clock of this host was set forward, or back (negative), by that many seconds. */
  readonly wallClockSet: (seconds: number) => void;
  /** The clock of a data source is ahead of the clock of this host by that many seconds; negative: behind. */
  readonly sourceClockAhead: (source: string, seconds: number) => void;
}

/** Longer than a delay of the response. From 120 s on responses lower nothing (samples.ts). Source: reliability.md, 3.2. */
const WARN_SECONDS = 30;

/** Logs a data source once when its clock differs by more than 30 s, and once when it is in sync again. */
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
      log.warn('clock of data source differs; from 120 s on its responses scale nothing down', {
        source,
        aheadSeconds: Math.round(seconds),
      });
    },
  };
}
