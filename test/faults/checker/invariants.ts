import { API_RETURN_INVARIANTS } from './api-return.js';
import { CONVERGENCE_INVARIANTS } from './convergence.js';
import { DATA_INVARIANTS } from './data.js';
import type { History } from './history.js';
import { LEADERSHIP_INVARIANTS } from './leadership.js';
import { RECOMMENDATION_INVARIANTS } from './recommendations.js';
import { SERVICE_INVARIANTS } from './service.js';
import { SHARE_INVARIANTS } from './shares.js';
import { SLOW_START_INVARIANTS } from './slow-starts.js';
import { STATE_INVARIANTS } from './state.js';
import type { Invariant, Violation } from './violation.js';
import { WINDOW_INVARIANTS } from './windows.js';
import { WRITE_INVARIANTS } from './writes.js';

/** All invariants, in the order of their numbers. */
const INVARIANTS: readonly Invariant[] = [
  ...WRITE_INVARIANTS,
  ...DATA_INVARIANTS,
  ...WINDOW_INVARIANTS,
  ...CONVERGENCE_INVARIANTS,
  ...STATE_INVARIANTS,
  ...LEADERSHIP_INVARIANTS,
  ...SHARE_INVARIANTS,
  ...SERVICE_INVARIANTS,
  ...API_RETURN_INVARIANTS,
  ...SLOW_START_INVARIANTS,
  ...RECOMMENDATION_INVARIANTS,
].sort((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));

/** Returns all violations of a history, in the order of time. */
export function checkHistory(history: History): readonly Violation[] {
  return INVARIANTS.flatMap(({ id, check }) =>
    check(history).map(({ atMs, message, scaler, process }) => ({
      invariant: id,
      atMs,
      message,
      scaler: scaler ?? null,
      process: process ?? null,
    })),
  ).sort((a, b) => a.atMs - b.atMs);
}
