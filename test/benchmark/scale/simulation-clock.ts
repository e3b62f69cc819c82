/** How fast time passes for the service and its cluster: as for the system until `sinceMs`, then `rate` times as fast. */
export interface ClockRate {
  /** System time in milliseconds since 1970. */
  readonly sinceMs: number;
  readonly rate: number;
}

export const REAL_TIME: ClockRate = { sinceMs: 0, rate: 1 };

/** Returns the time that the service and its cluster read at a time of the system, both in milliseconds since 1970. */
export function timeAt(systemMs: number, { sinceMs, rate }: ClockRate): number {
  return systemMs + Math.max(0, systemMs - sinceMs) * (rate - 1);
}

/** The time of the fake cluster: that of the service. */
export interface SimulationClock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly startMs: number;
  /** Runs `work` once, `ms` later. */
  readonly after: (ms: number, work: () => void) => void;
  /** Runs what is due. */
  readonly tick: () => void;
}

/** `now`: milliseconds since 1970. */
export function createSimulationClock(now: () => number): SimulationClock {
  let waiting: { readonly dueMs: number; readonly work: () => void }[] = [];
  return {
    now,
    startMs: now(),
    after: (ms, work) => void waiting.push({ dueMs: now() + ms, work }),
    tick: () => {
      const nowMs = now();
      const due = waiting.filter(({ dueMs }) => dueMs <= nowMs);
      if (due.length === 0) return;
      waiting = waiting.filter(({ dueMs }) => dueMs > nowMs);
      for (const { work } of due.toSorted((a, b) => a.dueMs - b.dueMs)) work();
    },
  };
}
