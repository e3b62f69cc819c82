import type { LimitName } from '../decision/decision.js';
import type { MetricType, TargetRef } from '../scaler/spec.js';
import type { HistoryEntry, ScalerStatus } from '../telemetry/ledger.js';
import type { OutcomeKind, PhaseSeconds } from '../telemetry/cycle-record.js';
import { presentValue, targetValue } from '../telemetry/scaler-series.js';
import { formatInstant } from '../units/time.js';
import type { Instant } from '../units/time.js';

/** A row of `GET /api/v1/scalers`. Times are RFC 3339; null: not known now. */
export interface ScalerView {
  readonly namespace: string;
  readonly name: string;
  readonly target: TargetRef;
  /** The instant of the last cycle, which all the numbers are of. */
  readonly at: string;
  readonly currentReplicas: number | null;
  readonly desiredReplicas: number | null;
  readonly minReplicas: number | null;
  readonly maxReplicas: number | null;
  readonly reason: string | null;
  readonly metrics: readonly MetricView[];
  /** What holds the result, in the order applied. */
  readonly limits: readonly LimitView[];
  readonly conditions: readonly ConditionView[];
  readonly outcome: OutcomeView;
  readonly lastScaleUp: string | null;
  readonly lastScaleDown: string | null;
  readonly paused: boolean;
  readonly dryRun: boolean;
}

export interface MetricView {
  readonly type: MetricType;
  /** The name, for ContainerResource `CONTAINER/name`. */
  readonly metric: string;
  /** percent: of the requests. Else base units, for each pod or in all. */
  readonly unit: 'percent' | 'average' | 'total';
  readonly value: number | null;
  readonly target: number;
  readonly proposal: number | null;
  readonly error: string | null;
}

export interface LimitView {
  readonly limit: LimitName;
  readonly reason: string;
  readonly until: string | null;
}

export interface ConditionView {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

export interface OutcomeView {
  readonly kind: OutcomeKind;
  readonly from: number | null;
  readonly to: number | null;
  readonly message: string;
}

/** `GET /api/v1/scalers/NAMESPACE/NAME`. */
export interface ScalerDetailView extends ScalerView {
  readonly document: unknown;
  /** The JSON form of the decision (snapshot.md); null where the target could not be read. */
  readonly decision: unknown;
  readonly seconds: PhaseSeconds;
}

/** A row of `GET .../decisions`: cycles in a row that came to the same; the decision is the last one's, without state. */
export interface DecisionView {
  readonly firstAt: string;
  readonly lastAt: string;
  readonly count: number;
  readonly outcome: OutcomeView;
  readonly decision: HistoryEntry['decision'];
}

const UNITS = { Utilization: 'percent', AverageValue: 'average', Value: 'total' } as const;

/** One row of the list. */
export function viewScaler(status: ScalerStatus): ScalerView {
  const { scaler, record, lastRescale } = status;
  const { decision } = record;
  return {
    namespace: scaler.namespace,
    name: scaler.name,
    target: scaler.spec.scaleTargetRef,
    at: formatInstant(record.at),
    currentReplicas: decision?.currentReplicas ?? null,
    desiredReplicas: decision?.desiredReplicas ?? null,
    minReplicas: decision?.minReplicas ?? null,
    maxReplicas: decision?.maxReplicas ?? null,
    reason: decision?.reason ?? null,
    metrics: viewMetrics(status),
    limits: (decision?.limits ?? []).map(({ limit, reason, until }) => ({ limit, reason, until })),
    conditions: status.conditions.map(({ lastTransition, ...condition }) => ({
      ...condition,
      lastTransitionTime: formatInstant(lastTransition),
    })),
    outcome: record.outcome,
    lastScaleUp: instantOrNull(lastRescale.up),
    lastScaleDown: instantOrNull(lastRescale.down),
    paused: record.paused,
    dryRun: record.dryRun,
  };
}

/** The row and what stands behind it; `decision` is the decision's JSON form. */
export function viewScalerDetail(status: ScalerStatus, decision: unknown): ScalerDetailView {
  return {
    ...viewScaler(status),
    document: status.scaler.document,
    decision,
    seconds: status.record.seconds,
  };
}

/** One row of the history. */
export function viewDecision(entry: HistoryEntry): DecisionView {
  const { firstAt, lastAt, count, outcome, decision } = entry;
  return { firstAt: formatInstant(firstAt), lastAt: formatInstant(lastAt), count, outcome, decision };
}

function viewMetrics({ scaler, record }: ScalerStatus): readonly MetricView[] {
  return scaler.spec.metrics.map((spec, index) => {
    const result = record.decision?.metrics[index];
    return {
      type: spec.type,
      metric: spec.identity,
      unit: UNITS[spec.target.type],
      value: presentValue(spec, result),
      target: targetValue(spec),
      proposal: result?.proposal ?? null,
      error: result?.error ?? null,
    };
  });
}

function instantOrNull(instant: Instant | null): string | null {
  return instant === null ? null : formatInstant(instant);
}
