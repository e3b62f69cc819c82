import { hasNoSeries } from '../../decision/failing.js';
import { activeHold } from '../../decision/result/condition.js';
import { fallbackStart, type JudgedMetric, pickProposal } from '../../decision/proposals/propose.js';
import { activate, cooldownUntil, readActivation, withoutPodMetrics } from '../../decision/activation.js';
import type { Decision } from '../../decision/result/decision.js';
import { limitEnd } from '../../decision/result/limit-names.js';
import { downscaleForbiddenUntil, upscaleForbiddenUntil } from '../../decision/limits/forbidden-window.js';
import { formatInstant, type Instant, secondsBetween } from '../../units/time.js';
import { type Explanation, pausedChange } from './explanation.js';
import { alignColumns } from '../output/lines.js';
import { formatSeconds, listSome } from '../../units/format.js';

/** Returns the limits of the decision, which does not consider a pause that sets another count. */
export function limitLines({
  decision,
  status,
}: Pick<Explanation, 'decision' | 'status'>): readonly string[] {
  const title = pausedChange(status) === null ? 'Limits' : 'Limits without the pause';
  const { limits, recommendedReplicas, desiredReplicas } = decision;
  if (limits.length === 0)
    return [
      recommendedReplicas === null
        ? `${title}: none applied`
        : `${title}: none changed the recommendation of ${recommendedReplicas}${boundText(decision)}`,
    ];
  const rows = limits.map(({ limit, from, to, reason }, index) => [
    `  ${index + 1}. ${limit}`,
    `${from} -> ${to}`,
    reason,
  ]);
  const head =
    recommendedReplicas === null
      ? title
      : `${title}, in order: ${recommendedReplicas} recommended, ${desiredReplicas} desired`;
  return [head, ...alignColumns(rows)];
}

/** Returns the bound that the recommendation equals, because no limit names it; empty: it equals neither bound. */
function boundText({ recommendedReplicas, minReplicas, maxReplicas }: Decision): string {
  if (recommendedReplicas === minReplicas) return ', the minimum in effect';
  return recommendedReplicas === maxReplicas ? ', the maximum in effect' : '';
}

/** Returns how activation changed the largest proposal, and why; empty: the document has no activation. */
export function activationLines(
  { snapshot, decision }: Explanation,
  metrics: readonly JudgedMetric[],
): readonly string[] {
  const activation = decision.metrics.length === 0 ? null : readActivation(snapshot);
  if (activation === null) return [];
  const { isActive, inactiveSince, why } = activation;
  const pick = pickProposal(snapshot.target.specReplicas === 0 ? withoutPodMetrics(metrics) : metrics);
  const isApplied = decision.limits.every(({ limit }) => limit !== 'untrusted_metric');
  if (pick.replicas === null || !isApplied)
    return [`Activation: ${isActive ? 'active' : 'not active'}: ${why}`, ''];
  const isComplete = pick.isTrusted && pick.firstReplaced === null;
  const { replicas, note } = activate(pick.replicas, activation, { isComplete, snapshot });
  const change = replicas === pick.replicas ? '' : `${pick.replicas} -> ${replicas}, `;
  const state = isActive || inactiveSince !== null ? 'active' : 'at least 1 replica';
  return [`Activation: ${change}${note ?? `${state}: ${why}`}`, ''];
}

/** Returns what keeps the replica count or prevents a patch, and for how long. */
export function restrictionLines(explanation: Explanation): readonly string[] {
  const restrictions = [
    ...holds(explanation),
    ...cooldown(explanation),
    ...limitEnds(explanation),
    ...zeros(explanation),
    ...recoveryHold(explanation),
    ...windows(explanation),
  ];
  if (restrictions.length === 0) return ['Restrictions: none'];
  return ['Restrictions', ...alignColumns(restrictions.map(([what, until]) => [`  ${what}`, until]))];
}

type Restriction = readonly [what: string, until: string];

/**
 * Returns the end of the cooldown, until which the last replica stays although no metric is above its activation value.
 */
function cooldown({ snapshot, decision, now }: Explanation): readonly Restriction[] {
  if (snapshot.target.specReplicas === 0 || decision.metrics.length === 0) return [];
  const inactiveSince = readActivation(snapshot)?.inactiveSince ?? null;
  if (inactiveSince === null) return [];
  const until = cooldownUntil(inactiveSince, snapshot);
  return until > snapshot.now ? [['cooldownSeconds', `${untilText(until, now)}: at least 1 replica`]] : [];
}

/** Returns what prevents a patch, according to the status or, if there is no status, according to the document. */
function holds({ snapshot, status }: Explanation): readonly Restriction[] {
  const held = activeHold(status?.conditions ?? []);
  if (held !== undefined) return [[held.reason, held.message]];
  if (status !== null) return [];
  const { paused, dryRun } = snapshot.scaler.spec;
  return [
    ...(paused === false ? [] : [['Paused', pauseText(paused)] as const]),
    ...(dryRun ? ([['DryRun', 'spec.dryRun is true: nothing is patched']] as const) : []),
  ];
}

function pauseText(paused: true | 'scale-up' | 'scale-down'): string {
  const held = { 'scale-up': 'scaled up', 'scale-down': 'scaled down' } as const;
  return `spec.paused is ${String(paused)}: nothing is ${paused === true ? 'patched' : held[paused]}`;
}

function limitEnds({ snapshot, decision, now }: Explanation): readonly Restriction[] {
  const ends = decision.limits.map((step): Restriction => [
    step.limit,
    step.until === null ? limitEnd(step) : untilText(step.until, now),
  ]);
  const isWithoutProposal = decision.metrics.length > 0 && decision.recommendedReplicas === null;
  if (!isWithoutProposal) return ends;
  const starts = decision.metrics.flatMap((result, index) => {
    const spec = snapshot.scaler.spec.metrics[index];
    return spec === undefined ? [] : (fallbackStart(spec, result, snapshot) ?? []);
  });
  const [first] = starts.sort((one, other) => one - other);
  const fallback = first === undefined ? '' : `, or ${untilText(first, now)}: the fallback`;
  return [...ends, ['no value', `until a metric has a value${fallback}`]];
}

/**
 * Returns what keeps the count in the states `NoSeries` and `Fixed` if no limit does: a metric whose missing series the
 * document reads as 0, or a 0 that another client has set.
 */
function zeros({ snapshot, decision }: Explanation): readonly Restriction[] {
  const isDisabled = decision.conditions.some(({ reason }) => reason === 'ScalingDisabled');
  if (isDisabled) return [['ScalingDisabled', 'until another client sets at least 1 replica']];
  if (decision.recommendedReplicas !== 0) return [];
  const metrics = snapshot.scaler.spec.metrics.filter((_spec, index) => {
    const result = decision.metrics[index];
    return result !== undefined && hasNoSeries(result);
  });
  if (metrics.length === 0) return [];
  const names = listSome(metrics.map(({ identity }) => identity));
  const verb = metrics.length === 1 ? 'has' : 'have';
  return [['no series', `until ${names} ${verb} series: without series, the value is 0 (onMissing: zero)`]];
}

/**
 * Returns the recovery hold even if this decision is not a scale-down, because the next decision may be a scale-down.
 */
function recoveryHold({ snapshot, decision, now }: Explanation): readonly Restriction[] {
  const { holdScaleDownUntil, holdReason } = snapshot.state;
  const isListed = decision.limits.some(({ limit }) => limit === 'recovery_hold');
  if (isListed || holdScaleDownUntil === null || holdScaleDownUntil <= now) return [];
  const why = holdReason === null ? '' : `: ${holdReason}`;
  return [['no scale-down', `${untilText(holdScaleDownUntil, now)}${why}`]];
}

/** Returns the forbidden windows that do not affect this decision but may affect the next decision. */
function windows({ snapshot, decision, now }: Explanation): readonly Restriction[] {
  if (decision.limits.some(({ limit }) => limit === 'forbidden_window')) return [];
  const context = { now, spec: snapshot.scaler.spec, state: snapshot.state };
  const up = upscaleForbiddenUntil(context);
  const down = downscaleForbiddenUntil(context);
  return [
    ...(up === null ? [] : [['no scale-up', `${untilText(up, now)}: the upscale forbidden window`] as const]),
    ...(down === null
      ? []
      : [['no scale-down', `${untilText(down, now)}: the downscale forbidden window`] as const]),
  ];
}

function untilText(until: Instant, now: Instant): string {
  const seconds = secondsBetween(now, until);
  return `until ${formatInstant(until)}${seconds > 0 ? `, in ${formatSeconds(seconds)}` : ''}`;
}
