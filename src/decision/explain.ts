import { describeZero } from './failing.js';
import { describeFallback, type JudgedMetric } from './proposals/propose.js';
import type { MetricSpec } from '../scaler/spec.js';
import type { Decision, ForecastResult, LimitStep } from './result/decision.js';
import { explainProposal } from './explain-proposal.js';
import { isBoundOverHold, isHold } from './limits/limits.js';
import type { Snapshot } from './snapshot/snapshot.js';

export interface Measured {
  /** The largest proposal after activation, before any limit. */
  readonly recommended: number;
  /** The metric with the largest proposal. Null: no metric has a proposal, and activation determines the count. */
  readonly winner: JudgedMetric | null;
  /** The text about activation; null: the reason does not mention activation. */
  readonly note: string | null;
  readonly snapshot: Snapshot;
  /** Set only if a forecast has raised the recommendation. */
  readonly forecast?: ForecastResult | undefined;
}

/**
 * Returns the reason of a decision that used metrics: value and target of the largest proposal, then the limits that
 * changed the count.
 */
export function explainCount(
  {
    currentReplicas: current,
    desiredReplicas: desired,
    limits,
  }: Pick<Decision, 'currentReplicas' | 'desiredReplicas' | 'limits'>,
  { recommended, winner, note, snapshot, forecast }: Measured,
): string {
  const measured =
    forecast !== undefined
      ? `forecast: ${forecast.why}: `
      : winner === null
        ? ''
        : `${explainProposal(winner, snapshot)}: `;
  const budget = snapshot.scaler.spec.forecast?.budgetPercent ?? 0;
  const cost =
    forecast === undefined
      ? ''
      : `; ${forecast.reactive} without the forecast, which has added ${forecast.spentPercent} % in 3 days (budgetPercent is ${budget})`;
  const noted = note === null ? cost : `${cost}; ${note}`;
  const held = explainSteps(limits);
  const outcome = countChange(current, desired);
  const limited = limits.length === 0 && desired === recommended ? '' : `, ${recommended} recommended`;
  // `join` returns a flat string. A template literal would also keep its parts in memory, for each scaler.
  return [measured, outcome, limited, held === '' ? '' : `, ${held}`, noted].join('');
}

/** Returns `stays at 4`, or `4 -> 6`. */
export function countChange(from: number, to: number): string {
  return from === to ? `stays at ${to}` : `${from} -> ${to}`;
}

/**
 * Returns the limits in order. A hold is omitted if a bound overrides it: the hold continues, but the bound determines
 * the count.
 */
function explainSteps(steps: readonly LimitStep[]): string {
  if (steps.length === 0) return '';
  const isOver = isBoundOverHold(steps);
  return steps
    .filter((step) => !isOver || !isHold(step))
    .map(({ limit, to, reason }) => {
      const more = isOver && limit === 'max_replicas' ? '; the count cannot fall further yet' : '';
      return `${to} by ${limit} (${reason}${more})`;
    })
    .join(', ');
}

/**
 * Returns the message of the Event for a change. It uses the words of the HPA (`cpu resource utilization ... above
 * target`) if they are true. Changes by schedules, fallbacks, activation and earlier recommendations have their own
 * messages.
 */
export function rescaleReason(metrics: readonly MetricSpec[], decision: Decision): string {
  const isUp = decision.desiredReplicas > decision.currentReplicas;
  if (decision.recommendedReplicas === null) return shortCutReason(decision, isUp);
  const ceiling = decision.limits.find(({ limit }) => limit === 'max_replicas');
  if (!isUp && ceiling !== undefined) return ceiling.reason;
  const index = decision.metrics.findIndex(({ proposal }) => proposal === decision.recommendedReplicas);
  const [spec, result] = [metrics[index], decision.metrics[index]];
  if (spec !== undefined && result?.fallback !== undefined)
    return `${metricInEvent(spec)} has had ${describeFallback(result.fallback)}`;
  if (result?.readAsZero !== undefined && spec !== undefined)
    return `${metricInEvent(spec)}: ${describeZero(result.readAsZero)}${keptAbove(decision)}`;
  if (!isUp)
    return `${result === undefined ? 'no metric is above its activation threshold' : 'All metrics below target'}${keptAbove(decision)}`;
  const raised = decision.limits.find(({ limit }) => limit === 'stabilization');
  if (decision.recommendedReplicas <= decision.currentReplicas && raised !== undefined) return raised.reason;
  return spec === undefined
    ? 'a metric is above its activation threshold'
    : `${metricInEvent(spec)} above target`;
}

/**
 * Returns a clause with the limit that keeps a falling count above the recommendation; empty: the new count is the
 * recommendation.
 */
function keptAbove({ recommendedReplicas, desiredReplicas, limits }: Decision): string {
  const last = limits.at(-1);
  if (last === undefined || desiredReplicas === recommendedReplicas) return '';
  return `; ${recommendedReplicas ?? 0} recommended, ${last.to} by ${last.limit}`;
}

function shortCutReason({ limits }: Decision, isUp: boolean): string {
  const [bound] = limits;
  if (bound !== undefined && bound.until !== null) return bound.reason;
  return isUp
    ? 'Current number of replicas below Spec.MinReplicas'
    : 'Current number of replicas above Spec.MaxReplicas';
}

function metricInEvent(spec: MetricSpec): string {
  const how = spec.target.type === 'Utilization' ? 'utilization (percentage of request)' : 'usage';
  switch (spec.type) {
    case 'Resource':
      return spec.target.type === 'Utilization' ? `${spec.name} resource ${how}` : `${spec.name} resource`;
    case 'ContainerResource':
      return `${spec.name} container resource ${how} of ${spec.container}`;
    case 'Pods':
      return `pods metric ${spec.name}`;
    case 'Object':
      return `${spec.describedObject?.kind ?? 'object'} metric ${spec.name}`;
    case 'External':
      return `external metric ${spec.name}`;
    default:
      return spec satisfies never;
  }
}
