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

export function createWorldClock(realNow: () => number = Date.now): WorldClock {
  let skippedMs = 0;
  let waiting: { readonly dueMs: number; readonly work: () => void }[] = [];
  const now = (): number => realNow() + skippedMs;
  const tick = (): void => {
    const nowMs = now();
    const due = waiting.filter(({ dueMs }) => dueMs <= nowMs);
    if (due.length === 0) return;
    waiting = waiting.filter(({ dueMs }) => dueMs > nowMs);
    for (const { work } of due.toSorted((a, b) => a.dueMs - b.dueMs)) work();
  };
  return {
    now,
    startMs: realNow(),
    setSkipped: (ms) => {
      skippedMs = ms;
      tick();
    },
    after: (ms, work) => void waiting.push({ dueMs: now() + ms, work }),
    tick,
  };
}
