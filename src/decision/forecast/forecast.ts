import type { LimitContext } from '../limits/limit.js';
import { ceilCount } from '../proposals/arithmetic.js';
import type { JudgedMetric } from '../proposals/propose.js';
import type { ForecastResult } from '../result/decision.js';
import type { ForecastState, Snapshot } from '../snapshot/snapshot.js';
import { addMinute, addProposal, addSpent, foreseenAt, spentPercent, stepOf } from './budget.js';
import { loadOf } from './load.js';
import { type Proposed, proposeForecast } from './propose-forecast.js';
import { addToRaises, whyNotWorth } from './raises.js';
import { advanceReactive, carryingPods, reactiveOf } from './reactive.js';

export interface Forecasted {
  readonly result: ForecastResult;
  /** The recommendation of the metrics, or of the forecast if that is higher and used. */
  readonly recommended: number;
  readonly state: ForecastState;
}

/**
 * Compares the forecast with the recommendation of the metrics. The forecast can raise that recommendation only with
 * `mode: Raise`, with full values of all metrics, and within its budget. Null: the document has no forecast. Source:
 * algorithm.md, section 3, Forecast.
 */
export function forecastFor(
  snapshot: Snapshot,
  metrics: readonly JudgedMetric[],
  {
    context,
    isComplete,
    isAsleep,
  }: { readonly context: LimitContext; readonly isComplete: boolean; readonly isAsleep: boolean },
): Forecasted | null {
  const { forecast } = snapshot.scaler.spec;
  if (forecast === null) return null;
  const { recommended } = context;
  const { now, pods, target, loadHistory } = snapshot;
  const before = stateOf(snapshot);
  const metric = metrics[forecast.metric];
  const load =
    metric === undefined
      ? { unknown: 'no metric measures the total load of the workload' }
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
    ? 'the target has 0 replicas'
    : !isComplete
      ? 'not every metric has a complete value'
      : spent >= forecast.budgetPercent
        ? `the forecast budget of ${forecast.budgetPercent} % is spent`
        : isRaising && (proposed.replicas ?? 0) > recommended
          ? whyNotWorth(before.raises, now, forecast)
          : null;
  const isUsed = isRaising && whyNot === null && proposed.replicas !== null;
  const lead = loadHistory?.leadSeconds ?? 0;
  const carrying = carryingPods(before.reactive, now, lead);
  const reactive = isRaising
    ? advanceReactive(before.reactive, metrics, { context, snapshot, carrying, leadSeconds: lead })
    : reactiveOf(snapshot);
  const replicas = whyNot === null ? proposed.replicas : null;
  const raised = isUsed ? Math.max(recommended, proposed.replicas) : recommended;
  const why = whyNot === null || proposed.replicas === null ? proposed.why : `${whyNot}; ${proposed.why}`;
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
    carrying,
    foreseen: foreseenAt(next, now, lead),
  };
  const step = stepOf({ before: before.at, now }, counts);
  return {
    result: {
      replicas,
      why,
      isUsed,
      reactive: reactive.replicas,
      spentPercent: Math.round(spent * 100) / 100,
    },
    recommended: raised,
    state: {
      ...next,
      spent: addSpent(before.spent, now, step),
      raises: isRaising
        ? addToRaises(before.raises, { ...forecast, now, isRaised: raised > recommended }, step)
        : before.raises,
    },
  };
}

function stateOf(snapshot: Snapshot): ForecastState {
  const { state, now } = snapshot;
  return (
    state.forecast ?? {
      at: now,
      minutes: [],
      reactive: reactiveOf(snapshot),
      proposals: [],
      spent: [],
      raises: [],
    }
  );
}
