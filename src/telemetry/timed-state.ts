import { stateOf, type ScalerState } from '../decision/state.js';
import type { Problem } from '../scaler/problems/problem.js';
import type { Instant } from '../units/time.js';
import type { ScalerStatus } from './ledger.js';

export interface TimedState extends ScalerState {
  /** The first cycle of this process in this state; null: unknown. */
  readonly since: Instant | null;
}

/** The newest version of a document is rejected. */
export interface Rejection {
  /** In one line. */
  readonly cause: string;
  /** When this process first rejected a version after one without an error; null: unknown. */
  readonly since: Instant | null;
}

/** Returns the state of a scaler. `rejection`: that of its newest version. */
export function timedState(status: ScalerStatus, rejection: Rejection | null): TimedState {
  const { record, conditions, state, stateSince } = status;
  if (rejection === null) return { ...state, since: stateSince };
  const now = stateOf({ ...record, conditions }, rejection.cause);
  return { ...now, since: now.name === state.name ? stateSince : rejection.since };
}

/** The fields of a problem that a rejection needs; the API has them, too. */
type Rejecting = Pick<Problem, 'severity' | 'path' | 'message'> & {
  readonly scaler?: string | null | undefined;
};

/** Returns since when each scaler has had an error in its newest version, from that before the last reload. */
export function rejectedSince(
  before: ReadonlyMap<string, Instant>,
  problems: readonly Rejecting[],
  now: Instant,
): ReadonlyMap<string, Instant> {
  return new Map([...rejectionsOf(problems, before).keys()].map((key) => [key, before.get(key) ?? now]));
}

/** Returns why a version of a document is rejected, in one line; null: it has no error. */
export function rejectionOf(problems: readonly Rejecting[]): string | null {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return null;
  return `${problemLine(first)}${errors.length === 1 ? '' : `, and ${errors.length - 1} more`}`;
}

/** Returns the rejections by `NAMESPACE/NAME`. `since`: that of `rejectedSince`. */
export function rejectionsOf(
  problems: readonly Rejecting[],
  since: ReadonlyMap<string, Instant>,
): ReadonlyMap<string, Rejection> {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const keys = new Set(errors.flatMap(({ scaler }) => scaler ?? []));
  return new Map(
    [...keys].map((key) => {
      const cause = rejectionOf(errors.filter(({ scaler }) => scaler === key)) ?? '';
      return [key, { cause, since: since.get(key) ?? null }];
    }),
  );
}

/** Most messages already begin with the path. */
export function problemLine({ path, message }: Pick<Problem, 'path' | 'message'>): string {
  return path === '' || message.startsWith(path) ? message : `${path}: ${message}`;
}
