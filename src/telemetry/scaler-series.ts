import type { Decision, MetricResult } from '../decision/result/decision.js';
import type { Pause } from './cycle-record.js';
import type { MetricSpec } from '../scaler/spec.js';
import { milliToNumber } from '../units/quantity.js';
import type { ScalerStatus } from './ledger.js';
import type { SCALER_METRICS } from './metric-table.js';

/** `labels`: besides `namespace` and `scaler`. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export type ScalerMetricKey = keyof typeof SCALER_METRICS;

/** Returns the series of a scaler for each metric. A missing value has no series, never 0. */
export const SCALER_SERIES: Readonly<Record<ScalerMetricKey, (status: ScalerStatus) => readonly Series[]>> = {
  currentReplicas: (status) => plain(status.record.decision?.currentReplicas),
  desiredReplicas: (status) => plain(status.record.decision?.desiredReplicas),
  recommendedReplicas: (status) => plain(status.record.decision?.recommendedReplicas),
  minReplicas: (status) => plain(status.record.decision?.minReplicas),
  maxReplicas: (status) => plain(status.record.decision?.maxReplicas),
  metricValue: (status) => eachMetric(status, (spec, result) => currentValue(spec, result)),
  metricTarget: (status) => eachMetric(status, targetValue),
  metricProposal: (status) => eachMetric(status, (_, result) => result?.proposal ?? null),
  pods: (status) => podSeries(status.record.decision),
  limited: (status) => labeled('limit', new Map(steps(status).map((step) => [step.limit, 1]))),
  heldUntil: heldSeries,
  condition: (status) =>
    status.conditions.map((condition) => ({
      labels: { type: condition.type, status: condition.status, reason: condition.reason },
      value: 1,
    })),
  rescales: (status) => labeled('direction', new Map(Object.entries(status.rescales))),
  lastRescale: lastRescaleSeries,
  paused: (status) => plain(Number(status.record.pause !== null)),
  scaleUpPaused: ({ record: { pause } }) => plain(pause !== null && pausesScaleUp(pause) ? 1 : null),
  conflictingWriter: ({ record }) => plain(record.conflictingWriter === undefined ? null : 1),
  dryRun: (status) => plain(Number(status.record.dryRun)),
  shadowDifference: (status) => plain(status.record.shadow?.difference),
};

function plain(value: number | null | undefined): readonly Series[] {
  return value === null || value === undefined ? [] : [{ labels: {}, value }];
}

/** At a fixed count nothing scales, whatever the direction. */
function pausesScaleUp({ direction, replicas }: Pause): boolean {
  return direction !== 'scale-down' || replicas !== null;
}

function labeled(label: string, values: ReadonlyMap<string, number>): readonly Series[] {
  return [...values].map(([name, value]) => ({ labels: { [label]: name }, value }));
}

function steps(status: ScalerStatus): Decision['limits'] {
  return status.record.decision?.limits ?? [];
}

function heldSeries(status: ScalerStatus): readonly Series[] {
  const until = new Map<string, number>();
  for (const step of steps(status)) {
    if (step.until !== null) until.set(step.limit, step.until / 1000);
  }
  return labeled('limit', until);
}

function lastRescaleSeries(status: ScalerStatus): readonly Series[] {
  const known = new Map<string, number>();
  for (const [direction, instant] of Object.entries(status.lastRescale)) {
    if (instant !== null) known.set(direction, instant / 1000);
  }
  return labeled('direction', known);
}

/** Results are in the order of the document. After a short cut there are none, and only targets have a value. */
function eachMetric(
  status: ScalerStatus,
  valueOf: (spec: MetricSpec, result: MetricResult | undefined) => number | null,
): readonly Series[] {
  const results = status.record.decision?.metrics ?? [];
  return status.scaler.spec.metrics.flatMap((spec, index) => {
    const value = valueOf(spec, results[index]);
    return value === null ? [] : [{ labels: { metric: spec.identity, type: spec.type }, value }];
  });
}

/** Returns the current value in the unit of the target; null: no value, or not queried. */
export function currentValue(spec: MetricSpec, result: MetricResult | undefined): number | null {
  if (result === undefined || result.error !== null) return null;
  switch (spec.target.type) {
    case 'Utilization':
      return result.current.averageUtilization ?? null;
    case 'AverageValue':
      return result.current.averageValue ?? null;
    case 'Value':
      return result.current.value ?? null;
    default:
      return spec.target satisfies never;
  }
}

/** Returns a utilization in percent of the requests, other targets in base units. */
export function targetValue(spec: MetricSpec): number {
  return spec.target.type === 'Utilization' ? spec.target.percent : milliToNumber(spec.target.milli);
}

function podSeries(decision: Decision | null): readonly Series[] {
  for (const { pods } of decision?.metrics ?? []) {
    const groups = new Map<string, number>([
      ['ready', pods.ready.length],
      ['unready', pods.unready.length],
      ['missing', pods.missing.length],
      ['ignored', pods.ignored.length],
    ]);
    if ([...groups.values()].some((count) => count > 0)) return labeled('group', groups);
  }
  return [];
}
