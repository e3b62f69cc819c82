/** The type of a value. `range` is a range vector such as `x[5m]`. */
export type ValueType = 'scalar' | 'vector' | 'range' | 'string';

export interface Signature {
  readonly parameters: readonly ValueType[];
  readonly required: number;
  readonly isVariadic: boolean;
  readonly returns: ValueType;
}

const LETTERS: Readonly<Record<string, ValueType>> = { s: 'scalar', v: 'vector', r: 'range', t: 'string' };

/**
 * The parameters of each function: `s` scalar, `v` vector, `r` range, `t` string. Parameters after `?` are optional,
 * and `*` repeats the last one.
 */
const PARAMETERS: Readonly<Record<string, string>> = {
  ...sharing('v', [
    'abs absent acos acosh asin asinh atan atanh ceil cos cosh deg exp floor histogram_avg histogram_count',
    'histogram_stddev histogram_stdvar histogram_sum ln log10 log2 rad scalar sgn sin sinh sort sort_desc sqrt tan tanh',
    'timestamp',
  ]),
  ...sharing('r', [
    'absent_over_time avg_over_time changes count_over_time delta deriv first_over_time idelta increase irate',
    'last_over_time mad_over_time max_over_time min_over_time present_over_time rate resets stddev_over_time',
    'stdvar_over_time sum_over_time ts_of_first_over_time ts_of_last_over_time ts_of_max_over_time ts_of_min_over_time',
  ]),
  ...sharing('?v', ['day_of_month day_of_week day_of_year days_in_month hour minute month year']),
  clamp: 'vss',
  clamp_max: 'vs',
  clamp_min: 'vs',
  double_exponential_smoothing: 'rss',
  histogram_fraction: 'ssv',
  histogram_quantile: 'sv',
  holt_winters: 'rss',
  label_join: 'vtt?t*',
  label_replace: 'vtttt',
  pi: '',
  predict_linear: 'rs',
  quantile_over_time: 'sr',
  round: 'v?s',
  sort_by_label: 'v?t*',
  sort_by_label_desc: 'v?t*',
  time: '',
  vector: 's',
};

const SCALARS: ReadonlySet<string> = new Set(['pi', 'scalar', 'time']);

const SIGNATURES: ReadonlyMap<string, Signature> = new Map(
  Object.entries(PARAMETERS).map(([name, letters]) => [name, readSignature(name, letters)] as const),
);

/**
 * Returns the signature of a function. Null: PromQL does not have the function, or only recent versions have it.
 * Source: Prometheus, promql/parser/functions.go.
 */
export function signatureOf(name: string): Signature | null {
  return SIGNATURES.get(name) ?? null;
}

/** The type of the parameter before the operand of each aggregation; null: the aggregation has no parameter. */
const AGGREGATIONS: ReadonlyMap<string, ValueType | null> = new Map<string, ValueType | null>([
  ...['avg', 'count', 'group', 'max', 'min', 'stddev', 'stdvar', 'sum'].map((name) => [name, null] as const),
  ...['bottomk', 'limit_ratio', 'limitk', 'quantile', 'topk'].map((name) => [name, 'scalar'] as const),
  ['count_values', 'string'],
]);

export const FUNCTION_NAMES: readonly string[] = [...SIGNATURES.keys(), ...AGGREGATIONS.keys()];

export function isAggregation(name: string): boolean {
  return AGGREGATIONS.has(name);
}

export function aggregationParameter(name: string): ValueType | null {
  return AGGREGATIONS.get(name) ?? null;
}

function sharing(letters: string, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.flatMap((line) => line.split(' ')).map((name) => [name, letters]));
}

function readSignature(name: string, letters: string): Signature {
  const parameters = Array.from(letters).flatMap((letter) => LETTERS[letter] ?? []);
  const optional = letters.indexOf('?');
  return {
    parameters,
    required: optional < 0 ? parameters.length : optional,
    isVariadic: letters.endsWith('*'),
    returns: SCALARS.has(name) ? 'scalar' : 'vector',
  };
}
