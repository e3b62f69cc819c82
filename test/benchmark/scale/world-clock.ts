/** The time of the fake cluster: that of the service, which may skip waiting. */
export interface WorldClock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly startMs: number;
  /** Sets how much has been skipped in all, and runs what became due. */
  readonly setSkipped: (ms: number) => void;
  /** Runs `work` once, `ms` later. */
  readonly after: (ms: number, work: () => void) => void;
  /** Runs what is due. */
  readonly tick: () => void;
}

/** How the time of the service and its cluster follows that of the system. */
export interface ClockRate {
  /** When both were the same, in milliseconds since 1970. */
  readonly originMs: number;
  /** Below 1: slower than the system's, for a machine that does other things meanwhile. */
  readonly rate: number;
}

/** `timeMs`: milliseconds since 1970, without what is skipped. */
export function createWorldClock(timeMs: () => number): WorldClock {
  let skippedMs = 0;
  let waiting: { readonly dueMs: number; readonly work: () => void }[] = [];
  const now = (): number => timeMs() + skippedMs;
  const tick = (): void => {
    const nowMs = now();
    const due = waiting.filter(({ dueMs }) => dueMs <= nowMs);
    if (due.length === 0) return;
    waiting = waiting.filter(({ dueMs }) => dueMs > nowMs);
    for (const { work } of due.toSorted((a, b) => a.dueMs - b.dueMs)) work();
  };
  return {
    now,
    startMs: now(),
    setSkipped: (ms) => {
      skippedMs = ms;
      tick();
    },
    after: (ms, work) => void waiting.push({ dueMs: now() + ms, work }),
    tick,
  };
}
