import { stateOf, type ScalerState } from '../decision/state.js';
import type { Problem } from '../scaler/problems/problem.js';
import type { Instant } from '../units/time.js';
import type { ScalerStatus } from './ledger.js';

export interface TimedState extends ScalerState {
  /** The first cycle of this process in this state; null: unknown. */
  readonly since: Instant | null;
}

/** Returns the state of a scaler. `rejection`: that of `rejectionOf` for its newest version. */
export function timedState(status: ScalerStatus, rejection: string | null): TimedState {
  const { record, conditions, state, stateSince } = status;
  const now = rejection === null ? state : stateOf({ ...record, conditions }, rejection);
  return { ...now, since: now.name === state.name ? stateSince : null };
}

/** Returns why a version of a document is rejected, in one line; null: it has no error. */
export function rejectionOf(problems: readonly Problem[]): string | null {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return null;
  return `${problemLine(first)}${errors.length === 1 ? '' : `, and ${errors.length - 1} more`}`;
}

/** `NAMESPACE/NAME` -> `rejectionOf` its newest version. */
export function rejectionsOf(problems: readonly Problem[]): ReadonlyMap<string, string> {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const keys = new Set(errors.flatMap(({ scaler }) => scaler ?? []));
  return new Map(
    [...keys].map((key) => [key, rejectionOf(errors.filter(({ scaler }) => scaler === key)) ?? '']),
  );
}

/** Most messages already begin with the path. */
export function problemLine({ path, message }: Problem): string {
  return path === '' || message.startsWith(path) ? message : `${path}: ${message}`;
}
