import { type Clock, sleep } from '../units/clock.js';

/**
 * Memory that the service shares with a worker thread to limit its CPU time. The service sets one element to request a
 * pause of the worker. The worker sets the other element while it is idle, because it pauses or waits for an answer.
 */
export type Turns = Int32Array<SharedArrayBuffer>;

const MUST_PAUSE = 0;
const IS_IDLE = 1;

export function createTurns(): Turns {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}

/** Called by the worker between two steps of its work. Blocks as long as the worker must pause. */
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
 * Limits the worker to a share of a core, in percent, until `signal` is aborted. The worker pauses only between two
 * steps. A long step is therefore followed by a long pause.
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
