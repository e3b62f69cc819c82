import { isFailing } from './failing.js';
import type { CONDITION_REASONS } from './result/condition.js';

/** How urgent a state is, in order from the most urgent. */
export const SEVERITIES = ['cannot-follow', 'held', 'waiting', 'idle', 'ok'] as const;

export type Severity = (typeof SEVERITIES)[number];

/** The states with their severities. The API, the CLI, the dashboard and the status of objects show these names. */
export const STATES = {
  Invalid: 'cannot-follow',
  Conflict: 'cannot-follow',
  NoAutoscaler: 'cannot-follow',
  NoTarget: 'cannot-follow',
  WriteFailed: 'cannot-follow',
  PodsNotReady: 'cannot-follow',
  NoData: 'cannot-follow',
  AtMaximum: 'cannot-follow',
  Paused: 'held',
  DryRun: 'held',
  Fixed: 'held',
  NoSeries: 'held',
  Rejected: 'held',
  Pending: 'waiting',
  Starting: 'waiting',
  PartialData: 'waiting',
  Stabilizing: 'waiting',
  RateLimited: 'waiting',
  Backoff: 'waiting',
  Asleep: 'idle',
  AtMinimum: 'idle',
  OK: 'ok',
} as const satisfies Readonly<Record<string, Severity>>;

export type StateName = keyof typeof STATES;

export const STATE_NAMES = Object.keys(STATES).filter((name): name is StateName => name in STATES);

type Reported = Readonly<Record<'type' | 'status' | 'reason', string>>;

type Holds = (typeof CONDITION_REASONS)['Held'];

/** The reasons with which `Held` is True. */
type HoldReason = { [R in keyof Holds]: Holds[R] extends 'True' ? R : never }[keyof Holds];

/** The state that each hold causes, unless another state takes precedence. */
const STATES_OF_HOLDS: Readonly<Record<string, StateName>> = {
  DryRun: 'DryRun',
  NoAutoscaler: 'NoAutoscaler',
  Paused: 'Paused',
  ConflictingScaler: 'Conflict',
  ScaleOverridden: 'Conflict',
  StateDegraded: 'WriteFailed',
} satisfies Readonly<Record<HoldReason, StateName>>;

/** Returns the state that the condition `Held` causes; undefined: it is not True. */
export function causedByHold({ type, status, reason }: Reported): StateName | undefined {
  return type === 'Held' && status === 'True' ? STATES_OF_HOLDS[reason] : undefined;
}

/**
 * Returns the severity of the state that a condition causes; null: it causes none, such as duplicate series, with which
 * the scaler scales. Only the state of the scaler says how urgent a bound is. `state` null: the condition is a past
 * one.
 */
export function severityOf(condition: Reported, state: StateName | null): Severity | null {
  const { type, status } = condition;
  if (type !== 'MetricsUnique' && isFailing(condition)) return 'cannot-follow';
  const isAtMaximum = type === 'ScalingLimited' && status === 'True' && state === 'AtMaximum';
  const caused = isAtMaximum ? state : causedByHold(condition);
  return caused === undefined ? null : STATES[caused];
}
