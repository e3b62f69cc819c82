import { addSeconds } from '../../units/time.js';
import { isWithinTolerance, ceilCount, tolerancesOf } from '../proposals/arithmetic.js';
import type { JudgedMetric } from '../proposals/propose.js';
import type { LimitContext } from '../limits/limit.js';
import { applyLimits } from '../limits/limits.js';
import { longestPeriodSeconds } from '../limits/policy.js';
import type { ForecastResult } from '../result/decision.js';
import type { ForecastState, ReactiveCount, Snapshot } from '../snapshot/snapshot.js';
import { addMinute, addProposal, addSpent, foreseenAt, spentPercent } from './budget.js';
import { loadOf } from './load.js';
import { type Proposed, proposeForecast } from './propose-forecast.js';

export interface Forecasted {
  readonly result: ForecastResult;
  /** The recommendation, raised by the forecast where it is used. */
  readonly recommended: number;
  readonly state: ForecastState;
}

/**
 * Compares the forecast with the recommendation of the metrics. Only raises it, only with `mode: Raise` and full values
 * of all metrics, and only within its budget. Null: the document has no forecast. Source: algorithm.md, section 3,
 * Forecast.
 */
export function forecastFor(
  snapshot: Snapshot,
  metrics: readonly JudgedMetric[],
  {
    context,
    isTrusted,
    isAsleep,
  }: { readonly context: LimitContext; readonly isTrusted: boolean; readonly isAsleep: boolean },
): Forecasted | null {
  const { forecast } = snapshot.scaler.spec;
  if (forecast === null) return null;
  const { recommended } = context;
  const { now, pods, target, loadHistory } = snapshot;
  const before = stateOf(snapshot);
  const metric = metrics[forecast.metric];
  const load =
    metric === undefined
      ? { unknown: 'there is no metric with a total load' }
      : loadOf(metric.spec, metric.sample, { pods, fillPercent: forecast.fillPercent });
  const minutes = 'unknown' in load ? before.minutes : addMinute(before.minutes, now, load.total);
  const spent = spentPercent(before.spent, before.reactive.replicas);
  const { maxReplicas } = context.spec;
  const proposed: Proposed =
    'unknown' in load
      ? { replicas: null, why: load.unknown }
      : proposeForecast({ now, forecast, history: loadHistory, load, minutes, maxReplicas });
  const isRaising = forecast.mode === 'Raise';
  const whyNot = isAsleep
    ? 'the target is asleep'
    : !isTrusted
      ? 'not every metric has a full value'
      : spent >= forecast.budgetPercent
        ? `the budget of ${forecast.budgetPercent} % is spent`
        : null;
  const isUsed = isRaising && whyNot === null && proposed.replicas !== null;
  const reactive = isRaising
    ? advanceReactive(before.reactive, metrics, { context, snapshot })
    : reactiveOf(snapshot);
  const replicas = whyNot === null ? proposed.replicas : null;
  const raised = isUsed ? Math.max(recommended, proposed.replicas) : recommended;
  const why = whyNot === null || proposed.replicas === null ? proposed.why : `${whyNot}; ${proposed.why}`;
  const lead = loadHistory?.leadSeconds ?? 0;
  const next = {
    at: now,
    minutes,
    reactive,
    proposals: addProposal(before.proposals, { at: now, replicas: replicas ?? 0 }, lead),
  };
  const counts = {
    current: target.specReplicas,
    reactive: before.reactive.replicas,
    observed: isRaising ? null : (replicas ?? 0),
    needed: 'unknown' in load ? 0 : ceilCount(load.total / load.ofPod),
    ready: pods.filter(({ phase, deleting, ready }) => phase === 'Running' && !deleting && ready === true)
      .length,
    foreseen: foreseenAt(next, now, lead),
  };
  return {
    result: {
      replicas,
      why,
      isUsed,
      reactive: reactive.replicas,
      spentPercent: Math.round(spent * 100) / 100,
    },
    recommended: raised,
    state: { ...next, spent: addSpent(before.spent, { before: before.at, now }, counts) },
  };
}

function stateOf(snapshot: Snapshot): ForecastState {
  const { state, now } = snapshot;
  return state.forecast ?? { at: now, minutes: [], reactive: reactiveOf(snapshot), proposals: [], spent: [] };
}

/** Without a raise, the count of the scaler is that without a forecast. */
function reactiveOf({ target, state }: Snapshot): ReactiveCount {
  const { lastScaleUp, lastScaleDown, scaleEvents } = state;
  return { replicas: target.specReplicas, lastScaleUp, lastScaleDown, scaleEvents };
}

/** Returns the count that the scaler without a forecast would set now, from the one that it would have now. */
function advanceReactive(
  before: ReactiveCount,
  metrics: readonly JudgedMetric[],
  { context, snapshot }: { readonly context: LimitContext; readonly snapshot: Snapshot },
): ReactiveCount {
  const { spec, now, state } = context;
  const current = Math.min(spec.maxReplicas, Math.max(spec.minReplicas, before.replicas));
  const { replicas } = applyLimits({
    ...context,
    current,
    recommended: recommendedAt(current, metrics, snapshot),
    state: { ...state, ...before },
  });
  const start = addSeconds(now, -longestPeriodSeconds(spec));
  const events = before.scaleEvents.filter(({ at }) => at >= start);
  return {
    replicas,
    lastScaleUp: replicas > current ? now : before.lastScaleUp,
    lastScaleDown: replicas < current ? now : before.lastScaleDown,
    scaleEvents: replicas === current ? events : [...events, { at: now, change: replicas - current }],
  };
}

/** Returns the largest proposal if the target had another count and the same load. */
function recommendedAt(
  current: number,
  metrics: readonly JudgedMetric[],
  { scaler, target }: Snapshot,
): number {
  const tolerances = tolerancesOf(scaler.spec);
  return metrics.reduce((largest, { arithmetic, result }) => {
    const { proposal } = result;
    if (arithmetic === null || proposal === null || result.saturation?.replicas !== undefined)
      return Math.max(largest, proposal ?? 0);
    const { usage, filledUsage, target: wanted, pods } = arithmetic;
    const pull = ((filledUsage ?? usage) / wanted) * pods;
    if (isWithinTolerance(pull / current, tolerances)) return Math.max(largest, current);
    const isKept = proposal === target.specReplicas && arithmetic.keptBy !== null;
    return Math.max(largest, isKept ? ceilCount(pull) : proposal);
  }, 0);
}
