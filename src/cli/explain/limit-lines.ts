import type { Decision } from '../../decision/decision.js';
import { downscaleForbiddenUntil, upscaleForbiddenUntil } from '../../decision/limits/forbidden-window.js';
import { formatInstant, secondsBetween } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { Explained } from './explained.js';
import { alignColumns, formatSeconds } from './words.js';

/** Every limit that changed the count, in the order applied. */
export function limitLines({ limits, recommendedReplicas, desiredReplicas }: Decision): readonly string[] {
  if (limits.length === 0)
    return [
      recommendedReplicas === null
        ? 'Limits: none applied'
        : `Limits: none changed the ${recommendedReplicas} that the metrics ask for`,
    ];
  const rows = limits.map(({ limit, from, to, reason }, index) => [
    `  ${index + 1}. ${limit}`,
    `${from} -> ${to}`,
    reason,
  ]);
  const head =
    recommendedReplicas === null
      ? 'Limits'
      : `Limits, in order: ${recommendedReplicas} asked for, ${desiredReplicas} left`;
  return [head, ...alignColumns(rows)];
}

/** What holds the count or keeps the decision from being carried out, and until when. */
export function holdLines(explained: Explained): readonly string[] {
  const holds = [
    ...actionHolds(explained),
    ...limitHolds(explained),
    ...recoveryHold(explained),
    ...windowHolds(explained),
  ];
  if (holds.length === 0) return ['Holds: nothing holds it now'];
  return ['Holds', ...alignColumns(holds.map(([what, until]) => [`  ${what}`, until]))];
}

type Hold = readonly [what: string, until: string];

/** From the service where there is one, else from the document. */
function actionHolds({ snapshot, status }: Explained): readonly Hold[] {
  const held = status?.conditions.find(({ type, status: is }) => type === 'Held' && is === 'True');
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

function limitHolds({ decision, now }: Explained): readonly Hold[] {
  const holds = decision.limits.map(({ limit, until }): Hold => {
    if (until !== null) return [limit, untilText(until, now)];
    return [limit, OPEN_END.get(limit) ?? 'until it lets go'];
  });
  const isWithoutProposal = decision.metrics.length > 0 && decision.recommendedReplicas === null;
  return isWithoutProposal ? [...holds, ['no value', 'until a metric has one']] : holds;
}

/** What ends a limit that no clock ends. */
const OPEN_END: ReadonlyMap<string, string> = new Map(
  Object.entries({
    untrusted_metric: 'until every metric has a whole value',
    min_replicas: 'a bound of the document',
    max_replicas: 'a bound of the document',
    downscale_confirmation: 'while these decisions count',
    step_limit: 'for this step: the next one starts from the new count',
    policy: 'until its period allows more',
    scale_up_limit: 'for this step: the next one starts from the new count',
    recovery_hold: 'until the metrics have given values for long enough',
  }),
);

/** Also where this decision did not ask for less: the next one may. */
function recoveryHold({ snapshot, decision, now }: Explained): readonly Hold[] {
  const { holdScaleDownUntil, holdReason } = snapshot.state;
  const isTold = decision.limits.some(({ limit }) => limit === 'recovery_hold');
  if (isTold || holdScaleDownUntil === null || holdScaleDownUntil <= now) return [];
  const why = holdReason === null ? '' : `: ${holdReason}`;
  return [['no scale-down', `${untilText(holdScaleDownUntil, now)}${why}`]];
}

/** Forbidden windows that are not in the way of this decision, but would be of another. */
function windowHolds({ snapshot, decision, now }: Explained): readonly Hold[] {
  if (decision.limits.some(({ limit }) => limit === 'forbidden_window')) return [];
  const context = { now, spec: snapshot.scaler.spec, state: snapshot.state };
  const up = upscaleForbiddenUntil(context);
  const down = downscaleForbiddenUntil(context);
  return [
    ...(up === null ? [] : [['no scale-up', `${untilText(up, now)}: the upscale window`] as const]),
    ...(down === null ? [] : [['no scale-down', `${untilText(down, now)}: the downscale window`] as const]),
  ];
}

function untilText(until: Instant, now: Instant): string {
  const seconds = secondsBetween(now, until);
  return `until ${formatInstant(until)}${seconds > 0 ? `, in ${formatSeconds(seconds)}` : ''}`;
}
