import { type Clock, sleep } from '../units/clock.js';

/**
 * Shared memory of two threads, by which one limits the CPU time of the other: whether the worker must pause, and
 * whether it is idle, because it pauses or waits for an answer.
 */
export type Turns = Int32Array<SharedArrayBuffer>;

const MUST_PAUSE = 0;
const IS_IDLE = 1;

export function createTurns(): Turns {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}

/** Called by the worker between two steps of its work: returns when it may work. */
export function takeTurn(turns: Turns): void {
  while (Atomics.load(turns, MUST_PAUSE) === 1) {
    Atomics.store(turns, IS_IDLE, 1);
    Atomics.wait(turns, MUST_PAUSE, 1);
  }
  Atomics.store(turns, IS_IDLE, 0);
}

/** Called by the worker before it waits for an answer. */
export function beginWait(turns: Turns): void {
  Atomics.store(turns, IS_IDLE, 1);
}

const TURN_MS = 50;

/**
 * Lets the worker work for a share of the time, in percent of one core, until `signal` is aborted. A step that is longer
 * than a turn is followed by a longer pause.
 */
export async function limitShare(
  turns: Turns,
  {
    percent,
    clock,
    signal,
  }: { readonly percent: number; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const pausePerMs = (100 - percent) / percent;
  const measure = async (ms: number): Promise<number> => {
    const startMs = clock.monotonicMs();
    await sleep(clock, ms, signal);
    return clock.monotonicMs() - startMs;
  };
  const hasEnded = (): boolean => signal.aborted;
  while (!hasEnded()) {
    Atomics.store(turns, MUST_PAUSE, 0);
    Atomics.notify(turns, MUST_PAUSE);
    let leftMs = (await measure(TURN_MS)) * pausePerMs;
    if (leftMs > 0) Atomics.store(turns, MUST_PAUSE, 1);
    while (leftMs > 0 && !hasEnded()) {
      const passedMs = await measure(Math.min(leftMs, TURN_MS));
      leftMs += Atomics.load(turns, IS_IDLE) === 1 ? -passedMs : passedMs * pausePerMs;
    }
  }
}
