import type { MetricSpec } from '../../scaler/spec.js';
import type { ErrorSample, SampleErrorKind } from '../snapshot/snapshot.js';

export interface ValuesVerdict {
  /** Null if at least one value is usable, or if there are no values. */
  readonly error: ErrorSample | null;
  /** Why some values are not usable. */
  readonly partial: string | null;
}

/**
 * Checks the values of all series of a metric. A single infinite or negative value makes the sample `invalid`. If all
 * values are NaN, it is `nan`. If only some are NaN, these are dropped and the sample is partial.
 */
export function judgeValues(values: readonly number[]): ValuesVerdict {
  let nanCount = 0;
  for (const value of values) {
    if (Number.isNaN(value)) nanCount += 1;
    else if (value < 0 || value === Infinity)
      return { error: errorSample('invalid', faultOf(value)), partial: null };
  }
  if (nanCount === 0) return { error: null, partial: null };
  if (nanCount < values.length)
    return { error: null, partial: `${nanCount} of ${values.length} series are NaN` };
  const message = nanCount === 1 ? 'the value is NaN' : `all ${nanCount} series are NaN`;
  return { error: errorSample('nan', message), partial: null };
}

function faultOf(value: number): string {
  return `a series has the value ${value}, which is ${value < 0 ? 'negative' : 'not finite'}`;
}

export function seriesCountError({ type }: MetricSpec, count: number): string | null {
  return type === 'Object' && count !== 1 ? `${count} series, an Object metric needs exactly one` : null;
}

/** Whether the document reads an error of this kind as 0 (`onMissing: zero`, `onNaN: zero`). */
export function isReadAsZero(metric: MetricSpec, kind: SampleErrorKind): boolean {
  if (metric.type !== 'Object' && metric.type !== 'External') return false;
  // The rate alone would be read as 0, and the backlog with it.
  if (metric.backlog !== undefined) return false;
  return (kind === 'missing' && metric.onMissing === 'zero') || (kind === 'nan' && metric.onNaN === 'zero');
}

export function errorSample(kind: SampleErrorKind, error: string): ErrorSample {
  return { form: 'error', kind, error };
}
