import fc from 'fast-check';
import type { ManualClock } from '../../support/manual-clock.js';
import type { Fate, ProcessClock } from './candidates.js';

/** How long the properties let the fixture run with faults. */
export const SIMULATED_SECONDS = 100;

/** A fault of one of three processes, and its time. */
export interface Mishap {
  readonly atSeconds: number;
  readonly who: number;
  readonly what: 'stop' | 'pause' | 'jump' | 'terminate';
  readonly seconds: number;
}

export const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ thereMs: fc.nat(300), backMs: fc.nat(300) }) },
  { weight: 2, arbitrary: fc.record({ thereMs: fc.nat(8000), backMs: fc.nat(8000) }) },
  { weight: 1, arbitrary: fc.record({ thereMs: fc.nat(30_000) }) },
  { weight: 1, arbitrary: fc.record({ thereMs: fc.nat(3000), lost: fc.constantFrom('answer', 'request') }) },
  {
    weight: 1,
    arbitrary: fc.record({ refused: fc.constantFrom('server_error', 'conflict', 'unauthorized') }),
  },
);

const mishap: fc.Arbitrary<Mishap> = fc.record({
  atSeconds: fc.nat(SIMULATED_SECONDS),
  who: fc.nat(2),
  what: fc.constantFrom('stop', 'pause', 'jump', 'terminate'),
  seconds: fc.double({ min: 0.1, max: 40, noNaN: true }),
});

/** Longer than the validity of a Lease. */
const HIDING_SECONDS = 20;

/** Faults of a run, without the pauses that no process can notice. */
export function mishapsOf(maxLength: number): fc.Arbitrary<readonly Mishap[]> {
  return fc.array(mishap, { maxLength }).map((all) => all.filter((one) => !hidesPause(one, all)));
}

/**
 * The monotonic clock stands still while a virtual machine is paused. If the wall clock is set back at about the same
 * time, neither clock shows the pause.
 */
function hidesPause(jump: Mishap, all: readonly Mishap[]): boolean {
  return (
    jump.what === 'jump' &&
    jump.seconds < HIDING_SECONDS &&
    all.some(
      ({ what, who, atSeconds, seconds }) =>
        what === 'pause' &&
        who === jump.who &&
        jump.atSeconds >= atSeconds - HIDING_SECONDS &&
        jump.atSeconds <= atSeconds + seconds + HIDING_SECONDS,
    )
  );
}

/** The seconds by which the wall clocks of the three processes differ. */
export const skews = fc.tuple(...[0, 1, 2].map(() => fc.double({ min: -1e6, max: 1e6, noNaN: true })));

/** Returns a function that returns the values one by one, again and again. */
export function cycle<T>(values: readonly T[]): () => T {
  let index = -1;
  return () => {
    index += 1;
    return values[index % values.length] as T;
  };
}

interface Process {
  readonly clock: ProcessClock;
  readonly stop: AbortController;
}

/** Lets a fault happen to its process, at its time. */
export function happen(
  fixture: { readonly clock: ManualClock; readonly all: readonly Process[] },
  { atSeconds, who, what, seconds }: Mishap,
): void {
  fixture.clock.after(atSeconds * 1000, () => {
    const process = fixture.all[who];
    if (process === undefined) return;
    if (what === 'jump') process.clock.skewSeconds += seconds - 20;
    else if (what === 'terminate') process.stop.abort();
    else {
      process.clock.stop();
      fixture.clock.after(seconds * 1000, () => process.clock.goOn(what === 'pause'));
    }
  });
}
