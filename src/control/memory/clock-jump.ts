import type { Saturation, State } from '../../decision/snapshot/snapshot.js';
import { movedEvent } from '../../kubernetes/state/scale-events.js';
import { movedForecast } from '../../kubernetes/state/stored-forecast.js';
import type { MetricHold } from '../../prometheus/recovery-hold.js';
import type { Clock } from '../../units/clock.js';
import { addSeconds, earliest, type Instant } from '../../units/time.js';
import type { Memory } from './memory.js';

interface WallClock {
  /**
   * Returns the seconds by which the wall clock was set since the start; positive: forward. Steps below 5 s are added
   * up until the sum is at least 5 s.
   */
  readonly setBySeconds: () => number;
}

/**
 * Smaller steps are ignored until their sum is this large. NTP usually corrects a clock by less, and an ignored step
 * changes a window by less than 5 s.
 */
const STEP_SECONDS = 5;

/**
 * Compares the wall clock with the monotonic clock, and calls `onSet` for each step of the wall clock. If a machine was
 * suspended, its wall clock seems to have been set forward, so windows last longer by the time of the suspension.
 * Source: reliability.md, F48 and F49.
 */
export function watchWallClock(clock: Clock, onSet: (seconds: number) => void): WallClock {
  const difference = (): number => (clock.now() - clock.monotonicMs()) / 1000;
  const start = difference();
  let setBy = 0;
  return {
    setBySeconds: () => {
      const present = difference() - start;
      const step = present - setBy;
      if (Math.abs(step) < STEP_SECONDS) return setBy;
      setBy = present;
      onSet(step);
      return setBy;
    },
  };
}

/**
 * Shifts all times of the memory after the wall clock was set. Windows, rate policies, stabilization and holds keep
 * their durations. A time in the past never moves beyond `now`.
 */
export function shiftMemory(memory: Memory, seconds: number, now: Instant): Memory {
  const past = (at: Instant): Instant => earliest(addSeconds(at, seconds), now);
  const { unresolved, writer, shortfall, knownScales } = memory;
  const holds = memory.holds.map((held) => ({ ...held, hold: shiftHold(held.hold, seconds, past) }));
  return {
    ...memory,
    state: shiftState(memory.state, past),
    assumedAt: orNull(memory.assumedAt, past),
    ...(knownScales === undefined
      ? {}
      : { knownScales: { up: orNull(knownScales.up, past), down: orNull(knownScales.down, past) } }),
    holds,
    unresolved: unresolved === null ? null : { ...unresolved, at: past(unresolved.at) },
    writer: { ...writer, reversals: writer.reversals.map(past), since: orNull(writer.since, past) },
    shortfall: shortfall === null ? null : { ...shortfall, since: past(shortfall.since) },
    isUnsaved: true,
  };
}

type Shift = (at: Instant) => Instant;

/** Shifts all times of a state except `holdScaleDownUntil`, which each cycle computes. */
function shiftState(state: State, past: Shift): State {
  const { recommendations, failingSince, saturation, forecast, documentChangedAt, firstCountAt } = state;
  return {
    ...state,
    lastScaleUp: orNull(state.lastScaleUp, past),
    lastScaleDown: orNull(state.lastScaleDown, past),
    recommendations: recommendations?.map((one) => ({ ...one, at: past(one.at) })) ?? null,
    scaleEvents: state.scaleEvents.map((event) => movedEvent(event, past(event.at))),
    downscaleProposals: state.downscaleProposals.map((one) => ({ ...one, at: past(one.at) })),
    failingSince: new Map([...failingSince].map(([metric, since]) => [metric, past(since)])),
    inactiveSince: orNull(state.inactiveSince, past),
    ...(saturation === undefined ? {} : { saturation: shiftSaturation(saturation, past) }),
    ...(forecast === undefined ? {} : { forecast: movedForecast(forecast, past) }),
    ...(documentChangedAt === undefined ? {} : { documentChangedAt: past(documentChangedAt) }),
    ...(firstCountAt === undefined ? {} : { firstCountAt: past(firstCountAt) }),
  };
}

function shiftSaturation({ since, served, step }: Saturation, past: Shift): Saturation {
  return {
    since: orNull(since, past),
    served,
    step: step === null ? null : { ...step, at: past(step.at) },
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
