import type { ExternalMetric, MetricSpec, ObjectMetric } from '../../scaler/spec.js';
import { failed, type FailureReason } from '../../units/failure.js';
import type { ContainersSample, ErrorSample, PodsSample, Sample, ValuesSample } from './snapshot.js';

export type ValueSample = ContainersSample | PodsSample | ValuesSample;

const FORM = {
  Resource: 'containers',
  ContainerResource: 'containers',
  Pods: 'pods',
  Object: 'values',
  External: 'values',
} as const;

/**
 * Returns the sample as the decision uses it. Numbers that cannot be a measurement (NaN, infinite, negative), or the
 * wrong number of series, become an error. If the document reads such an error as zero (`onMissing`, `onNaN`), the
 * value is 0. The code that reads answers has already judged the numbers of an answer (`judgeValues`), but nothing has
 * judged a snapshot from a file.
 */
export function judgeSample(metric: MetricSpec, sample: Sample): Sample {
  const judged = sample.form === 'error' ? sample : (errorOf(metric, sample) ?? sample);
  return judged.form === 'error' && isReadAsZero(metric, judged.failure.reason) ? ZERO : judged;
}

const ZERO: ValuesSample = {
  form: 'values',
  // The time does not matter: a sample without series has no time, and the age of a total is never used.
  at: 0 as ValuesSample['at'],
  partial: null,
  values: [0],
};

function errorOf(metric: MetricSpec, sample: ValueSample): ErrorSample | null {
  if (sample.form !== FORM[metric.type]) {
    return errorSample('invalid', `a sample of ${sample.form} for a metric of type ${metric.type}`);
  }
  const { values } = sample;
  if (sample.form === 'values' && values.length === 0)
    return errorSample('missing', 'the query returned no series');
  const error = errorOfNumbers(values);
  if (error !== null) return error;
  const countError = seriesCountError(metric, values.length);
  if (countError !== null) return errorSample('invalid', countError);
  return sample.form === 'values' ? errorOfParts(metric, sample) : null;
}

/**
 * Returns an error if the backlog or the capacity is missing or unusable. A metric with a backlog has no value if its
 * backlog is missing. If the capacity is missing, only a partial sample may use the document's target.
 */
function errorOfParts(metric: MetricSpec, sample: ValuesSample): ErrorSample | null {
  if (metric.type !== 'Object' && metric.type !== 'External') return null;
  const { backlog, partial } = sample;
  if (metric.backlog !== undefined) {
    if (backlog === undefined) return errorSample('missing', 'the backlog has no value');
    const { error } = judgeValues([backlog]);
    if (error !== null) return errorSample(error.failure.reason, `backlog: ${error.failure.message}`);
  }
  if (metric.capacityQuery === undefined && metric.autoCapacity?.mode !== 'Use') return null;
  const capacity = capacityOf(metric, sample);
  if (capacity === undefined)
    return partial === null ? errorSample('missing', 'the capacity has no value') : null;
  return capacity > 0 && Number.isFinite(capacity)
    ? null
    : errorSample('invalid', `the capacity is ${capacity}, must be above 0`);
}

/**
 * Returns the measured capacity of a pod that becomes the target; undefined: there is none, or the document only
 * observes it.
 */
export function capacityOf(
  { capacityQuery, autoCapacity }: ObjectMetric | ExternalMetric,
  { capacity, measuredCapacity }: ValuesSample,
): number | undefined {
  if (capacityQuery !== undefined) return capacity;
  return autoCapacity?.mode === 'Use' ? measuredCapacity?.value : undefined;
}

/**
 * Returns an error if a sample contains an unusable number. One NaN makes the whole sample invalid: the code that reads
 * answers has already dropped NaN, and arithmetic must never see it.
 */
function errorOfNumbers(values: readonly number[]): ErrorSample | null {
  const { error, partial } = judgeValues(values);
  return error ?? (partial === null ? null : errorSample('invalid', partial));
}

/**
 * Returns the sample in a form that JSON can express. JSON turns NaN and infinite numbers into null. A sample with such
 * a number is therefore replaced by the error that the decision uses for it.
 */
export function writableSample(sample: Sample): Sample {
  if (sample.form === 'error') return sample;
  const { values } = sample;
  return values.every(Number.isFinite) ? sample : (errorOfNumbers(values) ?? sample);
}

export interface ValuesVerdict {
  /** Why no value is usable; null: at least one value is usable, or there are no values. */
  readonly error: ErrorSample | null;
  /** Why only some values are usable; null: all values are usable, or `error` is set. */
  readonly partial: string | null;
}

/**
 * Checks the values of all series of a metric. One infinite or negative value makes the sample `invalid`. If all values
 * are NaN, the sample is `nan`. If only some are NaN, the sample is partial.
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
  return type === 'Object' && count !== 1
    ? `the query returned ${count} series, but an Object metric needs exactly one`
    : null;
}

/** Returns whether the document reads a failure as 0 (`onMissing: zero`, `onNaN: zero`). */
export function isReadAsZero(metric: MetricSpec, reason: FailureReason): boolean {
  if (metric.type !== 'Object' && metric.type !== 'External') return false;
  // `onMissing: zero` is meant for the rate of new work; the backlog must not be read as 0.
  if (metric.backlog !== undefined) return false;
  return (
    (reason === 'missing' && metric.onMissing === 'zero') || (reason === 'nan' && metric.onNaN === 'zero')
  );
}

export function errorSample(reason: FailureReason, message: string): ErrorSample {
  return { form: 'error', failure: failed(reason, message) };
}
