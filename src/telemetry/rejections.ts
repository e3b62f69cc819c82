import { rejectionOf, type RejectedVersion, type Rejecting } from '../decision/rejection.js';
import { stateOf } from '../decision/state.js';
import type { InvalidScaler } from './scaler-series.js';

/** Returns the rejections by `NAMESPACE/NAME`. */
export function rejectionsOf(problems: readonly Rejecting[]): ReadonlyMap<string, RejectedVersion> {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const keys = new Set(errors.flatMap(({ scaler }) => scaler ?? []));
  return new Map(
    [...keys].flatMap((key) => {
      const rejection = rejectionOf(errors.filter(({ scaler }) => scaler === key));
      return rejection === null ? [] : [[key, rejection] as const];
    }),
  );
}

/** Returns the scalers with a rejection that are not `inEffect` (`NAMESPACE/NAME`) with an earlier version. */
export function invalidScalers(
  rejections: ReadonlyMap<string, RejectedVersion>,
  inEffect: ReadonlySet<string>,
): readonly InvalidScaler[] {
  return [...rejections].flatMap(([key, rejection]) => {
    const [namespace = '', name = ''] = key.split('/');
    return inEffect.has(key) ? [] : [{ namespace, name, state: stateOf(null, rejection) }];
  });
}
