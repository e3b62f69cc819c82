/** A counter that rises at a constant rate, until the rate is set. */
export interface SteppingCounter {
  readonly valueAt: (nowMs: number) => number;
  readonly setRate: (perSecond: number, nowMs: number) => void;
}

export function createSteppingCounter(perSecond: number, startMs = Date.now()): SteppingCounter {
  let since = { atMs: startMs, value: 0, perSecond };
  const valueAt = (nowMs: number): number =>
    since.value + (Math.max(0, nowMs - since.atMs) / 1000) * since.perSecond;
  return {
    valueAt,
    setRate: (next, nowMs) => {
      since = { atMs: nowMs, value: valueAt(nowMs), perSecond: next };
    },
  };
}
