import type { ClockRate } from './simulation-clock.js';

/** Sent by the process of the service, into which `pace-process.ts` is loaded. */
export type PaceReport =
  /** All scalers have ended their cycles of a round, or the next round has begun. */
  | { readonly type: 'round-over'; readonly start: StartTimes }
  | { readonly type: 'figures'; readonly figures: PaceFigures }
  | { readonly type: 'done' };

/** Since the start of the process. */
export interface StartTimes {
  /** Until the end of the first cycle. */
  readonly firstSeconds: number;
  /** Until the end of the last cycle so far. */
  readonly lastSeconds: number;
  readonly cpuSeconds: number;
}

/** CPU time, or allocations that outlive a garbage collection of the young generation. */
export type ProfileKind = 'cpu' | 'heap';

export type PaceOrder =
  | { readonly type: 'set-rate'; readonly rate: ClockRate }
  /** Forget what was noted. `watchesDelay`: whether to note delays of the event loop from now on, which costs CPU time. */
  | { readonly type: 'reset'; readonly watchesDelay: boolean }
  | { readonly type: 'figures' }
  | { readonly type: 'start-profile'; readonly kind: ProfileKind }
  | { readonly type: 'stop-profile'; readonly file: string }
  | { readonly type: 'heap-snapshot'; readonly file: string };

/** What the process of the service has noted of itself since `reset`, in time of the system. */
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
  /** Of timers; null: not watched. */
  readonly loopDelay: { readonly p99Ms: number; readonly maxMs: number } | null;
  readonly garbageSeconds: number;
}

/** Flags for node that load `pace-process.ts`. `profilesStart`: the profile that begins at once; null: none. */
export function paceFlags(scalers: number, profilesStart: ProfileKind | null): readonly string[] {
  const module = new URL('pace-process.js', import.meta.url);
  module.searchParams.set('scalers', String(scalers));
  if (profilesStart !== null) module.searchParams.set('profile', profilesStart);
  return ['--import', module.href];
}
