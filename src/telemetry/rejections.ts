import { rejectionOf, type RejectedVersion, type Rejecting } from '../decision/rejection.js';
import { stateOf } from '../decision/state.js';
import { groupBy } from '../units/maps.js';
import type { InvalidScaler } from './scaler-series.js';

/** Returns the rejections by `NAMESPACE/NAME`. */
export function rejectionsOf(problems: readonly Rejecting[]): ReadonlyMap<string, RejectedVersion> {
  return new Map(
    [...errorsByScaler(problems)].flatMap(([key, errors]) => {
      const rejection = rejectionOf(errors);
      return rejection === null ? [] : [[key, rejection] as const];
    }),
  );
}

/** Returns the errors of documents with a name, by `NAMESPACE/NAME`. */
export function errorsByScaler<P extends Rejecting>(
  problems: readonly P[],
): ReadonlyMap<string, readonly P[]> {
  const errors = problems.filter(({ severity, scaler }) => severity === 'error' && scaler != null);
  return groupBy(errors, ({ scaler }) => scaler ?? '');
}

/**
 * Returns the rejected scalers that have no earlier version in effect. `inEffect`: `NAMESPACE/NAME` of the scalers in
 * effect.
 */
export function invalidScalers(
  rejections: ReadonlyMap<string, RejectedVersion>,
  inEffect: ReadonlySet<string>,
): readonly InvalidScaler[] {
  return [...rejections].flatMap(([key, rejection]) => {
    const [namespace = '', name = ''] = key.split('/');
    return inEffect.has(key) ? [] : [{ namespace, name, state: stateOf(null, rejection) }];
  });
}
