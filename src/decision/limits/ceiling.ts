import { judgeValues } from '../snapshot/judge-sample.js';
import type { Snapshot } from '../snapshot/snapshot.js';
import { describeFailure } from '../../units/failure.js';
import { MAX_REPLICAS } from '../../units/replicas.js';

export interface Ceiling {
  /** 0 to `MAX_REPLICAS`. */
  readonly replicas: number;
  /** Why `replicas` is an earlier value; null: the query has a value now. */
  readonly error: string | null;
}

/**
 * Returns the ceiling of `maxReplicasFrom`, rounded down: the value of its query, otherwise the last full value; null
 * if there is neither, so that only `maxReplicas` applies. A partial value may be too low and is ignored.
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

/** Returns why the query's answer cannot be used as a ceiling, or null. */
export function whyNoCeiling(sample: Snapshot['maxReplicasFrom']): string | null {
  if (sample === undefined) return 'the query was not sent';
  if (sample.form === 'error') return describeFailure(sample.failure);
  if (sample.values.length === 0) return 'no series';
  const { error, partial } = judgeValues(sample.values);
  return error?.failure.message ?? sample.partial ?? partial;
}
