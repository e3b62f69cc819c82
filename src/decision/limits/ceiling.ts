import { judgeValues } from '../snapshot/judge-sample.js';
import type { Snapshot } from '../snapshot/snapshot.js';
import { describeFailure } from '../../units/failure.js';
import { MAX_REPLICAS } from '../../units/bounds.js';

export interface Ceiling {
  /** An integer from 0 to `MAX_REPLICAS`. */
  readonly replicas: number;
  /** Why the query has no usable value, so that `replicas` is an earlier value; null: the value is usable. */
  readonly error: string | null;
}

/**
 * Returns the ceiling of `maxReplicasFrom`: the value of its query, rounded down. If the query has no full value, the
 * last full value applies, because a partial value may be too low. Null: there is no full value, and only `maxReplicas`
 * limits the count.
 */
export function ceilingOf({
  scaler,
  maxReplicasFrom: sample,
  state,
}: Pick<Snapshot, 'scaler' | 'maxReplicasFrom' | 'state'>): Ceiling | null {
  if (scaler.spec.maxReplicasFrom === null) return null;
  const error = whyNoCeiling(sample);
  if (error === null && sample?.form === 'values') {
    const sum = sample.values.reduce((total, value) => total + value, 0);
    return { replicas: Math.min(MAX_REPLICAS, Math.floor(sum)), error: null };
  }
  const { maxReplicasFrom: last } = state;
  return last === undefined ? null : { replicas: last, error };
}

/** Returns why the answer of the query is not a ceiling; null: it is one. */
export function whyNoCeiling(sample: Snapshot['maxReplicasFrom']): string | null {
  if (sample === undefined) return 'the query was not sent';
  if (sample.form === 'error') return describeFailure(sample.failure);
  if (sample.values.length === 0) return 'no series';
  const { error, partial } = judgeValues(sample.values);
  return error?.failure.message ?? sample.partial ?? partial;
}
