import type { Clock } from '../../../src/units/clock.js';
import { type Instant, instantFromMs } from '../../../src/units/time.js';
import type { Random } from './random.js';
import type { Timeline } from './timeline.js';

/** 2026-01-05T00:00:00Z, a Monday: the start of every simulation. */
export const SIMULATION_START_MS = Date.UTC(2026, 0, 5);

/**
 * One run of the service: its time, and whether it lives. All its input comes through `deliver`, so it can be stopped
 * for a while (SIGSTOP) or permanently (SIGKILL) between any two of its steps.
 */
export class SimulatedProcess {
  readonly name: string;
  readonly startedMs: number;
  readonly clock: Clock;
  /** Aborted for a graceful stop. */
  readonly stop = new AbortController();
  #endedMs: number | null = null;
  /** The offset of its machine's wall clock. */
  #wallOffsetMs: () => number;
  #isPaused = false;
  /** Time for which the machine was suspended, and since when it is. */
  #suspendedMs = 0;
  #suspendedSinceMs: number | null = null;
  readonly #timeline: Timeline;
  #inbox: (() => void)[] = [];
  #timers = 0;

  constructor(
    name: string,
    timeline: Timeline,
    { random, wallOffsetMs }: { readonly random: Random; readonly wallOffsetMs: () => number },
  ) {
    this.name = name;
    this.startedMs = timeline.nowMs;
    this.#wallOffsetMs = wallOffsetMs;
    this.#timeline = timeline;
    const monotonicMs = (): number => timeline.nowMs - this.startedMs - this.#suspendedMs;
    this.clock = {
      now: (): Instant =>
        instantFromMs(SIMULATION_START_MS + Math.floor(timeline.nowMs + this.#wallOffsetMs())),
      monotonicMs,
      random: random.next,
      after: (ms, callback) => {
        this.#timers += 1;
        let isOver = false;
        const once = (run: () => void): void => {
          if (isOver) return;
          isOver = true;
          this.#timers -= 1;
          run();
        };
        const dueMs = monotonicMs() + Math.max(1, ms);
        let cancel = (): void => undefined;
        const arm = (inMs: number): void => {
          cancel = timeline.after(inMs, () =>
            this.deliver(() => {
              const leftMs = dueMs - monotonicMs();
              if (leftMs >= 1) arm(leftMs);
              else once(callback);
            }),
          );
        };
        arm(Math.max(1, ms));
        return () => once(cancel);
      },
    };
  }

  get isAlive(): boolean {
    return this.#endedMs === null;
  }

  /** When it was killed; null while it lives. */
  get endedMs(): number | null {
    return this.#endedMs;
  }

  /** Number of pending timers. */
  get timers(): number {
    return this.#timers;
  }

  /** Delivers input to the process: at once, when it continues, or never. */
  deliver(run: () => void): void {
    if (!this.isAlive) return;
    if (this.#isPaused) this.#inbox.push(run);
    else run();
  }

  kill(nowMs: number): void {
    this.#endedMs ??= nowMs;
    this.#inbox = [];
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** Suspends its machine: its monotonic clock and its timers do not advance. */
  suspend(): void {
    this.#suspendedSinceMs ??= this.#timeline.nowMs;
    this.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#suspendedSinceMs !== null) this.#suspendedMs += this.#timeline.nowMs - this.#suspendedSinceMs;
    this.#suspendedSinceMs = null;
    const waiting = this.#inbox;
    this.#inbox = [];
    for (const run of waiting) this.deliver(run);
  }
}
