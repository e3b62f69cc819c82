import { readFileSync } from 'node:fs';

const TICK_MS = 2;
/** Of the main thread: time on a processor, time waiting for one, in nanoseconds (Linux). */
const SCHEDSTAT = '/proc/self/schedstat';

export interface LoopBlocks {
  readonly reset: () => void;
  /** How late the latest timer since the last reset was, without the wait for a processor. */
  readonly longestMs: () => number;
}

/** Watches the event loop of this process. */
export function watchLoop(): LoopBlocks {
  let longestMs = 0;
  let dueMs = performance.now() + TICK_MS;
  let waitedMs = readWaitedMs();
  const tick = (): void => {
    const nowMs = performance.now();
    const waitedNowMs = readWaitedMs();
    longestMs = Math.max(longestMs, nowMs - dueMs - (waitedNowMs - waitedMs));
    waitedMs = waitedNowMs;
    dueMs = performance.now() + TICK_MS;
    setTimeout(tick, TICK_MS);
  };
  setTimeout(tick, TICK_MS);
  return { reset: () => (longestMs = 0), longestMs: () => longestMs };
}

/** 0 on other systems than Linux. */
function readWaitedMs(): number {
  try {
    return Number(readFileSync(SCHEDSTAT, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
