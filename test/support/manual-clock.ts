import type { Clock } from '../../src/units/clock.js';
import { addSeconds, type Instant, parseInstant } from '../../src/units/time.js';

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A shorter wait than this would be lost in the rounding of a late time, and a loop of such waits would never end. */
const LEAST_WAIT_MS = 0.001;

/** A clock that stops until a test advances it. Starts at 2026-01-01T00:00:00Z by default. */
export class ManualClock implements Clock {
  /** Returned by `random`; a test can set it. At least 0, below 1. */
  chance = 0;
  #start: Instant;
  #elapsedMs = 0;
  #jumpSeconds = 0;
  #order = 0;
  #timers = new Set<Timer>();

  constructor(start = '2026-01-01T00:00:00Z') {
    const instant = parseInstant(start);
    if (instant === null) throw new Error(`${start} is no instant`);
    this.#start = instant;
  }

  readonly now = (): Instant => addSeconds(this.#start, this.#elapsedMs / 1000 + this.#jumpSeconds);

  readonly monotonicMs = (): number => this.#elapsedMs;

  readonly random = (): number => this.chance;

  readonly after = (ms: number, callback: () => void): (() => void) => {
    const waitMs = ms > 0 ? Math.max(LEAST_WAIT_MS, ms) : 0;
    const timer = { dueMs: this.#elapsedMs + waitMs, order: (this.#order += 1), callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** The number of pending timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer is due; null without one. */
  get nextMs(): number | null {
    const timer = this.#next(Number.POSITIVE_INFINITY);
    return timer === null ? null : timer.dueMs - this.#elapsedMs;
  }

  /**
   * Advances by `ms` and calls due timers, in order and each at its own time. Continuations behind an `await` have not
   * run yet when this returns: see `advanceAndSettle`.
   */
  advance(ms: number): void {
    const endMs = this.#elapsedMs + ms;
    for (let timer = this.#next(endMs); timer !== null; timer = this.#next(endMs)) {
      this.#timers.delete(timer);
      this.#elapsedMs = Math.max(this.#elapsedMs, timer.dueMs);
      timer.callback();
    }
    this.#elapsedMs = endMs;
  }

  /** As `advance`, but runs promises and sockets after each timer, so that a loop of sleeps runs through. */
  async advanceAndSettle(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms;
    await settle();
    for (let timer = this.#next(endMs); timer !== null; timer = this.#next(endMs)) {
      this.advance(Math.max(0, timer.dueMs - this.#elapsedMs));
      await settle();
    }
    this.advance(endMs - this.#elapsedMs);
    await settle();
  }

  /** Advances by `ms` at once, as for a process that was stopped: timers that became due meanwhile are called late. */
  async stall(ms: number): Promise<void> {
    this.#elapsedMs += ms;
    await this.advanceAndSettle(0);
  }

  /** Sets the wall clock; monotonic time and timers do not change. */
  jump(seconds: number): void {
    this.#jumpSeconds += seconds;
  }

  #next(endMs: number): Timer | null {
    let next: Timer | null = null;
    for (const timer of this.#timers)
      if (
        timer.dueMs <= endMs &&
        (next === null ||
          timer.dueMs < next.dueMs ||
          (timer.dueMs === next.dueMs && timer.order < next.order))
      )
        next = timer;
    return next;
  }
}

/** Runs some turns of the event loop, promises included. */
export async function settle(turns = 5): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Resolves once `condition` holds; throws after 20 s. A pause without processor time for the process counts as 10 ms.
 */
export async function eventually(condition: () => boolean, what = 'the condition'): Promise<void> {
  let lastMs = performance.now();
  let waitedMs = 0;
  while (!condition()) {
    if (waitedMs > 20_000) throw new Error(`${what} did not come about within 20 s`);
    await new Promise((resolve) => setTimeout(resolve, 1));
    const nowMs = performance.now();
    waitedMs += Math.min(nowMs - lastMs, 10);
    lastMs = nowMs;
  }
}
