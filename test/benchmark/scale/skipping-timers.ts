import type { ClockRate } from './world-clock.js';

/** Timers and clocks of this process, which can skip a wait. */
export interface SkippingTimers {
  /** Milliseconds until the next timer; infinite: none waits. */
  readonly nextMs: () => number;
  /** Grows whenever a timer is set, canceled or called. */
  readonly changes: () => number;
  readonly skip: (ms: number) => void;
  readonly skippedMs: () => number;
}

type Callback = (...args: unknown[]) => void;

/**
 * Replaces `setTimeout`, `clearTimeout`, `Date.now` and `performance.now`, which is all that the clock of the service
 * uses. Must run before any other module is loaded.
 */
export function replaceTimers({ originMs, rate }: ClockRate): SkippingTimers {
  const system = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    dateNow: Date.now,
    performanceNow: performance.now.bind(performance),
  };
  let skippedMs = 0;
  let changes = 0;
  const now = (): number => system.performanceNow() * rate + skippedMs;
  const waiting = new Set<SkippingTimer>();

  class SkippingTimer {
    dueMs = 0;
    #timer: NodeJS.Timeout | undefined;
    #isReferenced = true;
    readonly #ms: number;
    readonly #callback: () => void;

    constructor(ms: number, callback: () => void) {
      this.#ms = ms;
      this.#callback = callback;
      this.refresh();
    }

    refresh(): this {
      this.dueMs = now() + this.#ms;
      waiting.add(this);
      changes += 1;
      this.arm();
      return this;
    }

    arm(): void {
      system.clearTimeout(this.#timer);
      this.#timer = system.setTimeout(
        () => {
          waiting.delete(this);
          changes += 1;
          this.#callback();
        },
        Math.max(0, this.dueMs - now()) / rate,
      );
      if (!this.#isReferenced) this.#timer.unref();
    }

    close(): this {
      system.clearTimeout(this.#timer);
      waiting.delete(this);
      changes += 1;
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
      new SkippingTimer(ms, () => callback(...args)),
    clearTimeout: (timer: unknown) => {
      if (timer instanceof SkippingTimer) timer.close();
      else system.clearTimeout(timer as NodeJS.Timeout);
    },
  });
  Date.now = () => Math.floor(originMs + (system.dateNow() - originMs) * rate + skippedMs);
  performance.now = now;

  return {
    nextMs: () => {
      let dueMs = Infinity;
      for (const timer of waiting) dueMs = Math.min(dueMs, timer.dueMs);
      return dueMs - now();
    },
    changes: () => changes,
    skip: (ms) => {
      skippedMs += ms;
      for (const timer of waiting) timer.arm();
    },
    skippedMs: () => skippedMs,
  };
}
