import type { MetricSpec } from '../../scaler/spec.js';
import type { ContainersSample, ErrorSample, PodsSample, Sample, ValuesSample } from '../snapshot.js';

export type ValueSample = ContainersSample | PodsSample | ValuesSample;

/** The form of sample that each type of metric is calculated from. */
const FORM = {
  Resource: 'containers',
  ContainerResource: 'containers',
  Pods: 'pods',
  Object: 'values',
  External: 'values',
} as const;

/**
 * The sample as the decision takes it: numbers that can't be a measurement (Inf, negative, the wrong number of series)
 * make it an error, and an error that the document reads as zero (`onMissing`, `onNaN`) becomes the value 0.
 */
export function judgeSample(metric: MetricSpec, sample: Sample): Sample {
  const judged = sample.form === 'error' ? sample : (faultOf(metric, sample) ?? sample);
  if (judged.form !== 'error') return judged;
  return isReadAsZero(metric, judged) ? ZERO : judged;
}

const ZERO: ValuesSample = {
  form: 'values',
  // A sum of nothing was taken at no time in particular; nobody asks a total for its age.
  at: 0 as ValuesSample['at'],
  partial: null,
  values: [0],
};

function isReadAsZero(metric: MetricSpec, { kind }: ErrorSample): boolean {
  if (metric.type !== 'Object' && metric.type !== 'External') return false;
  return (kind === 'missing' && metric.onMissing === 'zero') || (kind === 'nan' && metric.onNaN === 'zero');
}

function faultOf(metric: MetricSpec, sample: ValueSample): ErrorSample | null {
  if (sample.form !== FORM[metric.type]) {
    return errorSample('invalid', `a sample of ${sample.form} for a metric of type ${metric.type}`);
  }
  const values = numbersOf(sample);
  if (sample.form === 'values' && values.length === 0)
    return errorSample('missing', 'the query returned no series');
  const fault = faultOfNumbers(values);
  if (fault !== null) return fault;
  if (metric.type === 'Object' && values.length !== 1) {
    return errorSample('invalid', `${values.length} series, an object metric needs exactly one`);
  }
  return null;
}

function faultOfNumbers(values: readonly number[]): ErrorSample | null {
  if (values.length > 0 && values.every(Number.isNaN)) return errorSample('nan', 'every value is NaN');
  const wrong = values.find((value) => !(value >= 0 && value < Infinity));
  if (wrong === undefined) return null;
  return errorSample('invalid', `a value is ${wrong}, must be finite and not negative`);
}

/**
 * The sample as JSON can hold it: one with NaN or Inf, which JSON would turn to null, as the error that it is. The
 * decision on it is the same.
 */
export function writableSample(sample: Sample): Sample {
  if (sample.form === 'error') return sample;
  const values = numbersOf(sample);
  return values.every(Number.isFinite) ? sample : (faultOfNumbers(values) ?? sample);
}

function numbersOf(sample: ValueSample): readonly number[] {
  switch (sample.form) {
    case 'values':
      return sample.values;
    case 'pods':
      return [...sample.pods.values()];
    case 'containers':
      return [...sample.containers.values()].flatMap((containers) => [...containers.values()]);
    default:
      return sample satisfies never;
  }
}

function errorSample(kind: ErrorSample['kind'], error: string): ErrorSample {
  return { form: 'error', kind, error };
}
