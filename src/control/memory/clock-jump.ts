import type { State } from '../../decision/snapshot.js';
import type { MetricHold } from '../../prometheus/recovery-hold.js';
import type { Clock } from '../../units/clock.js';
import { addSeconds, earliest } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { Memory } from './memory.js';

/** How far the wall clock has been set since a watch on it began. */
export interface WallClock {
  /** Seconds, positive where it was set ahead; steps of less than 5 s are put together until they come to that. */
  readonly setBySeconds: () => number;
}

/** Less is what a clock that is kept by NTP moves by, and shortens no window by more than that. */
const STEP_SECONDS = 5;

/**
 * Compares the wall clock with the monotonic one. A machine that was stopped shows the same as a clock that was set
 * ahead: then windows last longer by the stop. `onSet` hears each step. Source: reliability.md, F48 and F49.
 */
export function watchWallClock(clock: Clock, onSet: (seconds: number) => void): WallClock {
  const apart = (): number => (clock.now() - clock.monotonicMs()) / 1000;
  const begun = apart();
  let told = 0;
  return {
    setBySeconds: () => {
      const present = apart() - begun;
      const step = present - told;
      if (Math.abs(step) < STEP_SECONDS) return told;
      told = present;
      onSet(step);
      return told;
    },
  };
}

/**
 * The memory by a wall clock that was set: what happened a minute ago still did, so that windows, rate policies,
 * stabilization and holds last as long as they are meant to. Nothing that has happened is put past `now`.
 */
export function shiftMemory(memory: Memory, seconds: number, now: Instant): Memory {
  const past = (at: Instant): Instant => earliest(addSeconds(at, seconds), now);
  const { unresolved, writer, shortfall, knownScales } = memory;
  const holds = [...memory.holds].map(([metric, hold]) => [metric, shiftHold(hold, seconds, past)] as const);
  return {
    ...memory,
    state: shiftState(memory.state, past),
    assumedAt: orNull(memory.assumedAt, past),
    ...(knownScales === undefined
      ? {}
      : { knownScales: { up: orNull(knownScales.up, past), down: orNull(knownScales.down, past) } }),
    holds: new Map(holds),
    unresolved: unresolved === null ? null : { ...unresolved, at: past(unresolved.at) },
    writer: { ...writer, reversals: writer.reversals.map(past), since: orNull(writer.since, past) },
    shortfall: shortfall === null ? null : { ...shortfall, since: past(shortfall.since) },
    isUnsaved: true,
  };
}

type Shift = (at: Instant) => Instant;

/** `holdScaleDownUntil` is made anew by each cycle. */
function shiftState(state: State, past: Shift): State {
  const { recommendations, failingSince } = state;
  return {
    ...state,
    lastScaleUp: orNull(state.lastScaleUp, past),
    lastScaleDown: orNull(state.lastScaleDown, past),
    recommendations: recommendations?.map((one) => ({ ...one, at: past(one.at) })) ?? null,
    scaleEvents: state.scaleEvents.map((event) => ({ ...event, at: past(event.at) })),
    downscaleProposals: state.downscaleProposals.map((one) => ({ ...one, at: past(one.at) })),
    failingSince: new Map([...failingSince].map(([metric, since]) => [metric, past(since)])),
    inactiveSince: orNull(state.inactiveSince, past),
  };
}

function shiftHold(hold: MetricHold, seconds: number, past: Shift): MetricHold {
  return {
    ...hold,
    valuesSince: orNull(hold.valuesSince, past),
    until: addSeconds(hold.until, seconds),
    lastAnswerAt: orNull(hold.lastAnswerAt, past),
  };
}

function orNull(at: Instant | null, past: Shift): Instant | null {
  return at === null ? null : past(at);
}
