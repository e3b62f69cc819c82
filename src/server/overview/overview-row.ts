import { boundsOf, desiredReplicasOf } from '../../telemetry/cycle-record.js';
import type { RecentRange } from '../../telemetry/chart-points.js';
import type { ScalerStatus } from '../../telemetry/ledger.js';
import { currentValue, targetValue } from '../../telemetry/scaler-series.js';
import { formatInstant } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import { type Rejection, timedState } from '../../telemetry/timed-state.js';
import { metricUnit, viewState } from '../pages/views.js';
import type { OverviewRow } from '../../api/answers.js';

const STEP_SECONDS = 300;
/** Number of steps in two hours. */
const STEPS = 24;

/** Returns the time range of the replicas in a row: the two hours before its cycle. */
export function rowRange(until: Instant): RecentRange {
  return { until, stepSeconds: STEP_SECONDS, steps: STEPS };
}

/** Returns the number of the step in which the row of a cycle ends. */
export function rowStep(at: Instant): number {
  return Math.floor(at / (1000 * STEP_SECONDS));
}

export function viewRow(
  status: ScalerStatus,
  rejection: Rejection | null,
  replicas: readonly (number | null)[],
): OverviewRow {
  const { scaler, record, lastRescale } = status;
  const { decision } = record;
  const bounds = boundsOf(record);
  const { kind, name } = scaler.spec.scaleTargetRef;
  const { up, down } = lastRescale;
  const changedAt = up === null || (down !== null && down > up) ? down : up;
  return {
    namespace: scaler.namespace,
    name: scaler.name,
    kind,
    target: name,
    current: decision?.currentReplicas ?? null,
    desired: desiredReplicasOf(record),
    min: bounds.minReplicas,
    max: bounds.maxReplicas,
    state: viewState(timedState(status, rejection)),
    metric: viewLeadingMetric(status),
    metrics: scaler.spec.metrics.length,
    changedAt: changedAt === null ? null : formatInstant(changedAt),
    replicas,
  };
}

/** Returns the metric that determines the recommendation: the first one with the largest proposal. */
function viewLeadingMetric({ scaler, record }: ScalerStatus): OverviewRow['metric'] {
  const results = record.decision?.metrics ?? [];
  let leading = -1;
  let largest = -1;
  results.forEach(({ proposal }, index) => {
    if (proposal === null || proposal <= largest) return;
    largest = proposal;
    leading = index;
  });
  const spec = scaler.spec.metrics[leading];
  if (spec === undefined) return null;
  return {
    name: spec.identity,
    unit: metricUnit(spec),
    value: currentValue(spec, results[leading]),
    target: targetValue(spec, results[leading]),
  };
}
