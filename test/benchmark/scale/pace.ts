import type { ClockRate } from './world-clock.js';

/** Sent by the process of the service, into which `pace-process.ts` is loaded. */
export type PaceReport =
  /** As many cycles have ended as there are scalers. */
  | {
      readonly type: 'all-decided';
      readonly firstSeconds: number;
      readonly lastSeconds: number;
      readonly cpuSeconds: number;
    }
  /** Nothing happens before a timer `forMs` away. `round`: the last one that has begun. */
  | { readonly type: 'idle'; readonly forMs: number; readonly round: number }
  /** Whether nothing has happened since `idle` was reported. `skippedMs`: the clock is ahead of the system's by that much. */
  | { readonly type: 'confirmed'; readonly isStillIdle: boolean; readonly skippedMs: number }
  | { readonly type: 'figures'; readonly figures: PaceFigures }
  | { readonly type: 'done' };

export type PaceOrder =
  /** Say whether the wait is still one, and skip it if so ordered. */
  | { readonly type: 'confirm'; readonly isSkipping: boolean }
  /** Report the wait again if it is still one. */
  | { readonly type: 'look-again' }
  /** Forget what was noted. */
  | { readonly type: 'reset' }
  | { readonly type: 'figures' }
  | { readonly type: 'start-profile' }
  | { readonly type: 'stop-profile'; readonly file: string }
  | { readonly type: 'heap-snapshot'; readonly file: string };

/** What the process of the service has noted of itself since `reset`. All times but that of the CPU are of its clock. */
export interface PaceFigures {
  /** Of the whole process, since its start. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly externalBytes: number;
  /** Of each round: from its start to the end of its last cycle. */
  readonly roundSeconds: readonly number[];
  /** Of each round: from the instant it was due to its start. */
  readonly latenessSeconds: readonly number[];
  readonly cycles: number;
  /** Of timers, in milliseconds: `p99` over the whole time, skipped waits included. */
  readonly loopDelay: { readonly p99Ms: number; readonly maxMs: number };
  readonly garbageSeconds: number;
  readonly skippedSeconds: number;
}

/** Flags for node that load `pace-process.ts`. */
export function paceFlags(scalers: number, { originMs, rate }: ClockRate): readonly string[] {
  const module = new URL('pace-process.js', import.meta.url);
  module.searchParams.set('scalers', String(scalers));
  module.searchParams.set('originMs', String(originMs));
  module.searchParams.set('rate', String(rate));
  return ['--import', module.href];
}
