import { microTime } from '../../kubernetes/lease.js';
import type { LeaseSpec, SeenLease } from '../../kubernetes/lease.js';
import type { Clock } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';

/** leaseDuration > renewDeadline > 1.2 x retryPeriod. */
export interface ElectionTimes {
  /** How long others wait for a holder of whom they hear nothing. */
  readonly leaseDurationSeconds: number;
  /** How long after its last renewal a leader may still write. */
  readonly renewDeadlineSeconds: number;
  /** Between two renewals; between two attempts of a candidate up to 2.2 times as long. */
  readonly retryPeriodSeconds: number;
}

/** What a candidate last saw in the Lease, and since when. */
export interface Observation {
  readonly rawSpec: string;
  readonly spec: LeaseSpec;
  /** On our own monotonic clock, when this spec was first seen. */
  readonly atMs: number;
}

/** The observation after a read: the old one, with its time, while not a letter of the spec has changed. */
export function observeLease(before: Observation | null, seen: SeenLease, nowMs: number): Observation {
  const { rawSpec, spec } = seen;
  return before?.rawSpec === rawSpec ? before : { rawSpec, spec, atMs: nowMs };
}

/**
 * Whether the Lease may be taken: nobody holds it, we hold it ourselves, or its holder has let the duration of its own
 * record (ours, where it has none) pass since we first saw that record. The times in the record are never looked at:
 * they are of another clock. A Lease that is gone gives its last holder no less time. Source: reliability.md, W16.
 */
export function mayTake(
  seen: Observation | null,
  {
    identity,
    nowMs,
    times,
  }: { readonly identity: string; readonly nowMs: number; readonly times: ElectionTimes },
): boolean {
  if (seen === null || seen.spec.holderIdentity === '' || seen.spec.holderIdentity === identity) return true;
  // 0 is not what any server lets through; taking it at its word would be a race.
  const seconds = seen.spec.leaseDurationSeconds === 0 ? null : seen.spec.leaseDurationSeconds;
  return nowMs - seen.atMs >= (seconds ?? times.leaseDurationSeconds) * 1000;
}

const MAX_TRANSITIONS = 2 ** 31 - 1;

/** The record of a new term. `before`: the last one known, null where there was none: its terms begin with 0. */
export function takenSpec(
  before: LeaseSpec | null,
  {
    identity,
    now,
    times,
  }: { readonly identity: string; readonly now: Instant; readonly times: ElectionTimes },
): LeaseSpec {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: times.leaseDurationSeconds,
    acquireTime: microTime(now),
    renewTime: microTime(now),
    // Also where we held it before: every term has an epoch of its own. The field is an int32.
    leaseTransitions: before === null ? 0 : (before.leaseTransitions % MAX_TRANSITIONS) + 1,
  };
}

/** The record of a term that goes on. */
export function renewedSpec(held: LeaseSpec, now: Instant, times: ElectionTimes): LeaseSpec {
  return { ...held, leaseDurationSeconds: times.leaseDurationSeconds, renewTime: microTime(now) };
}

/** The record of a holder that has gone of its own will: anybody may take it at once. */
export function releasedSpec(held: LeaseSpec, now: Instant): LeaseSpec {
  return { ...held, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) };
}

/** One moment on both clocks. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wall: Instant;
}

/** The present moment. */
export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wall: clock.now() };
}

/**
 * Milliseconds since a moment by the clock on which more have passed: the monotonic one stands still while a virtual
 * machine is paused, the wall clock can be set back. Source: reliability.md, W17.
 */
export function elapsedMs(clock: Clock, { monotonicMs, wall }: Moment): number {
  return Math.max(clock.monotonicMs() - monotonicMs, clock.now() - wall);
}

/** Milliseconds until a candidate tries again: 1 to 2.2 retry periods. */
export function retryDelayMs(clock: Clock, { retryPeriodSeconds }: ElectionTimes): number {
  return retryPeriodSeconds * 1000 * (1 + 1.2 * clock.random());
}

/** `POD_UUID`, the uuid drawn anew at each start: a container that was restarted is another candidate. */
export function newIdentity(podName: string, clock: Clock): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(clock.random() * 16).toString(16)).join('');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`];
  return `${podName}_${[...parts, hex.slice(20)].join('-')}`;
}
