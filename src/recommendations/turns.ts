import { type Clock, sleep } from '../units/clock.js';

/**
 * Memory that is shared with a worker thread to limit its CPU time. It contains whether the worker must pause, and
 * whether it is idle, because it pauses or waits for an answer.
 */
export type Turns = Int32Array<SharedArrayBuffer>;

const MUST_PAUSE = 0;
const IS_IDLE = 1;

export function createTurns(): Turns {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}

/** The worker calls it between two steps of its work. Blocks as long as the worker must pause. */
export function takeTurn(turns: Turns): void {
  while (Atomics.load(turns, MUST_PAUSE) === 1) {
    Atomics.store(turns, IS_IDLE, 1);
    Atomics.wait(turns, MUST_PAUSE, 1);
  }
  Atomics.store(turns, IS_IDLE, 0);
}

/** The worker calls it before it waits for an answer. */
export function beginWait(turns: Turns): void {
  Atomics.store(turns, IS_IDLE, 1);
}

const TURN_MS = 50;

/**
 * Limits the worker to a share of a core, in percent, until `signal` is aborted. If a step of the worker takes longer
 * than a slice of time, the pause after it is longer, too.
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
