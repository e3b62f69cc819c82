import { formatAmount } from '../../units/format.js';

/** The text for an unknown value, which must not be shown as 0. */
export const UNKNOWN = '–';

/** Returns a count with thousands separators, such as `1,200`. */
export function formatCount(count: number | null): string {
  return count === null ? UNKNOWN : COUNT.format(count);
}

const COUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

interface MetricAmount {
  readonly name: string;
  readonly unit: 'percent' | 'average' | 'total';
}

/** Returns a metric value as text: percent of the requests (`72 %`), memory (`900Mi`), or a number in base units. */
export function formatMetric(value: number | null, { name, unit }: MetricAmount): string {
  if (value === null) return UNKNOWN;
  if (unit === 'percent') return `${formatAmount(Math.round(value * 10) / 10, '')} %`;
  return formatAmount(value, name);
}

/** Returns for example `1 scaler` or `2 scalers`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Returns seconds with a suitable unit, such as `12 ms` or `1.4 s`. */
export function formatLatency(seconds: number | null): string {
  if (seconds === null) return UNKNOWN;
  if (seconds < 0.9995) return `${Math.round(seconds * 10_000) / 10} ms`;
  return `${Math.round(seconds * 100) / 100} s`;
}
