import type { MetricSpec, MetricTarget } from '../scaler/spec.js';
import { formatMilli } from '../units/quantity.js';
import type { Decision, LimitStep, MetricResult, PodGroups } from './decision.js';
import { describeFallback } from './proposals/fallback.js';
import type { LimitContext } from './limits/limit.js';
import type { JudgedMetric } from './proposals/propose.js';

/** The one sentence of a decision on metrics: what was measured, what it asks for, and which limits stood in the way. */
export function explainCount(
  { current, recommended }: LimitContext,
  {
    desired,
    steps,
    winner,
    note,
  }: {
    readonly desired: number;
    readonly steps: readonly LimitStep[];
    readonly winner: JudgedMetric | null;
    /** What activation made of the count. */
    readonly note: string | null;
  },
): string {
  const measured = winner === null ? '' : `${explainMetric(winner.spec, winner.result)}: `;
  const noted = note === null ? '' : `; ${note}`;
  const held = steps.map(({ limit, to, reason }) => `${to} by ${limit} (${reason})`).join(', ');
  const wanted = `${recommended} wanted`;
  const outcome = desired === current ? `stays at ${current}` : `${current} -> ${desired}`;
  return `${measured}${outcome}${steps.length === 0 && desired === recommended ? '' : `, ${wanted}`}${held === '' ? '' : `, ${held}`}${noted}`;
}

/** A metric's value beside its target: `cpu is at 83 % of the requests, target 60 %, 2 pods unready`. */
export function explainMetric(spec: MetricSpec, result: MetricResult): string {
  const { current, error, pods, fallback } = result;
  if (fallback !== undefined) return `${spec.identity} has ${describeFallback(fallback)}`;
  if (error !== null) return `${spec.identity} has no value (${error})`;
  const value =
    current.averageUtilization === undefined
      ? `${formatNumber(current.averageValue ?? current.value ?? 0)}${current.averageValue === undefined ? '' : ' per pod'}`
      : `${current.averageUtilization} % of the requests`;
  return `${spec.identity} is at ${value}, target ${explainTarget(spec.target)}${explainPods(pods)}`;
}

/** Pods that are not in the value: without them a count that stays beside a high value looks wrong. */
function explainPods({ unready, missing }: PodGroups): string {
  const groups = Object.entries({ unready, missing }).filter(([, names]) => names.length > 0);
  return groups
    .map(([group, { length }]) => `, ${length} ${length === 1 ? 'pod' : 'pods'} ${group}`)
    .join('');
}

function explainTarget(target: MetricTarget): string {
  switch (target.type) {
    case 'Utilization':
      return `${target.percent} %`;
    case 'AverageValue':
    case 'Value':
      return formatMilli(target.milli);
    default:
      return target satisfies never;
  }
}

function formatNumber(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}

/** The reason of the Event that tells of a change, in the HPA's words: `cpu resource utilization ... above target`. */
export function rescaleReason(metrics: readonly MetricSpec[], decision: Decision): string {
  if (decision.recommendedReplicas === null) {
    return decision.desiredReplicas > decision.currentReplicas
      ? 'Current number of replicas below Spec.MinReplicas'
      : 'Current number of replicas above Spec.MaxReplicas';
  }
  if (decision.desiredReplicas < decision.currentReplicas) return 'All metrics below target';
  const index = decision.metrics.findIndex(({ proposal }) => proposal === decision.recommendedReplicas);
  const spec = metrics[index];
  return spec === undefined ? 'metrics above target' : `${metricInEvent(spec)} above target`;
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
