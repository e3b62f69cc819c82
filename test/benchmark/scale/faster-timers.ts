import { REAL_TIME, timeAt } from './simulation-clock.js';
import type { ClockRate } from './simulation-clock.js';

/** The clock of the system, whatever rate the service's clock has. */
export interface SystemTime {
  /** Milliseconds since the start of the process. */
  readonly nowMs: () => number;
}

export interface FasterTimers {
  readonly system: SystemTime;
  readonly setRate: (rate: ClockRate) => void;
}

type Callback = (...args: unknown[]) => void;

/**
 * Replaces `setTimeout`, `clearTimeout`, `Date.now` and `performance.now`, which is all that the clock of the service
 * uses. Must run before any other module is loaded.
 */
export function replaceTimers(): FasterTimers {
  const system = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    dateNow: Date.now,
    performanceNow: performance.now.bind(performance),
  };
  let rate = REAL_TIME;
  /** What the monotonic clock would show at `rate.sinceMs`. */
  let monotonic = REAL_TIME;
  const now = (): number => timeAt(system.performanceNow(), monotonic);
  const waiting = new Set<FasterTimer>();

  class FasterTimer {
    #timer: NodeJS.Timeout | undefined;
    #dueMs = 0;
    #isReferenced = true;
    readonly #ms: number;
    readonly #callback: () => void;

    constructor(ms: number, callback: () => void) {
      this.#ms = ms;
      this.#callback = callback;
      this.refresh();
    }

    refresh(): this {
      this.#dueMs = now() + this.#ms;
      waiting.add(this);
      this.arm();
      return this;
    }

    arm(): void {
      system.clearTimeout(this.#timer);
      this.#timer = system.setTimeout(
        () => {
          waiting.delete(this);
          this.#callback();
        },
        Math.max(0, this.#dueMs - now()) / rate.rate,
      );
      if (!this.#isReferenced) this.#timer.unref();
    }

    close(): this {
      system.clearTimeout(this.#timer);
      waiting.delete(this);
      return this;
    }

    ref(): this {
      this.#isReferenced = true;
      this.#timer?.ref();
      return this;
    }

    unref(): this {
      this.#isReferenced = false;
      this.#timer?.unref();
      return this;
    }

    hasRef(): boolean {
      return this.#timer?.hasRef() ?? false;
    }
  }

  Object.assign(globalThis, {
    setTimeout: (callback: Callback, ms = 0, ...args: unknown[]) =>
      new FasterTimer(ms, () => callback(...args)),
    clearTimeout: (timer: unknown) => {
      if (timer instanceof FasterTimer) timer.close();
      else system.clearTimeout(timer as NodeJS.Timeout);
    },
  });
  Date.now = () => Math.floor(timeAt(system.dateNow(), rate));
  performance.now = now;

  return {
    system: { nowMs: system.performanceNow },
    setRate: (next) => {
      rate = next;
      monotonic = { rate: next.rate, sinceMs: system.performanceNow() + next.sinceMs - system.dateNow() };
      for (const timer of waiting) timer.arm();
    },
  };
}
