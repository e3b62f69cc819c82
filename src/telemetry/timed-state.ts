import { rejectionOf, type RejectedVersion, type Rejecting } from '../decision/rejection.js';
import { stateOf, type ScalerState } from '../decision/state.js';
import type { Instant } from '../units/time.js';
import type { LedgerEntry } from './ledger.js';

export interface TimedState extends ScalerState {
  /** The time of the first cycle with this state, or of the rejection if that causes the state; null: unknown. */
  readonly since: Instant | null;
}

export interface Rejection extends RejectedVersion {
  /** When this process first rejected a version that followed a valid one; null: unknown. */
  readonly since: Instant | null;
}

/**
 * Returns the state of a scaler with its start. `rejection` is that of the newest version of the document; null: it is
 * valid.
 */
export function timedState(status: LedgerEntry, rejection: Rejection | null): TimedState {
  const { record, conditions, state, stateSince } = status;
  if (rejection === null) return { ...state, since: stateSince };
  const now = stateOf({ ...record, conditions }, rejection);
  return { ...now, since: now.name === state.name ? stateSince : rejection.since };
}

/**
 * Returns since when the newest version of each scaler has been rejected. `before` is the result after the last reload.
 */
export function rejectedSince(
  before: ReadonlyMap<string, Instant>,
  problems: readonly Rejecting[],
  now: Instant,
): ReadonlyMap<string, Instant> {
  return new Map([...rejectionsOf(problems, before).keys()].map((key) => [key, before.get(key) ?? now]));
}

/** Returns the rejections by `NAMESPACE/NAME`. `since` is the result of `rejectedSince`. */
export function rejectionsOf(
  problems: readonly Rejecting[],
  since: ReadonlyMap<string, Instant>,
): ReadonlyMap<string, Rejection> {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const keys = new Set(errors.flatMap(({ scaler }) => scaler ?? []));
  return new Map(
    [...keys].flatMap((key) => {
      const rejection = rejectionOf(errors.filter(({ scaler }) => scaler === key));
      return rejection === null ? [] : [[key, { ...rejection, since: since.get(key) ?? null }] as const];
    }),
  );
}
