import type { MetricResult } from '../../decision/result/decision.js';
import type { MetricSpec } from '../../scaler/spec.js';
import type { ScalerStatus } from '../../telemetry/ledger.js';
import { currentValue, targetValue } from '../../telemetry/scaler-series.js';
import { formatAmount } from '../../units/format-amount.js';

/** As `kubectl get hpa`. */
const SHOWN_METRICS = 2;

/**
 * Returns the metrics with their current values and targets as `kubectl get hpa` prints them: `cpu: 45%/60%`,
 * `requests-per-second: 18/20 (avg)`. A metric without a value is `<unknown>`, never 0.
 */
export function metricTargets({ record }: Pick<ScalerStatus, 'record'>): string {
  const { metrics } = record.scaler.spec;
  const results = record.decision?.metrics ?? [];
  const shown = metrics.slice(0, SHOWN_METRICS).map((spec, index) => metricTarget(spec, results[index]));
  const others = metrics.length - shown.length;
  return `${shown.join(', ')}${others > 0 ? ` + ${others} more...` : ''}`;
}

function metricTarget(spec: MetricSpec, result: MetricResult | undefined): string {
  const isPercent = spec.target.type === 'Utilization';
  const write = (value: number): string =>
    isPercent ? `${Math.round(value)}%` : formatAmount(value, spec.name);
  const value = currentValue(spec, result);
  const average = spec.target.type === 'AverageValue' ? ' (avg)' : '';
  return `${spec.identity}: ${value === null ? '<unknown>' : write(value)}/${write(targetValue(spec))}${average}`;
}
